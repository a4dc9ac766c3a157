// Discards the input of all connections. Shows how much a flood alone loads the machine.
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { parentPort } from 'node:worker_threads'

const server = createServer((socket) => socket.on('error', () => undefined).resume())
server.listen(0, '127.0.0.1', () => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  parentPort?.postMessage((server.address() as AddressInfo).port)
})
