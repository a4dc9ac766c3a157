import { once } from 'node:events'
import type { AddressInfo } from 'node:net'

import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type WebSocket as Peer, WebSocketServer } from 'ws'

import { testIntake } from '../../test/fixtures/intake.ts'
import { WebSocketTransport } from './websocket.ts'

interface Meeting {
  readonly transport: WebSocketTransport
  readonly peer: Peer
  readonly received: JSONRPCMessage[]
  readonly errors: Error[]
  /** What the peer got. */
  readonly heard: string[]
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

async function meet(): Promise<Meeting> {
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
  const heard: string[] = []
  peer.on('message', (data: Buffer) => heard.push(data.toString()))
  return {
    transport,
    peer,
    received,
    errors,
    heard,
    headers: request.headers,
    closed: closed.promise,
  }
}

const ping: JSONRPCMessage = { jsonrpc: '2.0', id: 1, method: 'ping' }

describe('an open socket', () => {
  test('was opened with the headers and in the name of MCP', async () => {
    const { headers, transport } = await meet()
    expect(headers).toMatchObject({
      authorization: 'Bearer x',
      'sec-websocket-protocol': 'mcp',
    })
    expect(transport.closeReason).toBeUndefined()
  })

  test('carries one message in each frame, both ways', async () => {
    const { transport, peer, heard, received } = await meet()
    await transport.send(ping)
    await expect.poll(() => heard).toEqual([JSON.stringify(ping)])
    peer.send(JSON.stringify({ jsonrpc: '2.0', id: 1, result: {} }))
    await expect.poll(() => received).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }])
  })

  test('passes over what is no message, and says so', async () => {
    const { peer, received, errors } = await meet()
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

  test('tells the reason that the server gives', async () => {
    const { transport, peer, closed } = await meet()
    peer.close(4001, 'going home')
    await closed
    expect(transport.closeReason).toBe('closed the connection (4001, going home)')
    await expect(transport.send(ping)).rejects.toThrow('the WebSocket is not open')
    await transport.close()
  })

  test('without a word is told by its code', async () => {
    const { transport, peer, closed } = await meet()
    peer.terminate()
    await closed
    expect(transport.closeReason).toBe('closed the connection (1006)')
  })

  test('is waited for when it is ours', async () => {
    const { transport, peer, closed } = await meet()
    const gone = once(peer, 'close')
    await transport.close()
    await Promise.all([closed, gone])
    expect(transport.closeReason).toBe('was disconnected')
    await transport.close()
  })

  test('is not waited for without end when the peer does not agree to it', async () => {
    const { transport, peer, closed } = await meet()
    // It reads nothing more, and so never hears of the end.
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

test('a socket that was never opened takes nothing and closes at once', async () => {
  const { url } = await listen()
  const transport = new WebSocketTransport(url, { headers: {}, intake: testIntake().intake })
  await expect(transport.send(ping)).rejects.toThrow('not open')
  await transport.close()
})

test('an answer that is nested too deep is an error to its request', async () => {
  const { peer, received } = await meet()
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
