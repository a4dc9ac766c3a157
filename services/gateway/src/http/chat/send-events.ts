import { once } from 'node:events'
import { requestFields } from '@mcp-host/service'
import type { FastifyReply } from 'fastify'
import type { SseFrame } from '../../projection/sse.ts'
import type { ChatDeps } from './chat-deps.ts'

/** The period of heartbeats, since proxies and browsers close silent connections. */
const HEARTBEAT_MS = 15_000

/** The delay before browsers reconnect. */
const RETRY_MS = 500

/** The frames to send. `aside` sends frames outside of the order; a newer one replaces an unsent older one. */
export type Follow = (
  signal: AbortSignal,
  aside: (frame: SseFrame) => void,
) => AsyncIterable<SseFrame>

/**
 * Streams Server-Sent Events until their end, the client leaves or the gateway drains. Frames are pulled only when
 * there is room, so a slow reader needs no buffer. `place`: the id with which a browser comes back when the stream
 * breaks before the first frame.
 */
export async function sendEvents(
  { logger, draining }: Pick<ChatDeps, 'logger' | 'draining'>,
  reply: FastifyReply,
  follow: Follow,
  place?: string,
): Promise<void> {
  const { raw } = reply
  const left = new AbortController()
  raw.on('close', () => left.abort())
  // A broken connection also closes, and needs no further handling.
  raw.on('error', () => undefined)
  reply.hijack()
  // The client left before the first event.
  if (raw.destroyed) return
  raw.writeHead(200, {
    // Hooks have set headers that pages of other origins need.
    ...Object.fromEntries(
      Object.entries(reply.getHeaders()).filter(([, value]) => value !== undefined),
    ),
    'content-type': 'text/event-stream; charset=utf-8',
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
    const { routeOptions, envelope } = reply.request
    const fields = { ...requestFields(envelope), component: 'http', action: 'stream' }
    // The path may hold the secret of a share link.
    logger.error({ ...fields, route: routeOptions.url, err }, 'a stream broke off')
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
