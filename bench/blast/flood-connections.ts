import { once } from 'node:events'
import type { Socket } from 'node:net'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'

/** The bytes that a thread sends on many connections, until the thread is terminated. */
export interface ConnectionFlood {
  readonly port: number
  readonly connections: number
  /** Sent once on each connection. */
  readonly head: Uint8Array
  /** Sent repeatedly. */
  readonly part: Uint8Array
  readonly pauseMs: number
  /** The limit of each connection, which then stays open. */
  readonly maxBytes: number
}

const { port, connections, head, part, pauseMs, maxBytes } = workerData as ConnectionFlood

async function send(socket: Socket): Promise<void> {
  if (socket.bytesWritten < maxBytes && !socket.write(part)) await once(socket, 'drain')
  await delay(pauseMs)
}

async function flood(): Promise<never> {
  for (;;) {
    const socket = connect(port, '127.0.0.1')
    // The gateway is expected to close connections.
    socket.on('error', () => undefined)
    socket.once('data', (data) => {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
      parentPort?.postMessage(String(data).slice(0, 100))
      // Answers must not keep the thread of the callers busy.
      socket.resume()
    })
    socket.write(head)
    const stop = (): void => void socket.destroy()
    const closed = once(socket, 'close').catch(stop)
    while (!socket.destroyed) await Promise.race([send(socket).catch(stop), closed])
    await delay(50)
  }
}

await Promise.all(Array.from({ length: connections }, flood))
