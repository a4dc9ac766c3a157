import { LOCAL } from '@mcp-host/contracts'
import { PolicyFile } from '@mcp-host/policy'
import { noClients } from '../test/no-clients.ts'
import { getEventListeners } from 'node:events'
import { signedId } from './messages/signed-id.ts'
import type { McpClientRecord, McpLogLevel } from '@mcp-host/contracts'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import type { EndpointReply } from './streams/endpoint-reply.ts'
import type { EndpointRequest } from './messages/endpoint-request.ts'
import { McpEndpoint } from './endpoint.ts'
import type { ServerListing } from './listing/server-listing.ts'
import { newSession, readSession, signSession } from '../test/test-sessions.ts'
import { MergedListing } from './listing/merged-listing.ts'
import { AccessPolicy } from './route/access-policy.ts'
import type {
  ServerReply,
  OutgoingRequest,
  ServerLog,
  ServerMessage,
  WatchRequest,
} from './servers.ts'

const shared: ServerListing = {
  server: 'shared',
  capabilities: { resources: { subscribe: true }, logging: {} },
  tools: [{ name: 'add', inputSchema: {} }],
  prompts: [],
  resources: [{ uri: 'mem://one', name: 'one' }],
  resourceTemplates: [],
}
const own: ServerListing = {
  server: 'own',
  isOwn: true,
  tools: [
    {
      name: 'ask',
      inputSchema: {
        type: 'object',
        properties: { city: { type: 'string', 'x-mcp-header': 'City' } },
      },
    },
  ],
  prompts: [],
  resources: [{ uri: 'own://one', name: 'one' }],
  resourceTemplates: [],
}

const text = new TextDecoder()
const bytes = new TextEncoder()
const OK: ServerReply = { type: 'result', json: bytes.encode('{"content":[]}') }

let listing: MergedListing
let records: Map<string, McpClientRecord>
/** Delays the reading of records. */
let reading: Promise<void> | undefined
let changed: Set<() => void>
let cancels: Map<string, () => void>
let sent: { server: string; request: OutgoingRequest }[]
let answer: (request: OutgoingRequest) => Promise<ServerReply> | ServerReply
let answers: unknown[]
/** Notices to supervisors. */
let notices: unknown[]
let watches: Map<string, WatchRequest>
let listeners: Map<string, (message: ServerMessage) => void>
let logListeners: Set<(log: ServerLog) => void>
let policy: AccessPolicy
let endpoint: McpEndpoint
let left: AbortController
let closing: AbortController

/** Adds an entry that is deleted at disposal. */
function addEntry<K, V>(map: Map<K, V>, key: K, value: V): Disposable {
  map.set(key, value)
  return { [Symbol.dispose]: () => void map.delete(key) }
}

beforeEach(() => {
  listing = new MergedListing([own, shared], ({ server, name }) => `${server}__${name}`)
  records = new Map()
  reading = undefined
  changed = new Set()
  cancels = new Map()
  sent = []
  answer = () => OK
  answers = []
  notices = []
  watches = new Map()
  listeners = new Map()
  logListeners = new Set()
  left = new AbortController()
  closing = new AbortController()
  policy = new AccessPolicy()
  endpoint = new McpEndpoint({
    signSession,
    policy,
    serverInfo: { name: 'us', version: '1' },
    clients: {
      ...noClients,
      record: (client) => records.get(client) ?? {},
      read: () => reading,
      async change(client, change) {
        records.set(client, change(records.get(client) ?? {}))
        for (const listener of changed) listener()
      },
      onChange(listener) {
        changed.add(listener)
        return { [Symbol.dispose]: () => void changed.delete(listener) }
      },
      cancel: (client, requestId) => cancels.get(`${client} ${requestId}`)?.(),
      onCancel: (client, requestId, listener) =>
        addEntry(cancels, `${client} ${requestId}`, listener),
    },
    servers: {
      async send(server, request) {
        sent.push({ server, request })
        return answer(request)
      },
      resume: () => Promise.reject(new Error('no request is resumable')),
      answer: (...args) => void answers.push(args),
      tell: (...args) => void notices.push(args),
      watch: (server, request) => addEntry(watches, server, request),
      listen: (client, listener) => addEntry(listeners, client, listener),
      onLog(listener) {
        logListeners.add(listener)
        return { [Symbol.dispose]: () => void logListeners.delete(listener) }
      },
    },
  })
})

const capabilities = { sampling: {}, elicitation: {} }
const sessionId = newSession(capabilities)
const id = readSession(sessionId)?.id ?? ''
const usual = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

async function exchange(
  method: string,
  body: object | undefined,
  headers: Readonly<Record<string, string>> = {},
): Promise<EndpointReply> {
  const all: Readonly<Record<string, string>> = { ...usual, ...headers }
  const request: EndpointRequest = {
    method,
    principal: LOCAL,
    header: (name) => all[name],
    body: bytes.encode(JSON.stringify(body)),
    signal: left.signal,
    closing: closing.signal,
  }
  return endpoint.handle(request, {
    get listing() {
      return listing
    },
    onChange(listener) {
      changed.add(listener)
      return { [Symbol.dispose]: () => void changed.delete(listener) }
    },
  })
}

const messageOf = (server: string, data = server): ServerMessage => ({
  server,
  method: 'notifications/message',
  params: { level: 'info', data },
})

const inSession = { 'mcp-session-id': sessionId }

const send = (message: object, headers: Readonly<Record<string, string>> = inSession) =>
  exchange('POST', { jsonrpc: '2.0', ...message }, headers)

async function ask(method: string, params: object = {}, headers = inSession) {
  const { status, body } = await send({ id: 1, method, params }, headers)
  return { status, ...JSON.parse(text.decode(body as Uint8Array)) }
}

/** The messages of a stream without heartbeat comments. */
async function* messages({
  body,
  headers,
}: EndpointReply): AsyncGenerator<Record<string, unknown>> {
  expect(headers['content-type']).toBe('text/event-stream')
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    const [, data] = /^event: message\ndata: (.*)\n\n$/.exec(text.decode(chunk)) ?? []
    if (data !== undefined) yield JSON.parse(data)
  }
}

async function next(stream: AsyncGenerator<Record<string, unknown>>) {
  return (await stream.next()).value
}

describe('sessions of legacy clients', () => {
  test('a session starts with initialize, whose answer has its id', async () => {
    const params = { protocolVersion: '2025-11-25', capabilities }
    const { headers } = await send({ id: 1, method: 'initialize', params }, {})
    expect(readSession(headers['mcp-session-id'] ?? '')?.capabilities).toEqual(capabilities)
  })

  test('requests are sent with their session', async () => {
    records.set(id, { logLevel: 'error' })
    await ask('tools/call', { name: 'own__ask' })
    await ask('tools/call', { name: 'shared__add' })
    expect(sent).toMatchObject([
      {
        server: 'own',
        request: { isOwn: true, client: { id, capabilities, logLevel: 'error' } },
      },
      { server: 'shared', request: { client: { id } } },
    ])
    expect(sent[1]?.request.isOwn).toBe(false)
  })

  test.each([
    ['POST', 'nonsense'],
    ['GET', 'nonsense'],
    ['DELETE', 'nonsense'],
  ])('an unknown session is refused: %s', async (method, unknownId) => {
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
    const { status } = await exchange(method, message, { 'mcp-session-id': unknownId })
    expect(status).toBe(404)
  })

  test('a session that its client deletes ends at all gateways and processes', async () => {
    const stream = messages(await exchange('GET', undefined, inSession))
    const end = stream.next()
    expect(await exchange('DELETE', undefined, inSession)).toMatchObject({ status: 204 })
    expect(await ask('tools/list')).toMatchObject({ status: 404, error: { code: -32_001 } })
    expect(notices).toEqual([['own', id, 'leave']])
    expect(await end).toMatchObject({ done: true })
  })

  test('initialize with the id of an ended session starts another', async () => {
    records.set(id, { isOver: true })
    expect(await ask('initialize', {})).toMatchObject({ status: 200 })
  })

  test('a session sets its log level', async () => {
    expect(await ask('logging/setLevel', { level: 'warning' })).toMatchObject({ result: {} })
    expect(records.get(id)).toEqual({ logLevel: 'warning' })
    expect(await ask('logging/setLevel', { level: 'loud' })).toMatchObject({
      error: { code: -32_602, message: expect.stringContaining('level: must be debug, info') },
    })
  })

  test('a subscription is recorded once its server has accepted it', async () => {
    await ask('resources/subscribe', { uri: 'mem://one' })
    await ask('resources/subscribe', { uri: 'own://one' })
    await ask('resources/subscribe', { uri: 'mem://one' })
    expect(records.get(id)?.subscriptions).toEqual(['own://one', 'mem://one'])
    expect(sent.map(({ server, request }) => [server, request.params, request.isOwn])).toEqual([
      ['shared', { uri: 'mem://one' }, undefined],
      ['own', { uri: 'own://one' }, true],
      ['shared', { uri: 'mem://one' }, undefined],
    ])
    await ask('resources/unsubscribe', { uri: 'mem://one' })
    expect(records.get(id)?.subscriptions).toEqual(['own://one'])
    answer = () => ({ type: 'error', json: bytes.encode('{"code":-32002,"message":"no"}') })
    expect(await ask('resources/subscribe', { uri: 'mem://one' })).toMatchObject({
      error: { code: -32_002, message: 'no' },
    })
    expect(await ask('resources/subscribe', { uri: 'mem://none' })).toMatchObject({
      error: { code: -32_602 },
    })
    expect(records.get(id)?.subscriptions).toEqual(['own://one'])
  })

  test('an ended session is refused by a gateway that must read its record first', async () => {
    reading = Promise.resolve().then(() => {
      records.set(id, { isOver: true })
      reading = undefined
    })
    expect(await ask('tools/list')).toMatchObject({ status: 404 })
  })

  test('a forged session id is refused and leaves no record', async () => {
    const forged = `0${id.slice(1)}.${sessionId.split('.')[1]}`
    const headers = { 'mcp-session-id': forged.startsWith(id) ? `1${forged.slice(1)}` : forged }
    expect(await ask('resources/subscribe', { uri: 'mem://one' }, headers)).toMatchObject({
      status: 404,
    })
    expect(records.size).toBe(0)
  })

  test('a subscription to a long URI or beyond the size of a record is refused', async () => {
    const long = `mem://${'x'.repeat(8_190)}`
    expect(await ask('resources/subscribe', { uri: long })).toMatchObject({
      error: { code: -32_602, message: expect.stringContaining('at most 8192') },
    })
    const subscriptions = Array.from(
      { length: 20 },
      (_, each) => `mem://${each}${'x'.repeat(6_560)}`,
    )
    records.set(id, { subscriptions })
    expect(await ask('resources/subscribe', { uri: 'mem://one' })).toMatchObject({
      error: { code: -32_602, message: expect.stringContaining('end some first') },
    })
    expect(sent).toEqual([])
  })

  test.each(['logging/setLevel', 'resources/subscribe'])(
    'a session is required for %s',
    async (method) => {
      const reply = await send({ id: 1, method, params: {} }, {})
      expect(reply.status).toBe(400)
      expect(text.decode(reply.body as Uint8Array)).toContain('Mcp-Session-Id')
    },
  )

  test('a change of roots is passed on to the processes of the session', async () => {
    const reply = await send({ method: 'notifications/roots/list_changed' })
    expect(reply.status).toBe(202)
    expect(notices).toEqual([['own', id, 'roots-changed']])
  })

  test('a session cancels only its own requests', async () => {
    answer = ({ signal }) =>
      new Promise((_, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason))
      })
    const called = ask('tools/call', { name: 'shared__add' })
    const other = { 'mcp-session-id': newSession({}) }
    const cancel = { method: 'notifications/cancelled', params: { requestId: 1 } }
    await send(cancel, other)
    await send({ method: 'notifications/cancelled', params: { requestId: 2 } })
    expect(sent[0]?.request.signal?.aborted).toBe(false)
    await send(cancel)
    expect(await called).toMatchObject({ error: { message: 'the request was cancelled' } })
    expect(cancels.size).toBe(0)
  })
})

describe('requests of sessions', () => {
  test('a request becomes a stream when its server sends a message', async () => {
    const ended = Promise.withResolvers<ServerReply>()
    answer = ({ listener }) => {
      listener?.onNotice('notifications/message', '{"level":"info","data":1}')
      listener?.onNotice('notifications/progress', '{"progress":1}')
      listener?.onAsk('own.1-2', 'elicitation/create', '{"message":"?"}')
      return ended.promise
    }
    const stream = messages(
      await send({ id: 'x', method: 'tools/call', params: { name: 'own__ask' } }),
    )
    expect(await next(stream)).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/message',
      params: { level: 'info', data: 1 },
    })
    // Progress is not sent without a progress token.
    expect(await next(stream)).toEqual({
      jsonrpc: '2.0',
      id: 'own.1-2',
      method: 'elicitation/create',
      params: { message: '?' },
    })
    const response = { jsonrpc: '2.0', id: 'own.1-2', result: { action: 'decline' } }
    // Another client must not answer, and the supervisor compares the session.
    expect(await exchange('POST', response, {})).toMatchObject({ status: 202 })
    expect(answers).toEqual([])
    expect(await exchange('POST', response, inSession)).toMatchObject({ status: 202 })
    expect(answers).toEqual([['own.1-2', expect.any(String), response]])
    ended.resolve(OK)
    expect(await next(stream)).toEqual({ jsonrpc: '2.0', id: 'x', result: { content: [] } })
    expect(await stream.next()).toMatchObject({ done: true })
  })

  test('the id of a chat is none of a session', async () => {
    const chat = `${signedId(signSession)}.e30`
    const refused = await exchange(
      'POST',
      { jsonrpc: '2.0', id: 1, method: 'ping' },
      {
        'mcp-session-id': chat,
      },
    )
    expect(refused).toMatchObject({ status: 404 })
  })

  test('a client that accepts no stream gets its answer as JSON', async () => {
    answer = ({ listener, client }) => {
      // Without a stream there are no server requests, but the dedicated process is used.
      expect([listener, client?.id]).toEqual([undefined, id])
      return OK
    }
    const headers = { ...inSession, accept: 'application/json' }
    expect(await ask('tools/call', { name: 'own__ask' }, headers)).toMatchObject({ status: 200 })
  })
})

test('a batch of a session is sent with its session', async () => {
  const call = { jsonrpc: '2.0', method: 'tools/call', params: { name: 'own__ask' } }
  const batch = [1, 2].map((each) => ({ ...call, id: each }))
  const { status } = await exchange('POST', batch, inSession)
  expect(status).toBe(200)
  expect(sent.map(({ request }) => request.client?.id)).toEqual([id, id])
})

describe('notification streams of sessions', () => {
  const open = async () => messages(await exchange('GET', undefined, inSession))

  test('a stream has the logs of the shared servers of its mount from the level of the client', async () => {
    const stream = await open()
    const log = (server: string, level: McpLogLevel): void => {
      for (const each of logListeners) each({ server, level, params: { level, data: server } })
    }
    log('elsewhere', 'error')
    log('shared', 'debug')
    records.set(id, { logLevel: 'error' })
    log('shared', 'warning')
    log('shared', 'error')
    const method = 'notifications/message'
    for (const level of ['debug', 'error']) {
      expect(await next(stream)).toMatchObject({ method, params: { level, data: 'shared' } })
    }
    left.abort()
    await vi.waitFor(() => expect(logListeners.size).toBe(0))
  })

  test('a log message is encoded once for all streams', async () => {
    const streams = [
      await exchange('GET', undefined, inSession),
      await exchange('GET', undefined, inSession),
    ]
    const log: ServerLog = { server: 'shared', level: 'error', params: { data: 1 } }
    for (const listener of logListeners) listener(log)
    left.abort()
    const chunks = await Promise.all(
      streams.map(({ body }) => Array.fromAsync(body as AsyncIterable<Uint8Array>)),
    )
    expect(chunks.map(({ length }) => length)).toEqual([2, 2])
    expect(chunks[0]?.[1]).toBe(chunks[1]?.[1])
  })

  test('a stream has an announced change of a list whose items are equal', async () => {
    const stream = await open()
    const announce = (announcedAt: ServerListing['announcedAt']): void => {
      const serverListings = [own, { ...shared, announcedAt }]
      listing = new MergedListing(serverListings, ({ server, name }) => `${server}__${name}`)
      for (const listener of changed) listener()
    }
    announce({ prompts: 5 })
    // As by another process of the server, without announcements.
    announce(undefined)
    announce({ tools: 6 })
    announce({ tools: 6 })
    announce({ tools: 6, resources: 7 })
    for (const list of ['prompts', 'tools', 'resources']) {
      expect(await next(stream)).toMatchObject({ method: `notifications/${list}/list_changed` })
    }
  })

  test('a stream has changes of lists and of subscribed resources', async () => {
    records.set(id, { subscriptions: ['mem://one', 'own://one', 'mem://none'] })
    const stream = await open()
    expect(watches.get('shared')).toMatchObject({ uris: ['mem://one'] })
    expect(watches.get('own')).toMatchObject({ uris: ['own://one'], client: id })
    watches.get('shared')?.onUpdated('mem://other')
    watches.get('shared')?.onUpdated('mem://one')
    expect(await next(stream)).toMatchObject({
      method: 'notifications/resources/updated',
      params: { uri: 'mem://one' },
    })
    listing = new MergedListing([shared], ({ server, name }) => `${server}__${name}`)
    for (const listener of changed) listener()
    expect(await next(stream)).toMatchObject({ method: 'notifications/tools/list_changed' })
    expect(await next(stream)).toMatchObject({ method: 'notifications/resources/list_changed' })
    records.set(id, { subscriptions: [] })
    for (const listener of changed) listener()
    expect(watches.size).toBe(0)
  })

  test('an open stream has nothing of a server while the policy denies it', async () => {
    records.set(id, { subscriptions: ['mem://one', 'own://one'] })
    const stream = await open()
    const emit = (): void => {
      listeners.get(id)?.(messageOf('own'))
      for (const each of logListeners) {
        each({ server: 'shared', level: 'error', params: { level: 'error', data: 'shared' } })
      }
    }
    policy.set(PolicyFile.parse({ rules: [{ server: '*', effect: 'deny' }] }))
    expect(watches.size).toBe(0)
    emit()
    policy.set(PolicyFile.parse({ rules: [] }))
    expect(watches.size).toBe(2)
    emit()
    const said: unknown[] = []
    for (let count = 0; count < 6; count++) said.push(await next(stream))
    const [tools, resources] = ['tools', 'resources'].map((list) => ({
      method: `notifications/${list}/list_changed`,
    }))
    const logs = ['own', 'shared'].map((data) => ({ params: { data } }))
    expect(said).toMatchObject([tools, resources, tools, resources, ...logs])
  })

  test('a stream has messages of servers outside of requests', async () => {
    const stream = await open()
    listeners.get(id)?.({ server: 'own', method: 'roots/list', params: {}, ask: 'own.1' })
    listeners.get(id)?.(messageOf('own'))
    expect(await next(stream)).toEqual({
      jsonrpc: '2.0',
      id: 'own.1',
      method: 'roots/list',
      params: {},
    })
    expect(await next(stream)).toMatchObject({ params: { level: 'info' } })
  })

  test.each([
    ['the client leaves', () => left.abort()],
    ['the gateway stops', () => closing.abort()],
  ])('a stream releases its resources when %s', async (_, end) => {
    records.set(id, { subscriptions: ['mem://one'] })
    const stream = await open()
    const last = stream.next()
    end()
    expect(await last).toMatchObject({ done: true })
    expect([watches.size, listeners.size, changed.size]).toEqual([0, 0, 0])
    const held = [left, closing].flatMap(({ signal }) => getEventListeners(signal, 'abort'))
    expect(held).toEqual([])
  })

  test('the streams of one principal share a limit for messages that are not read', async () => {
    const streams: EndpointReply[] = []
    for (let count = 0; count < 6; count++) {
      const headers = { 'mcp-session-id': newSession(capabilities) }
      streams.push(await exchange('GET', undefined, headers))
    }
    const large = messageOf('own', 'x'.repeat(6 * 1024 * 1024))
    for (const listener of listeners.values()) listener(large)
    left.abort()
    const read = streams.map((stream) => Array.fromAsync(messages(stream)))
    const counts = (await Promise.all(read)).map(({ length }) => length)
    expect(counts).toEqual([0, 1, 1, 1, 1, 1])
  })

  test('a stream is refused to a client that accepts none', async () => {
    const reply = await exchange('GET', undefined, { ...inSession, accept: 'application/json' })
    expect(reply.status).toBe(406)
  })
})

const META = 'io.modelcontextprotocol'
const modern = {
  [`${META}/protocolVersion`]: '2026-07-28',
  [`${META}/clientInfo`]: { name: 'c', version: '1' },
  [`${META}/clientCapabilities`]: {},
}

function sendModern(
  method: string,
  params: Readonly<Record<string, unknown>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<EndpointReply> {
  const named = typeof params['name'] === 'string' ? { 'mcp-name': params['name'] } : {}
  const all = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...named, ...headers }
  return send({ id: 1, method, params: { ...params, _meta: modern } }, all)
}

describe('subscriptions of modern clients', () => {
  const listen = (notifications: unknown) => sendModern('subscriptions/listen', { notifications })

  test.each([
    ['a URI that is too long', [`mem://${'x'.repeat(8_190)}`]],
    ['too many URIs', Array.from({ length: 1_001 }, (_, each) => `mem://${each}`)],
  ])('a subscription to %s is refused', async (_, resourceSubscriptions) => {
    const { body } = await listen({ resourceSubscriptions })
    expect(JSON.parse(text.decode(body as Uint8Array))).toMatchObject({
      error: {
        code: -32_602,
        message: expect.stringMatching(/^notifications\.resourceSubscriptions: /),
      },
    })
    expect(watches.size).toBe(0)
  })

  test('a subscription is acknowledged and receives its notifications', async () => {
    const stream = messages(
      await listen({
        toolsListChanged: true,
        promptsListChanged: false,
        resourceSubscriptions: ['mem://one'],
      }),
    )
    const _meta = { [`${META}/subscriptionId`]: 1 }
    expect(await next(stream)).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/subscriptions/acknowledged',
      params: {
        notifications: { toolsListChanged: true, resourceSubscriptions: ['mem://one'] },
        _meta,
      },
    })
    watches.get('shared')?.onUpdated('mem://one')
    expect(await next(stream)).toMatchObject({ params: { uri: 'mem://one', _meta } })
    listing = new MergedListing([own], ({ server, name }) => `${server}__${name}`)
    for (const listener of changed) listener()
    expect(await next(stream)).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/tools/list_changed',
      params: { _meta },
    })
    closing.abort()
    expect(await next(stream)).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: { resultType: 'complete', _meta },
    })
    expect(await stream.next()).toMatchObject({ done: true })
    expect([watches.size, changed.size]).toEqual([0, 0])
  })

  test('an open subscription ends at a server that the policy has denied since', async () => {
    const notifications = { toolsListChanged: true, resourceSubscriptions: ['mem://one'] }
    const stream = messages(await listen(notifications))
    expect(await next(stream)).toMatchObject({ params: { notifications } })
    expect(watches.has('shared')).toBe(true)
    policy.set(PolicyFile.parse({ rules: [{ server: 'shared', effect: 'deny' }] }))
    expect(watches.has('shared')).toBe(false)
    expect(await next(stream)).toMatchObject({ method: 'notifications/tools/list_changed' })
  })

  test('the subscriptions of all streams together are limited, until one ends', async () => {
    const many = (stream: number) =>
      Array.from({ length: 1_000 }, (_, each) => `mem://${stream}/${each}`)
    await Promise.all(
      Array.from({ length: 20 }, (_, stream) => listen({ resourceSubscriptions: many(stream) })),
    )
    const more = { resourceSubscriptions: ['mem://more'] }
    const { body } = await listen(more)
    expect(JSON.parse(text.decode(body as Uint8Array))).toMatchObject({
      error: {
        code: -32_000,
        message: expect.stringContaining('20000'),
        data: { retryable: true },
      },
    })
    // Streams without subscriptions are not limited.
    expect((await listen({ toolsListChanged: true })).body).not.toBeInstanceOf(Uint8Array)
    closing.abort()
    closing = new AbortController()
    expect((await listen(more)).body).not.toBeInstanceOf(Uint8Array)
  })

  test('a subscription without notifications is refused', async () => {
    const { body } = await listen(undefined)
    expect(text.decode(body as Uint8Array)).toContain('-32602')
  })
})

test('a missing capability of a modern client is answered with the status 400', async () => {
  answer = () => ({ type: 'error', json: bytes.encode('{"code":-32021}'), code: -32_021 })
  expect((await sendModern('tools/call', { name: 'shared__add' })).status).toBe(400)
  answer = () => ({ type: 'error', json: bytes.encode('{"code":-32602}'), code: -32_602 })
  expect((await sendModern('tools/call', { name: 'shared__add' })).status).toBe(200)
})

test.each<[number, string, string | undefined, unknown]>([
  [200, 'equal', 'Oslo', 'Oslo'],
  [200, 'equal in Base64', '=?base64?w4Vz?=', 'Ås'],
  [200, 'both missing', undefined, undefined],
  [200, 'null without a header', undefined, null],
  [400, 'different', 'Oslo', 'Rome'],
  [400, 'without a header', undefined, 'Rome'],
  [400, 'without an argument', 'Rome', undefined],
  [400, 'invalid in Base64', '=?base64?w4V?=', 'Ås'],
])(
  'the status is %i for arguments that are repeated in headers: %s',
  async (status, _, header, city) => {
    const params = { name: 'own__ask', arguments: { city } }
    const headers: Record<string, string> = header === undefined ? {} : { 'mcp-param-city': header }
    const reply = await sendModern('tools/call', params, headers)
    expect(reply.status).toBe(status)
    expect(sent).toHaveLength(status === 200 ? 1 : 0)
    if (status === 400) expect(text.decode(reply.body as Uint8Array)).toContain('-32020')
  },
)

test('legacy clients need not repeat arguments in headers', async () => {
  const params = { name: 'own__ask', arguments: { city: 'Rome' } }
  expect(await ask('tools/call', params)).toMatchObject({ status: 200, result: { content: [] } })
})
