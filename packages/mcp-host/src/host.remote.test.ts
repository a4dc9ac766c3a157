import { describe, expect, test, vi } from 'vitest'

import { eventually, HttpServer, text } from '@mcp-host/mcp-testkit'
import { LEGACY, MODERN } from '@mcp-host/upstream/testing'
import { HostStage } from '../test/host-stage.ts'
import type { RemoteServerConfig } from './index.ts'

type Handlers = Parameters<typeof HttpServer.open>[0]

const tools = (...names: string[]): Handlers => ({
  'tools/list': () => ({ tools: names.map((name) => ({ name, inputSchema: { type: 'object' } })) }),
})
const config = (
  server: HttpServer,
  type: RemoteServerConfig['type'] = 'http',
): RemoteServerConfig => ({
  type,
  url: server.url,
  headers: {},
})
const connect = (server: HttpServer, more: Partial<RemoteServerConfig> = {}): Promise<HostStage> =>
  HostStage.start(() => ({ it: { ...config(server), ...more } }))

describe('an HTTP answer', () => {
  /** A server whose tool "odd" answers by `answer`, and whose tool "say" succeeds. */
  async function start(
    answer: NonNullable<Handlers[string]>,
    handlers: Handlers = {},
  ): Promise<{ readonly stage: HostStage; readonly server: HttpServer }> {
    const server = await HttpServer.open(
      {
        ...LEGACY,
        ...tools('odd', 'say'),
        'tools/call': (params, exchange) =>
          params['name'] === 'say' ? text('fine') : answer(params, exchange),
        ...handlers,
      },
      { type: 'http', hasSessions: true },
    )
    return { server, stage: await connect(server) }
  }

  test('an HTTP answer of 404 with a JSON-RPC error is that error, and does not end the session', async () => {
    const error = { code: -32_602, message: 'no such thing' }
    const { stage, server } = await start((_params, { id, response }) => {
      response.writeHead(404).end(JSON.stringify({ jsonrpc: '2.0', id, error }))
    })
    await expect(stage.host.callTool('it.odd')).rejects.toMatchObject({
      name: 'ProtocolError',
      rpcCode: -32_602,
      message: 'it.odd was refused: no such thing',
    })
    expect(await stage.call('it.say')).toBe('fine')
    expect(stage.find('it')).toMatchObject({ state: 'ready', restarts: 0 })
    expect(server.count('initialize')).toBe(1)
  })

  const failure = (code: number, message: string, id: unknown = null): string =>
    JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } })
  test.each<[number, string]>([
    [404, ''],
    [404, '{"error":{"code":-32001,"message":"Session not found"}}'],
    [404, failure(-32_600, 'Session not found', 'server-error')],
    [404, failure(-32_603, 'Session with given ID not found')],
    [404, '<html>Not Found</html>'],
    [410, 'Gone'],
    [400, failure(-32_000, 'Bad Request: No valid session ID provided')],
    [400, failure(-32_000, 'Bad Request: Server not initialized')],
    [400, 'Invalid session ID'],
    [401, 'Unauthorized: Session not found'],
    [422, 'Unexpected message, expect initialize request'],
  ])(
    'an HTTP answer of %i for the session, with the body %j, opens one other session for all calls',
    async (status, body) => {
      const { stage, server } = await start(() => text('odd'))
      server.gone = { status, body }
      server.sessions.clear()
      // None of the calls has reached a tool, so a call that is not safe to repeat is retried, too.
      const calls = ['it.say', 'it.odd', 'it.say'].map((tool) => stage.call(tool))
      expect(await Promise.all(calls)).toEqual(['fine', 'odd', 'fine'])
      expect(server.count('initialize')).toBe(2)
      expect(server.sessions.size).toBe(1)
      expect(stage.find('it')).toMatchObject({ state: 'ready', restarts: 1 })
    },
  )

  test.each<[string, boolean, NonNullable<Handlers[string]>]>([
    ['with a reset connection', true, (_params, { response }) => void response.destroy()],
    [
      'with an HTML page',
      true,
      (_params, { response }) => {
        response.setHeader('content-type', 'text/html').end('<html></html>')
      },
    ],
    ['of 502', true, (_params, { response }) => void response.writeHead(502).end('<html></html>')],
    ['of 429', false, (_params, { response }) => void response.writeHead(429).end('slow down')],
    ['of 503', true, (_params, { response }) => void response.writeHead(503).end('<html></html>')],
  ])(
    'an HTTP answer %s fails one call with its outcome, and does not end the session',
    async (_title, isOutcomeUnknown, answer) => {
      const { stage, server } = await start(answer)
      await expect(stage.host.callTool('it.odd')).rejects.toMatchObject({
        name: 'ServerUnavailableError',
        message: expect.stringContaining('the server "it" cannot be reached'),
        tool: 'odd',
        isOutcomeUnknown,
      })
      expect(await stage.call('it.say')).toBe('fine')
      expect(stage.find('it')).toMatchObject({ state: 'ready', restarts: 0 })
      expect(server.count('initialize')).toBe(1)
    },
  )

  test.each<[number, string]>([
    [400, 'the city is missing'],
    [401, 'the token has expired'],
    [422, failure(-32_602, 'the session title is too long', 1_000_000_001)],
  ])('an HTTP answer of %i with the body %j fails its call alone', async (status, body) => {
    const { stage, server } = await start((_params, { response }) => {
      response.writeHead(status).end(body)
    })
    await expect(stage.host.callTool('it.odd')).rejects.toThrow()
    expect(await stage.call('it.say')).toBe('fine')
    expect(server.count('initialize')).toBe(1)
  })

  test('an HTTP server that refuses every request of its session gets another one after a pause', async () => {
    const { stage, server } = await start(() => text('odd'))
    server.gone = { status: 500, body: 'oops' }
    server.sessions.clear()
    await expect(stage.host.callTool('it.say')).rejects.toThrow('cannot be reached')
    expect(server.count('ping')).toBe(0)
    await expect(stage.host.callTool('it.say')).rejects.toThrow('cannot be reached')
    await eventually(() => server.count('initialize') === 2)
    await eventually(() => stage.find('it').state === 'ready')
    expect(await stage.call('it.say')).toBe('fine')
  })

  test('an HTTP answer that breaks off makes the host ping the server', async () => {
    const { stage, server } = await start((_params, { response }) => void response.destroy())
    await stage.host.callTool('it.odd').catch(() => undefined)
    await eventually(() => server.count('ping') === 1)
    expect(stage.find('it').state).toBe('ready')
  })

  test('an HTTP answer that breaks off, followed by a failed ping, makes the server unavailable', async () => {
    const breakOff: NonNullable<Handlers[string]> = (_params, { response }) =>
      void response.destroy()
    const { stage } = await start(breakOff, { ping: breakOff })
    await stage.host.callTool('it.odd').catch(() => undefined)
    await eventually(() => stage.find('it').state === 'unavailable')
    expect(stage.find('it').error?.message).toContain('the server "it" does not answer')
    expect(stage.lines('will be restarted')).toHaveLength(1)
  })
})

test('a valid trace of a request is sent in its headers, too', async () => {
  const seen: unknown[] = []
  const server = await HttpServer.open({
    ...LEGACY,
    ...tools('say'),
    'tools/call': ({ _meta }, { response }) => {
      const { traceparent } = (_meta ?? {}) as { readonly traceparent?: string }
      seen.push([traceparent, response.req.headers['traceparent']])
      return text('fine')
    },
  })
  const stage = await connect(server)
  const trace = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
  for (const traceparent of [trace, 'a\nb']) {
    await stage.host.callTool('it.say', {}, { meta: { traceparent } })
  }
  await stage.host.callTool('it.say')
  expect(seen).toEqual([
    [trace, trace],
    ['a\nb', undefined],
    [undefined, undefined],
  ])
})

test('arguments that cannot be written as JSON are refused without affecting the server', async () => {
  const server = await HttpServer.open({
    ...LEGACY,
    ...tools('say'),
    'tools/call': () => text('fine'),
  })
  const stage = await connect(server)
  await expect(stage.host.callTool('it.say', { a: 1n }, { requestId: 'r' })).rejects.toMatchObject({
    name: 'ValidationError',
    message: expect.stringContaining('it.say: the arguments are no JSON'),
    tool: 'say',
    requestId: 'r',
  })
  expect(stage.host.getMetrics().servers['it']?.calls.inFlight).toBe(0)
  expect(server.count('tools/call')).toBe(0)
  expect(await stage.call('it.say')).toBe('fine')
  expect(server.count('ping')).toBe(0)
  expect(stage.find('it')).toMatchObject({ state: 'ready', restarts: 0 })
})

describe('notification streams', () => {
  const uris = ['a:', 'b:', 'c:']
  let reads = 0
  const resources: Handlers = {
    'resources/list': () => ({ resources: uris.map((uri) => ({ uri, name: uri })) }),
    'resources/templates/list': () => ({ resourceTemplates: [] }),
    'resources/read': ({ uri }) => {
      reads += 1
      return { contents: [{ uri, text: `${String(uri)} ${reads}` }], ttlMs: 60_000 }
    },
  }
  const discover = (capabilities: object): Handlers => ({
    'server/discover': (params) => ({
      ...Object(MODERN['server/discover']?.(params)),
      capabilities,
    }),
  })
  const subscribed = (server: HttpServer): (readonly string[])[] =>
    [...server.subscriptions].map((subscription) => subscription.uris)

  test('notifications arrive on one stream, however many resources are subscribed to', async () => {
    const server = await HttpServer.open({ ...discover({ resources: {} }), ...resources })
    const stage = await connect(server)
    await Promise.all(uris.map((uri) => stage.host.subscribe(uri)))
    await eventually(() => server.subscriptions.size === 1)
    expect(subscribed(server)).toEqual([uris])
    await stage.host.unsubscribe('b:')
    await eventually(() => server.subscriptions.size === 1)
    expect(subscribed(server)).toEqual([['a:', 'c:']])
  })

  test('a notification stream ends with the last subscription if the server has no list changes', async () => {
    const server = await HttpServer.open({ ...discover({ resources: {} }), ...resources })
    const stage = await connect(server)
    expect(server.subscriptions.size).toBe(0)
    await stage.host.subscribe('a:')
    expect(subscribed(server)).toEqual([['a:']])
    await stage.host.unsubscribe('a:')
    await eventually(() => server.subscriptions.size === 0)
    expect(server.count('subscriptions/listen')).toBe(1)
  })

  test('a notification stream that the server refuses is an error, and is not requested again', async () => {
    const requests: unknown[] = []
    const server: HttpServer = await HttpServer.open({
      ...discover({ resources: {} }),
      ...resources,
      'subscriptions/listen': ({ notifications }, { id, response }) => {
        const requestedUris: string[] = Object(notifications).resourceSubscriptions
        requests.push(requestedUris)
        if (requestedUris.includes('b:')) throw new Error('not this one')
        server.subscribe({ notifications }, { id, response })
      },
    })
    const stage = await connect(server)
    await stage.host.subscribe('a:')
    await expect(stage.host.subscribe('b:')).rejects.toMatchObject({
      name: 'ProtocolError',
      code: 'protocol',
      server: 'it',
      message: expect.stringContaining('not this one'),
    })
    await stage.host.subscribe('c:')
    expect(requests).toEqual([['a:'], ['a:', 'b:'], ['a:', 'c:']])
  })

  test('a notification stream that breaks is opened again, and missed lists and resources are read again', async () => {
    const server = await HttpServer.open({
      ...discover({ resources: { listChanged: true } }),
      ...resources,
    })
    const stage = await connect(server)
    await stage.host.subscribe('a:')
    await stage.host.getResource('a:')
    expect((await stage.host.getResource('a:'))._meta).toEqual({ 'mcp-host/cache': 'hit' })
    await eventually(() => server.subscriptions.size === 1)
    const lists = server.count('resources/list')
    server.dropStreams()
    await eventually(() => server.subscriptions.size === 0)
    await eventually(() => server.subscriptions.size === 1)
    expect(subscribed(server)).toEqual([['a:']])
    await eventually(() => server.count('resources/list') > lists)
    expect((await stage.host.getResource('a:'))._meta?.['mcp-host/cache']).toBeUndefined()
    expect(stage.find('it')).toMatchObject({ state: 'ready', restarts: 0 })

    const updates = stage.host.events({
      signal: AbortSignal.timeout(5000),
      types: ['resource-updated'],
    })
    server.notify('notifications/resources/updated', { uri: 'a:' })
    expect((await updates.next()).value).toMatchObject({ server: 'it', uri: 'a:' })
  })

  test('a notification stream is requested until the server accepts it again', async () => {
    let refusals = 0
    let isRefusing = false
    const server: HttpServer = await HttpServer.open({
      ...discover({ resources: { listChanged: true } }),
      ...resources,
      'subscriptions/listen': ({ notifications }, { id, response }) => {
        if (isRefusing) {
          refusals += 1
          isRefusing = false
          throw new Error('not now')
        }
        server.subscribe({ notifications }, { id, response })
      },
    })
    const stage = await connect(server)
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    isRefusing = true
    server.dropStreams()
    await eventually(() => server.subscriptions.size === 0)
    await eventually(async () => {
      await vi.advanceTimersByTimeAsync(100)
      return server.subscriptions.size === 1
    })
    expect(refusals).toBe(1)
    expect(stage.find('it')).toMatchObject({ state: 'ready', restarts: 0 })
  })
})

test('a server of HTTP+SSE whose stream breaks is restarted by its policy', async () => {
  const server = await HttpServer.open(
    { ...LEGACY, ...tools('say'), 'tools/call': () => text('fine') },
    { type: 'sse' },
  )
  const stage = await HostStage.start(() => ({ it: config(server, 'sse') }))
  expect(await stage.call('it.say')).toBe('fine')
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  server.dropStreams()
  const line = await eventually(() => stage.lines('will be restarted')[0])
  expect(stage.find('it')).toMatchObject({ state: 'unavailable', tools: [] })
  expect(server.count('initialize')).toBe(1)
  await vi.advanceTimersByTimeAsync(Number(line.fields['delayMs']))
  await eventually(() => stage.find('it').state === 'ready')
  expect(await stage.call('it.say')).toBe('fine')
  expect(stage.find('it').restarts).toBe(1)
  expect(server.streams.size).toBe(1)
})
