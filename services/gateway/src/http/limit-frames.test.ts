import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { limitFrames } from './limit-frames.ts'

const MIB = 1024 * 1024

let server: WebSocketServer
beforeEach(async () => {
  server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  limitFrames(server, ({ url }) => url === '/mcp/ws')
  server.on('connection', (socket) => {
    socket.on('error', () => undefined)
    socket.on('message', (data) => socket.send(String((data as Buffer).length)))
  })
  await once(server, 'listening')
})
afterEach(() => {
  for (const client of server.clients) client.terminate()
  server.close()
})

async function open(path: string): Promise<WebSocket> {
  const { port } = server.address() as AddressInfo
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`)
  await once(socket, 'open')
  return socket
}

async function received(socket: WebSocket): Promise<string> {
  const [data] = (await once(socket, 'message')) as [Buffer]
  return String(data)
}

test('a frame for /ws beyond its limit gets an error, beyond twice the limit it closes the socket', async () => {
  const socket = await open('/ws?sessionId=x')
  // One for MCP in between leaves the limit as it is.
  const mcp = await open('/mcp/ws')
  socket.send(Buffer.alloc(2 * MIB))
  expect(await received(socket)).toBe(String(2 * MIB))
  socket.send(Buffer.alloc(2 * MIB + 1))
  expect(await once(socket, 'close')).toMatchObject([1009, {}])
  mcp.send(Buffer.alloc(3 * MIB))
  expect(await received(mcp)).toBe(String(3 * MIB))
})
