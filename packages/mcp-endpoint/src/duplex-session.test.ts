import { BusError, LOCAL } from '@mcp-host/contracts'
import { noClients } from '../test/no-clients.ts'
import type { McpClientRecord } from '@mcp-host/contracts'
import { beforeEach, describe, expect, test } from 'vitest'
import { nothing } from '../test/no-clients.ts'
import { DuplexSession } from './duplex-session.ts'
import { McpEndpoint } from './endpoint.ts'
import type { ServerListing } from './listing/server-listing.ts'
import { MergedListing } from './listing/merged-listing.ts'
import { signSession } from '../test/test-sessions.ts'
import type { ServerMessage, ServerReply, OutgoingRequest } from './servers.ts'

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
  resources: [],
  resourceTemplates: [],
}

const text = new TextDecoder()
const bytes = new TextEncoder()
const OK: ServerReply = { type: 'result', json: bytes.encode('{"content":[]}') }
const modern = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'c', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

let changed: Set<() => void>
let listing: MergedListing
let records: Map<string, McpClientRecord>
let requests: OutgoingRequest[]
let answer: (request: OutgoingRequest) => Promise<ServerReply> | ServerReply
let answers: unknown[]
/** Notices to supervisors. */
let notices: unknown[]
let cancelled: unknown[]
let listeners: Map<string, (message: ServerMessage) => void>
let closing: AbortController
let sent: Record<string, unknown>[]
let duplex: DuplexSession
let takeRequest: () => undefined
beforeEach(() => {
  takeRequest = () => undefined
  changed = new Set()
  listing = new MergedListing([own], ({ name }) => name)
  records = new Map()
  requests = []
  answer = () => OK
  answers = []
  notices = []
  cancelled = []
  listeners = new Map()
  closing = new AbortController()
  sent = []
  const onChange = (listener: () => void): Disposable => {
    changed.add(listener)
    return { [Symbol.dispose]: () => void changed.delete(listener) }
  }
  const cancels = new Map<string, () => void>()
  const endpoint = new McpEndpoint({
    signSession,
    serverInfo: { name: 'us', version: '1' },
    clients: {
      ...noClients,
      record: (client) => records.get(client) ?? {},
      async change(client, change) {
        records.set(client, change(records.get(client) ?? {}))
      },
      onChange,
      cancel(client, requestId) {
        cancelled.push(requestId)
        cancels.get(`${client} ${requestId}`)?.()
      },
      onCancel(client, requestId, listener) {
        cancels.set(`${client} ${requestId}`, listener)
        return nothing
      },
    },
    limits: {
      request: () => takeRequest(),
      stream: () => undefined,
    },
    servers: {
      async send(_, request) {
        requests.push(request)
        const left = Promise.withResolvers<never>()
        request.signal?.addEventListener('abort', () => left.reject(request.signal?.reason))
        return Promise.race([answer(request), left.promise])
      },
      resume: () => Promise.reject(new Error('no request is resumable')),
      answer: (...args) => void answers.push(args),
      tell: (server, _, what) => void notices.push([server, what]),
      watch: () => nothing,
      onLog: () => nothing,
      listen(client, listener) {
        listeners.set(client, listener)
        return { [Symbol.dispose]: () => void listeners.delete(client) }
      },
    },
  })
  duplex = new DuplexSession({
    endpoint,
    principal: LOCAL,
    virtualServer: {
      get listing() {
        return listing
      },
      onChange,
    },
    closing: closing.signal,
    send: (message) => void sent.push(JSON.parse(text.decode(message))),
  })
})

const sendToGateway = (message: unknown): Promise<void> =>
  duplex.take(bytes.encode(JSON.stringify(message)))
const ask = (id: number | string, method: string, params: object = {}): Promise<void> =>
  sendToGateway({ jsonrpc: '2.0', id, method, params })
const notify = (method: string, params: object = {}): Promise<void> =>
  sendToGateway({ jsonrpc: '2.0', method, params })
const initialize = (id = 0): Promise<void> =>
  ask(id, 'initialize', { protocolVersion: '2025-11-25', capabilities: { elicitation: {} } })
const never = (): Promise<never> => new Promise(() => undefined)

/** Resolves after all pending work that waits for no I/O. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('legacy clients', () => {
  test('a legacy client has the session of its connection', async () => {
    await initialize()
    expect(sent).toMatchObject([{ id: 0, result: { protocolVersion: '2025-11-25' } }])
    await ask(1, 'tools/call', { name: 'ask' })
    expect(requests).toMatchObject([{ client: { capabilities: { elicitation: {} } } }])
    expect(sent[1]).toEqual({ jsonrpc: '2.0', id: 1, result: { content: [] } })
  })

  test('a request that is sent before the answer to initialize has the session', async () => {
    const initialized = initialize()
    await Promise.all([initialized, ask(1, 'tools/call', { name: 'ask' })])
    expect(requests).toMatchObject([{ client: { capabilities: { elicitation: {} } } }])
  })

  test('a second initialize is refused', async () => {
    await initialize()
    await initialize(1)
    const message = 'this connection has its session already'
    expect(sent[1]).toMatchObject({ id: 1, error: { code: -32_600, message } })
  })

  test('server requests and progress are sent during a call', async () => {
    await initialize()
    const reply = Promise.withResolvers<ServerReply>()
    answer = ({ listener }) => {
      listener?.onNotice('notifications/progress', '{"progress":1}')
      listener?.onAsk('own.q1', 'elicitation/create', '{"message":"Who?"}')
      return reply.promise
    }
    const called = ask(1, 'tools/call', { name: 'ask', _meta: { progressToken: 7 } })
    await settled()
    expect(sent.slice(1)).toMatchObject([
      { method: 'notifications/progress', params: { progressToken: 7, progress: 1 } },
      { id: 'own.q1', method: 'elicitation/create', params: { message: 'Who?' } },
    ])
    await sendToGateway({ jsonrpc: '2.0', id: 'own.q1', result: { action: 'decline' } })
    expect(answers).toMatchObject([
      ['own.q1', expect.any(String), { result: { action: 'decline' } }],
    ])
    reply.resolve(OK)
    await called
    expect(sent[3]).toMatchObject({ id: 1, result: {} })
  })

  test('messages outside of requests are sent after notifications/initialized', async () => {
    await initialize()
    expect(listeners.size).toBe(0)
    await notify('notifications/initialized')
    await notify('notifications/initialized')
    await settled()
    const [listener] = listeners.values()
    listener?.({ server: 'own', method: 'notifications/message', params: { data: 'hi' } })
    listener?.({ server: 'own', method: 'roots/list', ask: 'own.q2' })
    listing = new MergedListing([], ({ name }) => name)
    for (const change of changed) change()
    await settled()
    expect(sent.slice(1)).toMatchObject([
      { method: 'notifications/message', params: { data: 'hi' } },
      { id: 'own.q2', method: 'roots/list' },
      { method: 'notifications/tools/list_changed' },
    ])
  })

  test('a cancelled request of a legacy client gets no answer', async () => {
    answer = never
    await initialize()
    const called = ask(1, 'tools/call', { name: 'ask' })
    await settled()
    await notify('notifications/cancelled', { requestId: 1 })
    await called
    expect(cancelled).toEqual([1])
    expect(requests[0]?.signal?.aborted).toBe(true)
    expect(sent).toHaveLength(1)
    expect(duplex.isIdle).toBe(true)
  })

  test('a legacy client that leaves ends its session and requests', async () => {
    answer = never
    await initialize()
    await notify('notifications/initialized')
    void ask(1, 'tools/call', { name: 'ask' })
    await settled()
    await duplex.leave()
    expect(requests[0]?.signal?.aborted).toBe(true)
    expect(notices).toEqual([['own', 'leave']])
    expect([...records.values()]).toEqual([{ isOver: true }])
    expect([listeners.size, changed.size]).toEqual([0, 0])
  })

  test('a request that has sent notices can be cancelled', async () => {
    const reply = Promise.withResolvers<ServerReply>()
    answer = ({ listener }) => {
      listener?.onNotice('notifications/message', '{"data":"hi"}')
      return reply.promise
    }
    await initialize()
    const called = ask(1, 'tools/call', { name: 'ask' })
    await settled()
    await notify('notifications/cancelled', { requestId: 1 })
    await called
    expect(sent.map(({ method }) => method)).toEqual([undefined, 'notifications/message'])
  })

  test('a request without a session can be cancelled', async () => {
    answer = never
    void ask(1, 'tools/call', { name: 'ask' })
    void ask(2, 'tools/call', { name: 'ask' })
    await settled()
    await notify('notifications/cancelled', { requestId: 1 })
    expect(requests.map(({ signal }) => signal?.aborted)).toEqual([true, false])
    await duplex.leave()
    expect(requests[1]?.signal?.aborted).toBe(true)
  })

  test('a client that leaves without a session leaves no record', async () => {
    await ask(1, 'tools/list')
    await duplex.leave()
    expect(sent).toMatchObject([{ id: 1, result: { tools: [{ name: 'ask' }] } }])
    expect([notices, records.size]).toEqual([[], 0])
  })
})

describe('modern clients', () => {
  test('a modern request needs no headers', async () => {
    await ask(1, 'tools/call', { name: 'ask', arguments: { city: 'Oslo' }, _meta: modern })
    expect(sent).toEqual([{ jsonrpc: '2.0', id: 1, result: { content: [] } }])
    expect(requests).toMatchObject([{ era: 'modern', params: { arguments: { city: 'Oslo' } } }])
  })

  test('a modern request is cancelled by a notification', async () => {
    answer = never
    const called = ask('a', 'tools/call', { name: 'ask', _meta: modern })
    await settled()
    await notify('notifications/cancelled', { requestId: 'b' })
    expect(requests[0]?.signal?.aborted).toBe(false)
    await notify('notifications/cancelled', { requestId: 'a' })
    await called
    expect(requests[0]?.signal?.aborted).toBe(true)
    expect(sent).toEqual([])
  })

  test('a subscription receives changes until it is cancelled', async () => {
    const notifications = { toolsListChanged: true }
    const subscription = ask(1, 'subscriptions/listen', { notifications, _meta: modern })
    await settled()
    listing = new MergedListing([], ({ name }) => name)
    for (const change of changed) change()
    await settled()
    expect(sent.map(({ method }) => method)).toEqual([
      'notifications/subscriptions/acknowledged',
      'notifications/tools/list_changed',
    ])
    await notify('notifications/cancelled', { requestId: 1 })
    await subscription
    expect([sent.length, changed.size]).toEqual([2, 0])
  })

  test('a subscription is completed when the gateway stops', async () => {
    const subscription = ask(1, 'subscriptions/listen', { notifications: {}, _meta: modern })
    await settled()
    closing.abort()
    await subscription
    expect(sent.at(-1)).toMatchObject({ id: 1, result: { resultType: 'complete' } })
  })

  test('a modern client that leaves cancels its requests', async () => {
    answer = never
    void ask(1, 'tools/call', { name: 'ask', _meta: modern })
    await settled()
    await duplex.leave()
    expect(requests[0]?.signal?.aborted).toBe(true)
    expect([sent, notices]).toEqual([[], []])
  })
})

describe('invalid messages', () => {
  test.each([
    ['{"jsonrpc"', -32_700],
    ['17', -32_600],
    ['[]', -32_600],
    ['{"jsonrpc":"1.0","id":1}', -32_600],
  ])('the invalid message %s is answered, and the connection stays open', async (message, code) => {
    await duplex.take(bytes.encode(message))
    expect(sent).toMatchObject([{ error: { code } }])
    await ask(2, 'ping')
    expect(sent[1]).toEqual({ jsonrpc: '2.0', id: 2, result: {} })
  })

  test('a message that is nested too deep is refused', async () => {
    const deep = `${'['.repeat(10_000)}1${']'.repeat(10_000)}`
    const message = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","arguments":{"a":${deep}}}}`
    await duplex.take(bytes.encode(message))
    const error = { code: -32_600, message: 'the message is nested more than 256 levels deep' }
    expect(sent).toMatchObject([{ id: 1, error }])
    expect(requests).toEqual([])
  })

  test('the error for a message that is not JSON has a null id', async () => {
    await duplex.take(Uint8Array.of(0x22, 0xff, 0x22))
    expect(sent).toMatchObject([{ id: null, error: { code: -32_700 } }])
  })

  test('a message that is too large is refused', async () => {
    await ask(1, 'tools/call', { name: 'ask', arguments: 'x'.repeat(8 * 1024 * 1024) })
    const message = expect.stringContaining('at most 8388608 bytes')
    expect(sent).toMatchObject([{ id: 1, error: { code: -32_600, message } }])
    expect(requests).toEqual([])
  })

  test('a request with the id of one in flight is refused', async () => {
    answer = never
    void ask(1, 'tools/call', { name: 'ask' })
    await ask(1, 'ping')
    await ask('1', 'ping')
    expect(sent).toMatchObject([
      { id: 1, error: { code: -32_600 } },
      { id: '1', result: {} },
    ])
  })

  test('too many concurrent requests are refused', async () => {
    answer = never
    for (let id = 0; id < 64; id++) void ask(id, 'tools/call', { name: 'ask', _meta: modern })
    await ask('more', 'ping')
    expect(sent).toMatchObject([
      { id: 'more', error: { code: -32_000, data: { retryable: true } } },
    ])
    // Notifications are accepted at the limit: otherwise no request could be cancelled.
    await notify('notifications/cancelled', { requestId: 5 })
    await settled()
    await ask('again', 'ping')
    expect(sent[1]).toMatchObject({ id: 'again', result: {} })
  })

  test('a request to a stopping gateway is refused', async () => {
    closing.abort()
    await ask(1, 'ping')
    expect(sent).toMatchObject([{ id: 1, error: { code: -32_000, data: { retryable: true } } }])
  })
})

test('each message counts as a request, also a ping', async () => {
  let left = 2
  takeRequest = () => {
    if (left-- === 0) throw new BusError('exhausted', 'too many requests')
  }
  for (const id of [1, 2, 3]) await ask(id, 'ping')
  expect(sent).toMatchObject([
    { id: 1, result: {} },
    { id: 2, result: {} },
    { id: 3, error: {} },
  ])
})

test('a batch is answered in one message', async () => {
  const batch = [1, 2].map((id) => ({ jsonrpc: '2.0', id, method: 'ping' }))
  const done = sendToGateway([...batch, { jsonrpc: '2.0', method: 'notifications/x' }])
  expect(duplex.isIdle).toBe(false)
  await done
  expect(sent).toEqual([[1, 2].map((id) => ({ jsonrpc: '2.0', id, result: {} }))])
})
