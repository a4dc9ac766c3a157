import { describe, expect, test } from 'vitest'

import { LEGACY, MemoryEndpoint, MODERN, SILENCE } from '../../test/fixtures/memory-endpoint.ts'
import { Connection, type ConnectionOptions } from './connection.ts'
import { RpcClosed } from './rpc.ts'

function open(
  endpoint: MemoryEndpoint,
  options: Partial<ConnectionOptions> = {},
): Promise<Connection> {
  return Connection.open(endpoint, {
    clientInfo: { name: 'test', version: '1.0.0' },
    capabilities: { roots: {} },
    era: 'auto',
    signal: new AbortController().signal,
    onClose: () => undefined,
    onError: () => undefined,
    prepare: () => undefined,
    ...options,
  })
}

function paramsOf(endpoint: MemoryEndpoint, method: string): Record<string, unknown> {
  const { message } =
    endpoint.sent.find(({ message: each }) => 'method' in each && each.method === method) ?? {}
  return Object(message).params
}

describe('the handshake', () => {
  test('finds out that a server speaks an older revision', async () => {
    const endpoint = new MemoryEndpoint(LEGACY)
    const connection = await open(endpoint)
    expect(connection).toMatchObject({
      era: 'legacy',
      protocolVersion: '2025-06-18',
      serverInfo: { name: 'memory' },
      capabilities: { tools: {} },
      instructions: undefined,
      hasHeaders: false,
      hasSession: false,
    })
    expect(endpoint.methods).toEqual(['server/discover', 'initialize', 'notifications/initialized'])
  })

  test('finds out that a server speaks the newer one, and then every request says who asks', async () => {
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
    'does not ask where the era is known: %s',
    async (era) => {
      const endpoint = new MemoryEndpoint({ ...LEGACY, ...MODERN })
      expect((await open(endpoint, { era })).era).toBe(era)
      const first = era === 'legacy' ? 'initialize' : 'server/discover'
      expect(endpoint.methods[0]).toBe(first)
      expect(endpoint.methods).not.toContain(era === 'legacy' ? 'server/discover' : 'initialize')
    },
  )

  test('ends with the signal, and nothing stays open', async () => {
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

  test('fails with what the transport says', async () => {
    const endpoint = new MemoryEndpoint(LEGACY, { startError: new Error('no such place') })
    await expect(open(endpoint)).rejects.toThrow('no such place')
    expect(endpoint.closeReason).toBe('was closed')
  })
})

describe('an open connection', () => {
  test('ends what waits when it closes, and tells of it once', async () => {
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

  test('asks for a sign of life in the words of the era', async () => {
    const legacy = new MemoryEndpoint({ ...LEGACY, ping: () => ({}) })
    await (await open(legacy)).ping({ timeoutMs: 1000 })
    expect(legacy.methods.at(-1)).toBe('ping')
    const modern = new MemoryEndpoint(MODERN)
    await (await open(modern)).ping({ timeoutMs: 1000 })
    expect(modern.methods).toEqual(['server/discover', 'server/discover'])
  })

  test('answers the server, and takes its notices', async () => {
    const endpoint = new MemoryEndpoint(LEGACY)
    const seen: string[] = []
    await open(endpoint, {
      prepare: (client) => {
        client.setNotificationHandler('notifications/tools/list_changed', () => {
          seen.push('tools')
        })
      },
    })
    endpoint.say({ id: 'p', method: 'ping' })
    endpoint.say({ method: 'notifications/tools/list_changed' })
    await expect.poll(() => seen).toEqual(['tools'])
    expect(endpoint.sent.some(({ message }) => 'id' in message && message.id === 'p')).toBe(true)
  })

  test('passes on what goes wrong in between', async () => {
    const endpoint = new MemoryEndpoint(LEGACY)
    const errors: Error[] = []
    await open(endpoint, { onError: (error) => errors.push(error) })
    endpoint.onerror?.(new Error('a bad line'))
    expect(errors.map(({ message }) => message)).toEqual(['a bad line'])
  })

  test('has headers where each request has a stream of its own', async () => {
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

describe('notices of the newer era', () => {
  const acknowledge = (endpoint: MemoryEndpoint): void => {
    const { message } = endpoint.sent.at(-1) ?? {}
    endpoint.say({
      method: 'notifications/subscriptions/acknowledged',
      params: {
        notifications: {},
        _meta: { 'io.modelcontextprotocol/subscriptionId': Object(message).id },
      },
    })
  }
  const listening = { 'subscriptions/listen': () => SILENCE }

  test('are asked for anew before those of before are ended, which is no end by itself', async () => {
    const endpoint = new MemoryEndpoint({ ...MODERN, ...listening })
    const connection = await open(endpoint)
    let ends = 0
    const onEnd = (): void => void (ends += 1)
    const options = { signal: new AbortController().signal, timeoutMs: 1000, onEnd }
    for (const _ of [1, 2]) {
      const asked = connection.listen({ toolsListChanged: true }, options)
      await expect.poll(() => endpoint.methods.at(-1)).toBe('subscriptions/listen')
      acknowledge(endpoint)
      await asked
    }
    expect(endpoint.methods.slice(1)).toEqual([
      'subscriptions/listen',
      'subscriptions/listen',
      'notifications/cancelled',
    ])
    await new Promise(setImmediate)
    expect(ends).toBe(0)
  })

  test('that the server ends by itself are told of', async () => {
    const endpoint = new MemoryEndpoint({ ...MODERN, ...listening })
    const connection = await open(endpoint)
    const ended = Promise.withResolvers<void>()
    const { signal } = new AbortController()
    const options = { signal, timeoutMs: 1000, onEnd: () => ended.resolve() }
    const asked = connection.listen({ toolsListChanged: true }, options)
    await expect.poll(() => endpoint.methods.at(-1)).toBe('subscriptions/listen')
    acknowledge(endpoint)
    await asked
    endpoint.say({ id: Object(endpoint.sent.at(-1)?.message).id, result: {} })
    await ended.promise
  })

  test('that the server never agrees to are an error after a while', async () => {
    const connection = await open(new MemoryEndpoint({ ...MODERN, ...listening }))
    const options = { signal: new AbortController().signal, timeoutMs: 20, onEnd: () => undefined }
    const listened = connection.listen({ toolsListChanged: true }, options)
    await expect(listened).rejects.toMatchObject({ name: 'RpcTimeout', limitMs: 20 })
  })
})
