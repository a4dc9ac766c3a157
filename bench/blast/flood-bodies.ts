import { once } from 'node:events'
import type { Socket } from 'node:net'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'

/** What a thread is to send, on many connections at once, until it is ended. */
export interface BodyFlood {
  readonly url: string
  readonly connections: number
  /** Sent again and again. */
  readonly part: string
  readonly pauseMs: number
  /** Nothing more is sent on a connection, which stays open. */
  readonly maxBytes: number
}

const { url, connections, part, pauseMs, maxBytes } = workerData as BodyFlood
const { hostname, port, pathname } = new URL(url)
const bytes = Buffer.from(part)

async function send(socket: Socket): Promise<void> {
  if (socket.bytesWritten < maxBytes && !socket.write(bytes)) await once(socket, 'drain')
  await delay(pauseMs)
}

async function flood(): Promise<never> {
  for (;;) {
    const socket = connect(Number(port), hostname)
    // Being cut off is what is to happen.
    socket.on('error', () => undefined)
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    socket.on('data', (data) => parentPort?.postMessage(String(data).slice(0, 100)))
    socket.write(
      `POST ${pathname} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`,
    )
    const stop = (): void => void socket.destroy()
    const closed = once(socket, 'close').catch(stop)
    while (!socket.destroyed) await Promise.race([send(socket).catch(stop), closed])
    await delay(50)
  }
}

await Promise.all(Array.from({ length: connections }, flood))
