import { once } from 'node:events'
import type { Server } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { eventually } from '@mcp-host/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import type { IsMcp } from './paced-upgrades.ts'
import { FRAME_PIECES, PacedUpgrades } from './paced-upgrades.ts'
import { ReadBudget } from './read-budget.ts'

const MIB = 1024 * 1024
const LARGE = 1_400_000

let server: Server
let upgrades: PacedUpgrades
let budget: ReadBudget
let sockets: WebSocketServer
/** The messages and pings that were received. */
let received: string[]
beforeEach(async () => {
  received = []
  budget = new ReadBudget()
  server = createServer()
  const isMcp: IsMcp = ({ url }) => url === '/mcp/ws'
  upgrades = new PacedUpgrades(server, isMcp, budget, { totalBytes: 3 * MIB })
  sockets = new WebSocketServer({ server: upgrades.server as Server, ...FRAME_PIECES })
  upgrades.watch(sockets)
  sockets.on('connection', (socket) => {
    socket.on('error', () => undefined)
    socket.on('message', (data, isBinary) => {
      const text = isBinary ? `${(data as Buffer).length} bytes` : (data as Buffer).toString()
      received.push(text)
      socket.send(`re: ${text}`)
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

async function answerOf(socket: WebSocket, message: string | Buffer): Promise<string> {
  const answer = once(socket, 'message') as Promise<[Buffer]>
  socket.send(message)
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

test('a message in many small pieces closes its socket', async () => {
  const socket = await open('/mcp/ws')
  for (let piece = 0; piece < 2_000; piece++) socket.send('x', { fin: false })
  expect(await once(socket, 'close')).toMatchObject([1008, {}])
})

test('the oldest of the unfinished messages beyond the memory limit closes its socket', async () => {
  const oldest = await open('/mcp/ws')
  const second = await open('/mcp/ws')
  const last = await open('/mcp/ws')
  const small = await open('/mcp/ws')
  small.send('x', { fin: false })
  for (const socket of [oldest, second]) {
    socket.send(Buffer.alloc(LARGE), { fin: false })
    const held = upgrades.unfinishedBytes
    await eventually(() => upgrades.unfinishedBytes >= held + LARGE)
  }
  const closed = once(oldest, 'close')
  last.send(Buffer.alloc(MIB), { fin: false })
  const [code, reason] = (await closed) as [number, Buffer]
  expect([code, String(reason)]).toEqual([
    1013,
    'message: too much is being received right now; try again later',
  ])
  const rest = [second, last, small].map((socket) => answerOf(socket, 'x'))
  expect(await Promise.all(rest)).toEqual([
    `re: ${LARGE + 1} bytes`,
    `re: ${MIB + 1} bytes`,
    're: xx',
  ])
  expect(upgrades.unfinishedBytes).toBe(0)
})

test('pings between the parts of a message, and its last part, do not count as unfinished', async () => {
  const socket = await open('/mcp/ws')
  socket.send(Buffer.alloc(LARGE), { fin: false })
  await eventually(() => upgrades.unfinishedBytes >= LARGE)
  const held = upgrades.unfinishedBytes
  socket.ping()
  await eventually(() => received.includes('ping'))
  expect(upgrades.unfinishedBytes).toBeLessThan(held + 1_000)
  await answerOf(socket, '')
  expect(upgrades.unfinishedBytes).toBe(0)
  socket.send(Buffer.alloc(LARGE), { fin: false })
  await eventually(() => upgrades.unfinishedBytes >= LARGE)
  socket.terminate()
  await eventually(() => upgrades.unfinishedBytes === 0)
})

test('large messages wait for their turn, and small ones do not', async () => {
  const [large, small] = [await open(), await open()]
  let isFree = false
  const turn = budget.turn(26 * MIB, 'other').then(() => (isFree = true))
  const answer = answerOf(large, Buffer.alloc(MIB))
  expect(await answerOf(small, 'hello')).toBe('re: hello')
  expect(isFree).toBe(false)
  expect(await answer).toBe(`re: ${MIB} bytes`)
  expect(isFree).toBe(true)
  await turn
})
