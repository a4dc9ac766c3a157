import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { eventually } from '@mcp-host/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { ReadBudget } from '../edge/read-budget.ts'
import { noteRefused, UnfinishedMessages } from '../edge/unfinished-messages.ts'
import { FRAME_PIECES, limitFrames } from './limit-frames.ts'

const MIB = 1024 * 1024
const LARGE = 1_400_000

let server: WebSocketServer
let budget: ReadBudget
let unfinished: UnfinishedMessages
beforeEach(async () => {
  server = new WebSocketServer({ port: 0, host: '127.0.0.1', ...FRAME_PIECES })
  budget = new ReadBudget()
  unfinished = new UnfinishedMessages(budget, { totalBytes: 3 * MIB })
  limitFrames(server, unfinished)
  server.on('connection', (socket) => {
    socket.on('error', () => undefined)
    socket.on('message', (data) => socket.send(String((data as Buffer).length)))
  })
  await once(server, 'listening')
})
afterEach(() => {
  for (const client of server.clients) client.terminate()
  server.close()
  unfinished[Symbol.dispose]()
  budget[Symbol.dispose]()
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

test('a message in many small pieces closes its socket', async () => {
  const socket = await open('/mcp/ws')
  for (let piece = 0; piece < 2_000; piece++) socket.send('x', { fin: false })
  expect(await once(socket, 'close')).toMatchObject([1008, {}])
})

test('the oldest of the unfinished messages beyond the memory limit closes its socket', async () => {
  const sockets = [await open('/mcp/ws'), await open('/mcp/ws'), await open('/mcp/ws')]
  const [oldest, second, last] = sockets as [WebSocket, WebSocket, WebSocket]
  const small = await open('/mcp/ws')
  small.send('x', { fin: false })
  for (const socket of [oldest, second]) {
    socket.send(Buffer.alloc(LARGE), { fin: false })
    const held = unfinished.heldBytes
    await eventually(() => unfinished.heldBytes >= held + LARGE)
  }
  const closed = once(oldest, 'close')
  last.send(Buffer.alloc(MIB), { fin: false })
  const [code, reason] = (await closed) as [number, Buffer]
  expect([code, String(reason)]).toEqual([
    1013,
    'message: too much is being received right now; try again later',
  ])
  for (const socket of [second, last, small]) socket.send('x')
  expect(await Promise.all([second, last, small].map(received))).toEqual([
    String(LARGE + 1),
    String(MIB + 1),
    '2',
  ])
  expect(unfinished.heldBytes).toBe(0)
})

test('a stalled message closes its socket, pings and whole messages do not', async () => {
  const [stopped, steady, idle] = [await open('/ws'), await open('/ws'), await open('/ws')]
  for (const socket of [stopped, steady]) socket.send(Buffer.alloc(10 * 1024), { fin: false })
  idle.send('x')
  idle.ping('y')
  await Promise.all([received(idle), once(idle, 'pong')])
  await eventually(() => unfinished.heldBytes > 20 * 1024)
  unfinished.checkRates()
  const closed = once(stopped, 'close')
  const held = unfinished.heldBytes
  steady.send(Buffer.alloc(10 * 1024), { fin: false })
  await eventually(() => unfinished.heldBytes > held + 10 * 1024)
  unfinished.checkRates()
  expect(await closed).toMatchObject([1008, {}])
  for (const socket of [steady, idle]) socket.send('x')
  expect(await Promise.all([steady, idle].map(received))).toEqual([String(20 * 1024 + 1), '1'])
})

test('after a large refused message its socket rests, after a small one it does not, and nobody else waits', async () => {
  const client = await open('/ws')
  const [sender] = [...server.clients] as [WebSocket]
  const honest = await open('/ws')
  const other = [...server.clients].at(-1)!
  noteRefused(other, 1_000)
  expect(other.isPaused).toBe(false)
  sender.once('message', () => noteRefused(sender, 10 * MIB))
  client.send(Buffer.alloc(LARGE))
  await eventually(() => sender.isPaused)
  honest.send(Buffer.alloc(LARGE))
  expect(await received(honest)).toBe(String(LARGE))
  expect(sender.isPaused).toBe(true)
  await eventually(() => !sender.isPaused)
})
