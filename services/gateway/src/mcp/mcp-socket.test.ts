import { LOCAL } from '@mcp-host/contracts'
import { type ServerReply, McpEndpoint, MergedListing } from '@mcp-host/mcp-endpoint'
import { noClients, nothing, signSession } from '@mcp-host/mcp-endpoint/testing'
import { EventEmitter, once } from 'node:events'
import { Registry } from 'prom-client'
import { beforeEach, expect, test, vi } from 'vitest'
import type { WebSocket } from 'ws'
import { gatewayEvents } from '../events.ts'
import { MAINTENANCE } from '../standard-messages.ts'
import { serveMcpSocket } from './mcp-socket.ts'

const MIB = 1024 * 1024
const bytes = new TextEncoder()

/** The socket as the gateway uses it. */
class FakeSocket extends EventEmitter {
  readonly OPEN = 1
  readyState = 1
  bufferedAmount = 0
  /** Whether the client reads. */
  isRead = true
  readonly frames: unknown[] = []
  readonly closes: unknown[] = []
  isTerminated = false
  pings = 0

  send(frame: Uint8Array, { binary }: { binary: boolean }): void {
    expect(binary).toBe(false)
    if (!this.isRead) this.bufferedAmount += frame.length
    this.frames.push(JSON.parse(new TextDecoder().decode(frame)))
    this.emit('sent')
  }
  close(code: number, reason: string): void {
    this.readyState = 2
    this.closes.push([code, reason])
    this.emit('closing')
  }
  terminate(): void {
    this.isTerminated = true
    this.readyState = 3
    this.emit('close')
  }
  ping(): void {
    this.pings++
  }
  ask(id: number, method: string, params: object = {}): void {
    const message = { jsonrpc: '2.0', id, method, params }
    this.emit('message', Buffer.from(JSON.stringify(message)), false)
  }
}

let socket: FakeSocket
let draining: AbortController
let metrics: Registry
let answer: () => Promise<ServerReply> | ServerReply
beforeEach(() => {
  socket = new FakeSocket()
  draining = new AbortController()
  metrics = new Registry()
  answer = () => ({ type: 'result', json: bytes.encode('{}') })
})

function serve(heartbeatMs = 60_000): Promise<void> {
  const tools = [{ name: 'do', inputSchema: {} }]
  const serverListing = { server: 'a', tools, prompts: [], resources: [], resourceTemplates: [] }
  const virtualServer = {
    listing: new MergedListing([serverListing], ({ name }) => name),
    onChange: () => nothing,
  }
  const endpoint = new McpEndpoint({
    signSession,
    serverInfo: { name: 'us', version: '1' },
    clients: noClients,
    servers: {
      send: async () => answer(),
      resume: () => Promise.reject(new Error('no request is resumable')),
      answer: () => undefined,
      tell: () => undefined,
      watch: () => nothing,
      listen: () => nothing,
      onLog: () => nothing,
    },
  })
  const events = gatewayEvents(metrics)
  const deps = { endpoint, virtualServer, principal: LOCAL, draining: draining.signal, events }
  // serveMcpSocket uses only these members.
  return serveMcpSocket(deps, socket as unknown as WebSocket, { heartbeatMs })
}

test('a socket whose client does not read is closed with 1013', async () => {
  const closed = serve()
  socket.isRead = false
  const json = bytes.encode(JSON.stringify({ text: 'x'.repeat(3 * MIB) }))
  answer = () => ({ type: 'result', json })
  for (let id = 0; id < 6 && socket.closes.length === 0; id++) {
    const next = Promise.race([once(socket, 'sent'), once(socket, 'closing')])
    socket.ask(id, 'tools/call', { name: 'do' })
    await next
  }
  expect(socket.frames.length).toBe(4)
  expect(socket.closes).toEqual([[1013, 'messages are not read']])
  socket.emit('close')
  await closed
})

test('a connection with an error ends once it is closed', async () => {
  const closed = serve()
  socket.emit('error', new Error('too large'))
  socket.emit('close')
  await closed
})

test('a message of a client that ignores the close frame is not taken', async () => {
  const closed = serve()
  socket.ask(1, 'ping')
  await once(socket, 'sent')
  socket.close(1008, 'revoked')
  socket.ask(2, 'tools/call', { name: 'do' })
  socket.emit('close')
  await closed
  const text = await metrics.metrics()
  expect(text).toContain('mcp_host_mcp_socket_messages_total{direction="in"} 1')
})

test('a single large message does not close its socket', async () => {
  const closed = serve()
  socket.isRead = false
  const json = bytes.encode(JSON.stringify({ text: 'x'.repeat(40 * MIB) }))
  answer = () => ({ type: 'result', json })
  const first = once(socket, 'sent')
  socket.ask(1, 'tools/call', { name: 'do' })
  await first
  const second = once(socket, 'sent')
  socket.ask(2, 'ping')
  await second
  expect(socket.closes).toEqual([])
  socket.emit('close')
  await closed
})

test('a draining gateway waits for requests in flight, then closes its sockets', async () => {
  const reply = Promise.withResolvers<ServerReply>()
  answer = () => reply.promise
  const closed = serve()
  socket.ask(1, 'tools/call', { name: 'do' })
  draining.abort()
  const refused = once(socket, 'sent')
  socket.ask(2, 'ping')
  await refused
  expect(socket.frames).toMatchObject([{ id: 2, error: { data: { retryable: true } } }])
  expect(socket.closes).toEqual([])
  const closing = once(socket, 'closing')
  reply.resolve({ type: 'result', json: bytes.encode('{}') })
  await closing
  expect(socket.frames[1]).toMatchObject({ id: 1, result: {} })
  expect(socket.closes).toEqual([[1012, MAINTENANCE]])
  socket.emit('close')
  await closed
})

test('a socket that does not complete the close is terminated', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const closed = serve()
    draining.abort()
    expect(socket.closes).toEqual([[1012, MAINTENANCE]])
    await vi.advanceTimersByTimeAsync(1_000)
    await closed
    expect(socket.isTerminated).toBe(true)
  } finally {
    vi.useRealTimers()
  }
})

test('a socket that opens while the gateway drains is closed', async () => {
  draining.abort()
  const closed = serve()
  expect(socket.closes).toEqual([[1012, MAINTENANCE]])
  socket.emit('close')
  await closed
})

test('a socket that misses heartbeats is terminated', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  try {
    const closed = serve(1_000)
    for (let beat = 0; beat < 5; beat++) {
      vi.advanceTimersByTime(1_000)
      socket.emit('pong')
    }
    expect([socket.pings, socket.isTerminated]).toEqual([5, false])
    vi.advanceTimersByTime(3_000)
    expect(socket.isTerminated).toBe(true)
    await closed
  } finally {
    vi.useRealTimers()
  }
})

test('open sockets and messages in both directions are counted', async () => {
  const closed = serve()
  const sent = once(socket, 'sent')
  socket.ask(1, 'tools/list')
  socket.emit(
    'message',
    Buffer.from('{"jsonrpc":"2.0","method":"notifications/initialized"}'),
    false,
  )
  await sent
  const figures = async (): Promise<string[]> =>
    (await metrics.metrics()).split('\n').filter((line) => line.startsWith('mcp_host_mcp_'))
  const messages = [
    'mcp_host_mcp_socket_messages_total{direction="in"} 2',
    'mcp_host_mcp_socket_messages_total{direction="out"} 1',
  ]
  await vi.waitFor(async () =>
    expect(await figures()).toEqual(['mcp_host_mcp_sockets_connected 1', ...messages]),
  )
  socket.emit('close')
  await closed
  expect(await figures()).toEqual(['mcp_host_mcp_sockets_connected 0', ...messages])
})
