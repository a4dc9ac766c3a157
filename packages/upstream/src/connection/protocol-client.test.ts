import { describe, expect, test } from 'vitest'

import { LEGACY, MemoryEndpoint, MODERN, SILENCE } from '../../test/memory-endpoint.ts'
import { openConnection } from '../../test/open-connection.ts'
import type { ProtocolClient, ConnectionOptions } from './protocol-client.ts'
import { RpcClosed } from './rpc.ts'

const open = (
  endpoint: MemoryEndpoint,
  options: Partial<ConnectionOptions> = {},
): Promise<ProtocolClient> => openConnection(endpoint, { capabilities: { roots: {} }, ...options })

function paramsOf(endpoint: MemoryEndpoint, method: string): Record<string, unknown> {
  const { message } =
    endpoint.sent.find(({ message: each }) => 'method' in each && each.method === method) ?? {}
  return Object(message).params
}

describe('the handshake', () => {
  test('the handshake detects a server of an older revision', async () => {
    const endpoint = new MemoryEndpoint(LEGACY)
    const connection = await open(endpoint)
    expect(connection).toMatchObject({
      era: 'legacy',
      protocolVersion: '2025-06-18',
      serverInfo: { name: 'memory' },
      capabilities: { tools: {} },
      instructions: undefined,
      hasHeaders: false,
    })
    expect(endpoint.methods).toEqual(['server/discover', 'initialize', 'notifications/initialized'])
  })

  test('the handshake detects a server of 2026-07-28, whose requests then carry the client information', async () => {
    const endpoint = new MemoryEndpoint({ ...MODERN, any: () => ({ ok: true }) })
    const connection = await open(endpoint)
    expect(connection).toMatchObject({
      era: 'modern',
      protocolVersion: '2026-07-28',
      serverInfo: { name: 'memory', version: '2.0.0' },
      instructions: 'Be modern.',
    })
    expect(await connection.request('any', { a: 1 }, { timeoutMs: 1000 })).toEqual({ ok: true })
    expect(paramsOf(endpoint, 'any')).toEqual({
      a: 1,
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1.0.0' },
        'io.modelcontextprotocol/clientCapabilities': { roots: {} },
      },
    })
  })

  test.each(['legacy', 'modern'] as const)(
    'the handshake does not probe when the era is configured: %s',
    async (era) => {
      const endpoint = new MemoryEndpoint({ ...LEGACY, ...MODERN })
      expect((await open(endpoint, { era })).era).toBe(era)
      const first = era === 'legacy' ? 'initialize' : 'server/discover'
      expect(endpoint.methods[0]).toBe(first)
      expect(endpoint.methods).not.toContain(era === 'legacy' ? 'server/discover' : 'initialize')
    },
  )

  test('the handshake ends with its signal and closes the endpoint', async () => {
    const endpoint = new MemoryEndpoint({ 'server/discover': () => SILENCE })
    const abort = new AbortController()
    const opening = open(endpoint, { signal: abort.signal })
    abort.abort(new Error('too late'))
    await expect(opening).rejects.toThrow('too late')
    expect(endpoint.closeReason).toBe('was closed')
    await expect(open(new MemoryEndpoint(LEGACY), { signal: abort.signal })).rejects.toThrow(
      'too late',
    )
  })

  test('the handshake fails with the error of the transport', async () => {
    const endpoint = new MemoryEndpoint(LEGACY, { startError: new Error('no such place') })
    await expect(open(endpoint)).rejects.toThrow('no such place')
    expect(endpoint.closeReason).toBe('was closed')
  })
})

describe('an open connection', () => {
  test('a connection that closes fails its pending requests and reports the end once', async () => {
    const endpoint = new MemoryEndpoint({ ...LEGACY, any: () => SILENCE })
    let closed = 0
    const connection = await open(endpoint, { onClose: () => (closed += 1) })
    const waiting = connection
      .request('any', {}, { timeoutMs: 1000 })
      .catch((error: unknown) => error)
    endpoint.closeReason = 'exited with code 7'
    await connection.close()
    expect(await waiting).toBeInstanceOf(RpcClosed)
    expect(await waiting).toMatchObject({ message: 'exited with code 7' })
    expect(closed).toBe(1)
    expect(connection.closeReason).toBe('exited with code 7')
  })

  test('a ping uses the method of the era', async () => {
    const legacy = new MemoryEndpoint({ ...LEGACY, ping: () => ({}) })
    await (await open(legacy)).ping({ timeoutMs: 1000 })
    expect(legacy.methods.at(-1)).toBe('ping')
    const modern = new MemoryEndpoint(MODERN)
    await (await open(modern)).ping({ timeoutMs: 1000 })
    expect(modern.methods).toEqual(['server/discover', 'server/discover'])
  })

  test('a connection answers requests of the server, and delivers its notifications', async () => {
    const endpoint = new MemoryEndpoint(LEGACY)
    const seen: string[] = []
    await open(endpoint, {
      prepare: (client) => {
        client.setNotificationHandler('notifications/tools/list_changed', () => {
          seen.push('tools')
        })
      },
    })
    endpoint.deliver({ id: 'p', method: 'ping' })
    endpoint.deliver({ method: 'notifications/tools/list_changed' })
    await expect.poll(() => seen).toEqual(['tools'])
    expect(endpoint.sent.some(({ message }) => 'id' in message && message.id === 'p')).toBe(true)
  })

  test('a connection reports errors of its transport', async () => {
    const endpoint = new MemoryEndpoint(LEGACY)
    const errors: Error[] = []
    await open(endpoint, { onError: (error) => errors.push(error) })
    endpoint.onerror?.(new Error('a bad line'))
    expect(errors.map(({ message }) => message)).toEqual(['a bad line'])
  })

  test('a connection has headers if each request has a stream of its own', async () => {
    const options = { isPipe: false, hasPerRequestStream: true }
    const endpoint = new MemoryEndpoint({ ...MODERN, any: () => ({}) }, options)
    const connection = await open(endpoint)
    expect(connection.hasHeaders).toBe(true)
    await connection.request('any', {}, { timeoutMs: 1000, headers: { 'Mcp-Param-A': '1' } })
    expect(endpoint.sent.at(-1)?.options).toMatchObject({
      headers: { 'Mcp-Param-A': '1' },
      requestSignal: expect.any(AbortSignal),
    })
  })
})

describe('notification streams', () => {
  const acknowledge = (endpoint: MemoryEndpoint): void => {
    const { message } = endpoint.sent.at(-1) ?? {}
    endpoint.deliver({
      method: 'notifications/subscriptions/acknowledged',
      params: {
        notifications: {},
        _meta: { 'io.modelcontextprotocol/subscriptionId': Object(message).id },
      },
    })
  }
  const listening = { 'subscriptions/listen': () => SILENCE }

  test('a notification stream replaces the one before it, whose end is not reported', async () => {
    const endpoint = new MemoryEndpoint({ ...MODERN, ...listening })
    const connection = await open(endpoint)
    let ends = 0
    const onEnd = (): void => void (ends += 1)
    const options = { signal: new AbortController().signal, timeoutMs: 1000, onEnd }
    for (const _ of [1, 2]) {
      const opening = connection.listen({ toolsListChanged: true }, options)
      await expect.poll(() => endpoint.methods.at(-1)).toBe('subscriptions/listen')
      acknowledge(endpoint)
      await opening
    }
    expect(endpoint.methods.slice(1)).toEqual([
      'subscriptions/listen',
      'subscriptions/listen',
      'notifications/cancelled',
    ])
    await new Promise(setImmediate)
    expect(ends).toBe(0)
  })

  test('the end of a notification stream by the server is reported', async () => {
    const endpoint = new MemoryEndpoint({ ...MODERN, ...listening })
    const connection = await open(endpoint)
    const ended = Promise.withResolvers<void>()
    const { signal } = new AbortController()
    const options = { signal, timeoutMs: 1000, onEnd: () => ended.resolve() }
    const opening = connection.listen({ toolsListChanged: true }, options)
    await expect.poll(() => endpoint.methods.at(-1)).toBe('subscriptions/listen')
    acknowledge(endpoint)
    await opening
    endpoint.deliver({ id: Object(endpoint.sent.at(-1)?.message).id, result: {} })
    await ended.promise
  })

  test('a notification stream that the server does not acknowledge times out', async () => {
    const connection = await open(new MemoryEndpoint({ ...MODERN, ...listening }))
    const options = { signal: new AbortController().signal, timeoutMs: 20, onEnd: () => undefined }
    const opening = connection.listen({ toolsListChanged: true }, options)
    await expect(opening).rejects.toMatchObject({ name: 'RpcTimeout', limitMs: 20 })
  })
})
