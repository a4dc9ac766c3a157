import { once } from 'node:events'
import type { AddressInfo } from 'node:net'

import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type WebSocket as Peer, WebSocketServer } from 'ws'

import { testIntake } from '../../test/fixtures/intake.ts'
import { WebSocketTransport } from './websocket.ts'

interface OpenSocket {
  readonly transport: WebSocketTransport
  readonly peer: Peer
  readonly received: JSONRPCMessage[]
  readonly errors: Error[]
  /** The messages that the peer received. */
  readonly sent: string[]
  readonly headers: Readonly<Record<string, unknown>>
  readonly closed: Promise<void>
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

async function openSocket(): Promise<OpenSocket> {
  const { server, url } = await listen()
  const transport = new WebSocketTransport(url, {
    headers: { Authorization: 'Bearer x' },
    intake: testIntake({ messageBytes: 1_000, messageDepth: 10 }).intake,
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

  test('closing a socket stops waiting for a peer that does not answer', async () => {
    const { transport, peer, closed } = await openSocket()
    // The peer reads nothing more, so it never receives the close frame.
    peer.pause()
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const closing = transport.close()
    await vi.advanceTimersByTimeAsync(2000)
    await Promise.all([closing, closed])
    expect(transport.closeReason).toBe('was disconnected')
  })
})

test('a socket that cannot be opened is an error with its host', async () => {
  const { server, url } = await listen()
  server.close()
  await once(server, 'close')
  const transport = new WebSocketTransport(url, { headers: {}, intake: testIntake().intake })
  await expect(transport.start()).rejects.toThrow(`no WebSocket could be opened at ${url.host}`)
})

test('a socket that was not opened refuses messages and closes at once', async () => {
  const { url } = await listen()
  const transport = new WebSocketTransport(url, { headers: {}, intake: testIntake().intake })
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
  const { server, url } = await listen()
  const { intake, exceeded } = testIntake({ messageBytes: 1_000 })
  const transport = new WebSocketTransport(url, { headers: {}, intake })
  server.on('connection', (peer) => peer.send('x'.repeat(1_001)))
  await transport.start()
  await vi.waitFor(() => expect(exceeded).toEqual(['sent a message of more than 1000 bytes']))
  await transport.close()
})
