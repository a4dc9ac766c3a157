import { once } from 'node:events'
import type { Server } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { PacedUpgrades } from './paced-upgrades.ts'

let server: Server
let sockets: WebSocketServer
/** The messages and pings that were received. */
let received: string[]
beforeEach(async () => {
  received = []
  server = createServer()
  const upgrades = new PacedUpgrades(server)
  sockets = new WebSocketServer({ server: upgrades.server as Server })
  sockets.on('connection', (socket, request) => {
    expect(upgrades.connectionOf(request)).not.toBe(request.socket)
    socket.on('message', (data) => {
      received.push((data as Buffer).toString())
      socket.send(`re: ${(data as Buffer).toString()}`)
    })
    socket.on('ping', () => received.push('ping'))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterEach(() => {
  for (const client of sockets.clients) client.terminate()
  sockets.close()
  server.close()
})

async function open(path = '/ws'): Promise<WebSocket> {
  const { port } = server.address() as AddressInfo
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`)
  await once(socket, 'open')
  return socket
}

async function answerOf(socket: WebSocket, text: string): Promise<string> {
  const answer = once(socket, 'message') as Promise<[Buffer]>
  socket.send(text)
  return (await answer)[0].toString()
}

test('a socket has its messages in both directions, also large ones', async () => {
  const socket = await open()
  expect(await answerOf(socket, 'hello')).toBe('re: hello')
  const large = 'x'.repeat(1_000_000)
  expect(await answerOf(socket, large)).toBe(`re: ${large}`)
})

test('the end of a connection is seen on both sides', async () => {
  const [one, other] = [await open(), await open()]
  const [first, second] = [...sockets.clients] as [WebSocket, WebSocket]
  one.close(4000, 'bye')
  expect(await once(first, 'close')).toMatchObject([4000, Buffer.from('bye')])
  other.terminate()
  expect(await once(second, 'close')).toMatchObject([1006, {}])
  const last = await open()
  for (const client of sockets.clients) client.terminate()
  expect(await once(last, 'close')).toMatchObject([1006, {}])
})

test.each<[string, (socket: WebSocket) => void]>([
  ['empty messages', (socket) => socket.send('')],
  ['short messages', (socket) => socket.send('{}')],
  ['pings', (socket) => socket.ping()],
])('a socket that sends many %s does not hold up others', async (_, send) => {
  const [flood, other] = [await open(), await open()]
  const FRAMES = 2_000
  for (let count = 0; count < FRAMES; count += 1) send(flood)
  expect(await answerOf(other, 'hello')).toBe('re: hello')
  expect(received.length).toBeLessThan(FRAMES / 2)
})

test('frames beyond the rate are read later, and none is lost', async () => {
  const socket = await open('/mcp/ws')
  for (let count = 0; count < 1_500; count += 1) socket.send(String(count))
  await expect.poll(() => received.length, { timeout: 10_000 }).toBe(1_500)
  expect(received).toEqual(Array.from({ length: 1_500 }, (_, count) => String(count)))
})
