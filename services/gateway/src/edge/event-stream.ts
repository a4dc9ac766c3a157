import { once } from 'node:events'
import type { Logger } from '@mcp-host/service'
import type { FastifyReply } from 'fastify'
import type { SseFrame } from '../projection/sse.ts'

/** Proxies and browsers give up on a connection from which nothing comes. */
const HEARTBEAT_MS = 15_000

/** The delay before browsers reconnect. */
const RETRY_MS = 500

export interface EventStreamDeps {
  readonly logger: Logger
  /** Ends the stream: its client is to go elsewhere. */
  readonly draining: AbortSignal
}

/** Sends frames; `aside` is for frames outside of the order, of which only the last one counts. */
export type Follow = (
  signal: AbortSignal,
  aside: (frame: SseFrame) => void,
) => AsyncIterable<SseFrame>

/**
 * Answers with Server-Sent Events until there are no more, the client leaves or the gateway drains.
 * Frames are asked for one by one: a client that reads slowly is not buffered for. `place`: where it begins,
 * to which a browser comes back that loses it before the first frame.
 */
export async function sendEvents(
  { logger, draining }: EventStreamDeps,
  reply: FastifyReply,
  follow: Follow,
  place?: string,
): Promise<void> {
  const { raw } = reply
  const left = new AbortController()
  raw.on('close', () => left.abort())
  // A broken connection also closes; there is nothing else to do about it.
  raw.on('error', () => undefined)
  reply.hijack()
  // It left before there was something to send.
  if (raw.destroyed) return
  raw.writeHead(200, {
    // Headers from the hooks, which pages of other origins need.
    ...Object.fromEntries(
      Object.entries(reply.getHeaders()).filter(([, value]) => value !== undefined),
    ),
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  })
  raw.write(`retry: ${RETRY_MS}\n${place === undefined ? '' : `id: ${place}\n`}\n`)
  const heartbeat = setInterval(() => {
    if (!raw.writableNeedDrain) raw.write(': still here\n\n')
  }, HEARTBEAT_MS)
  let waiting: SseFrame | undefined
  const sendAside = (): void => {
    if (waiting === undefined || raw.writableNeedDrain || raw.writableEnded) return
    raw.write(frameText(waiting))
    waiting = undefined
  }
  const aside = (frame: SseFrame): void => {
    waiting = frame
    sendAside()
  }
  raw.on('drain', sendAside)
  try {
    for await (const frame of follow(AbortSignal.any([left.signal, draining]), aside)) {
      // Rejects when the client disconnects.
      if (!raw.write(frameText(frame))) await once(raw, 'drain', { signal: left.signal })
    }
    if (draining.aborted) raw.write(': this gateway is going down; come back with the last id\n\n')
  } catch (err) {
    if (left.signal.aborted) return
    const { url } = reply.request
    logger.error(
      { component: 'http', action: 'stream', path: url.split('?')[0], err },
      'a stream broke off',
    )
    raw.write(': the stream broke off; come back with the last id\n\n')
  } finally {
    clearInterval(heartbeat)
    raw.end()
  }
}

/** JSON has no line breaks, so one line is enough. */
function frameText({ id, data }: SseFrame): string {
  const place = id === undefined ? '' : `id: ${id}\n`
  return `${place}data: ${JSON.stringify(data)}\n\n`
}
