import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'

import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { WebSocket, type WebSocket as Peer, WebSocketServer } from 'ws'

import { testIntake } from '../../test/intake.ts'
import type { MessageLimits } from '../intake/message-limits.ts'
import type { LeftOut } from '../metrics/host-metrics.ts'
import { WebSocketTransport } from './websocket-transport.ts'

interface OpenSocket {
  readonly transport: WebSocketTransport
  readonly peer: Peer
  readonly received: JSONRPCMessage[]
  readonly errors: Error[]
  /** The messages that the peer received. */
  readonly sent: string[]
  readonly headers: Readonly<Record<string, unknown>>
  readonly closed: Promise<void>
  readonly leftOut: LeftOut
}

async function listen(): Promise<{ readonly server: WebSocketServer; readonly url: URL }> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  onTestFinished(() => {
    for (const client of server.clients) client.terminate()
    server.close()
  })
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { server, url: new URL(`ws://127.0.0.1:${port}/mcp`) }
}

const proxyFor = (): undefined => undefined

async function openSocket(limits: Partial<MessageLimits> = {}): Promise<OpenSocket> {
  const { server, url } = await listen()
  const { intake, leftOut } = testIntake({ messageBytes: 1_000, messageDepth: 10, ...limits })
  const transport = new WebSocketTransport(url, {
    headers: { Authorization: 'Bearer x' },
    intake,
    proxyFor,
  })
  const received: JSONRPCMessage[] = []
  const errors: Error[] = []
  const closed = Promise.withResolvers<void>()
  Object.assign(transport, {
    onmessage: (message: JSONRPCMessage) => received.push(message),
    onerror: (error: Error) => errors.push(error),
    onclose: () => closed.resolve(),
  })
  const connected = once(server, 'connection')
  await transport.start()
  const [peer, request] = await connected
  const sent: string[] = []
  peer.on('message', (data: Buffer) => sent.push(data.toString()))
  return {
    transport,
    peer,
    received,
    errors,
    sent,
    headers: request.headers,
    closed: closed.promise,
    leftOut,
  }
}

const ping: JSONRPCMessage = { jsonrpc: '2.0', id: 1, method: 'ping' }

describe('an open socket', () => {
  test('a socket is opened with the headers and the subprotocol of MCP', async () => {
    const { headers, transport } = await openSocket()
    expect(headers).toMatchObject({
      authorization: 'Bearer x',
      'sec-websocket-protocol': 'mcp',
    })
    expect(transport.closeReason).toBeUndefined()
  })

  test('a socket carries one message per frame in both directions', async () => {
    const { transport, peer, sent, received } = await openSocket()
    await transport.send(ping)
    await expect.poll(() => sent).toEqual([JSON.stringify(ping)])
    peer.send(JSON.stringify({ jsonrpc: '2.0', id: 1, result: {} }))
    await expect.poll(() => received).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }])
  })

  test('a socket skips frames that are no messages, and reports them', async () => {
    const { peer, received, errors } = await openSocket()
    peer.send('not JSON')
    peer.send('{"json":"but no message"}')
    peer.send(Buffer.from('binary'))
    peer.send(JSON.stringify(ping))
    await expect.poll(() => received).toEqual([ping])
    expect(errors).toHaveLength(3)
    expect(errors[2]?.message).toBe('a binary frame is not a message')
  })
})

describe('the end of a socket', () => {
  afterEach(() => {
    vi.useRealTimers()
  })

  test('the end of a socket has the reason of the server', async () => {
    const { transport, peer, closed } = await openSocket()
    peer.close(4001, 'going home')
    await closed
    expect(transport.closeReason).toBe('closed the connection (4001, going home)')
    await expect(transport.send(ping)).rejects.toThrow('the WebSocket is not open')
    await transport.close()
  })

  test('the end of a socket without a reason has its code', async () => {
    const { transport, peer, closed } = await openSocket()
    peer.terminate()
    await closed
    expect(transport.closeReason).toBe('closed the connection (1006)')
  })

  test('closing a socket waits for its end', async () => {
    const { transport, peer, closed } = await openSocket()
    const gone = once(peer, 'close')
    await transport.close()
    await Promise.all([closed, gone])
    expect(transport.closeReason).toBe('was disconnected')
    await transport.close()
  })

  test('closing a socket cuts the connection to a peer that does not answer', async () => {
    const { transport, peer, closed } = await openSocket()
    const gone = once(peer, 'close')
    // The peer reads nothing more, so it never receives the close frame.
    peer.pause()
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const closing = transport.close()
    await vi.advanceTimersByTimeAsync(2000)
    await Promise.all([closing, closed])
    expect(transport.closeReason).toBe('was disconnected')
    peer.resume()
    await gone
  })

  test('messages that a peer sent before it closed are received before the end', async () => {
    const { peer, received, closed } = await openSocket({ noticesPerSecond: 1 })
    for (let count = 0; count < 600; count += 1) peer.send('')
    peer.send(JSON.stringify(ping))
    peer.close()
    await closed
    expect(received).toEqual([ping])
  })
})

test('a large message that a peer sent before it closed is received before the end', async () => {
  const { peer, received, closed } = await openSocket({ messageBytes: 20_000_000 })
  peer.send(JSON.stringify({ jsonrpc: '2.0', id: 1, result: { text: 'x'.repeat(5_000_000) } }))
  peer.send(JSON.stringify(ping))
  peer.close()
  await closed
  expect(received).toHaveLength(2)
})

describe('a peer that sends too much', () => {
  const FRAMES = 10_000

  test.each<[string, (peer: Peer) => void]>([
    ['empty frames', (peer) => peer.send('')],
    ['tiny frames', (peer) => peer.send('{}')],
    ['frames that are no text', (peer) => peer.send(Buffer.from('x'))],
    ['pings', (peer) => peer.ping()],
    ['pongs', (peer) => peer.pong()],
  ])('%s are paced, and messages among them are received', async (_title, send) => {
    const { peer, received, leftOut, errors, transport } = await openSocket({
      noticesPerSecond: 10,
    })
    const pongs: unknown[] = []
    peer.on('pong', () => pongs.push(1))
    for (let count = 0; count < FRAMES; count += 1) send(peer)
    peer.send(JSON.stringify(ping))
    let ticks = 0
    const ticking = setInterval(() => (ticks += 1), 5)
    await vi.waitFor(() => expect(received).toEqual([ping]), 20_000)
    clearInterval(ticking)
    // There is a pause after each 256 of them.
    expect(ticks).toBeGreaterThan(FRAMES / 512)
    expect(leftOut.notices).toBeGreaterThan(FRAMES / 2)
    expect(errors.length).toBeLessThan(1_000)
    expect(pongs.length).toBeLessThan(1_000)
    await transport.close()
  })

  test('a ping is answered, but none of a peer that reads nothing', async () => {
    const { peer, received } = await openSocket({ noticesPerSecond: 1_000_000 })
    const answered = once(peer, 'pong')
    peer.ping('hello')
    expect(String((await answered)[0])).toBe('hello')
    peer.pause()
    const sent = vi.spyOn(WebSocket.prototype, 'pong')
    vi.spyOn(WebSocket.prototype, 'bufferedAmount', 'get').mockReturnValue(2 ** 21)
    onTestFinished(() => void vi.restoreAllMocks())
    peer.ping('again')
    peer.send(JSON.stringify(ping))
    await vi.waitFor(() => expect(received).toEqual([ping]))
    expect(sent).not.toHaveBeenCalled()
  })

  test('parts of one byte are joined up to a number', async () => {
    const { peer, transport, closed } = await openSocket({ messageBytes: 1_000_000 })
    for (let count = 0; count < 20_000; count += 1) peer.send('x', { fin: false })
    await closed
    expect(transport.closeReason).toBe('broke the connection: Too many message fragments')
  })
})

test('a server need not repeat the subprotocol', async () => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', handleProtocols: () => false })
  onTestFinished(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const url = new URL(`ws://127.0.0.1:${port}/mcp`)
  const transport = new WebSocketTransport(url, {
    headers: {},
    intake: testIntake().intake,
    proxyFor,
  })
  await transport.start()
  await transport.close()
})

test('a large message is read, and one that is no JSON is an error of its request', async () => {
  const { peer, received } = await openSocket({ messageBytes: 20_000_000 })
  const text = 'x'.repeat(5_000_000)
  peer.send(JSON.stringify({ jsonrpc: '2.0', id: 1, result: { text } }))
  peer.send(`{"jsonrpc":"2.0","id":2,"result":{"text":"${text}",}}`)
  peer.send(JSON.stringify(ping))
  await vi.waitFor(() => expect(received).toHaveLength(3), 20_000)
  expect(received[0]).toEqual({ jsonrpc: '2.0', id: 1, result: { text } })
  const message = expect.stringContaining('its answer is no JSON (near') as string
  expect(received[1]).toEqual({ jsonrpc: '2.0', id: 2, error: { code: -32_700, message } })
  expect(received[2]).toEqual(ping)
})

test('a socket that cannot be opened is an error with its host', async () => {
  const { server, url } = await listen()
  server.close()
  await once(server, 'close')
  const transport = new WebSocketTransport(url, {
    headers: {},
    intake: testIntake().intake,
    proxyFor,
  })
  await expect(transport.start()).rejects.toThrow(`no WebSocket could be opened at ${url.host}`)
})

test('a socket beyond a proxy is opened through it', async () => {
  const { server, url } = await listen()
  const asked: (string | undefined)[] = []
  const proxy = createServer().on('connect', (request, socket) => {
    asked.push(request.url)
    const { port } = server.address() as AddressInfo
    socket.write('HTTP/1.1 200 ProtocolClient established\r\n\r\n')
    socket.pipe(connect(port, '127.0.0.1')).pipe(socket)
  })
  proxy.listen(0, '127.0.0.1')
  onTestFinished(() => void proxy.close())
  await once(proxy, 'listening')
  const at = new URL(`http://127.0.0.1:${(proxy.address() as AddressInfo).port}`)
  const { intake } = testIntake()
  const far = new URL(`ws://mcp.example:${url.port}/mcp`)
  const transport = new WebSocketTransport(far, { headers: {}, intake, proxyFor: () => at })
  await transport.start()
  await transport.close()
  expect(asked).toEqual([far.host])
})

test('a socket that was not opened refuses messages and closes at once', async () => {
  const { url } = await listen()
  const transport = new WebSocketTransport(url, {
    headers: {},
    intake: testIntake().intake,
    proxyFor,
  })
  await expect(transport.send(ping)).rejects.toThrow('not open')
  await transport.close()
})

test('an answer that is nested too deep is an error to its request', async () => {
  const { peer, received } = await openSocket()
  peer.send(`{"jsonrpc":"2.0","id":5,"result":${'['.repeat(20)}${']'.repeat(20)}}`)
  await vi.waitFor(() => expect(received).toHaveLength(1))
  const error = { code: -32_000, message: 'the answer is nested deeper than 10 levels' }
  expect(received).toEqual([{ jsonrpc: '2.0', id: 5, error }])
})

test('a message that is too long ends the connection', async () => {
  const { peer, closed, transport } = await openSocket()
  peer.send('x'.repeat(1_001))
  await closed
  expect(transport.closeReason).toBe('sent a message of more than 1000 bytes')
})

test('the opening request has the token of this moment', async () => {
  const { server, url } = await listen()
  const { intake } = testIntake()
  const auth = { token: () => Promise.resolve('a-token') }
  const transport = new WebSocketTransport(url, {
    headers: { 'X-One': '1' },
    intake,
    proxyFor,
    auth,
  })
  const connected = once(server, 'connection')
  await transport.start()
  const [, { headers }] = await connected
  expect(headers).toMatchObject({ authorization: 'Bearer a-token', 'x-one': '1' })
  await transport.close()
})
