import { noClients } from './__fixtures__/no-clients.ts'
import type { McpClientRecord } from '@mcp-host/contracts'
import { beforeEach, describe, expect, test } from 'vitest'
import { nothing } from './__fixtures__/no-clients.ts'
import { DuplexSession } from './duplex-session.ts'
import { McpEndpoint } from './endpoint.ts'
import type { ServerListing } from './server-listing.ts'
import { MergedListing } from './merged-listing.ts'
import type { ClientMessage, ForwardedReply, ForwardedRequest } from './upstream.ts'

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
const OK: ForwardedReply = { type: 'result', json: bytes.encode('{"content":[]}') }
const modern = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'c', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

let changed: Set<() => void>
let listing: MergedListing
let records: Map<string, McpClientRecord>
let forwarded: ForwardedRequest[]
let answer: (request: ForwardedRequest) => Promise<ForwardedReply> | ForwardedReply
let answers: unknown[]
let told: unknown[]
let cancelled: unknown[]
let listeners: Map<string, (message: ClientMessage) => void>
let closing: AbortController
let sent: Record<string, unknown>[]
let conversation: DuplexSession
beforeEach(() => {
  changed = new Set()
  listing = new MergedListing([own], ({ name }) => name)
  records = new Map()
  forwarded = []
  answer = () => OK
  answers = []
  told = []
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
    signSession: (random) => random,
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
    upstream: {
      async forward(_, request) {
        forwarded.push(request)
        const left = Promise.withResolvers<never>()
        request.signal?.addEventListener('abort', () => left.reject(request.signal?.reason))
        return Promise.race([answer(request), left.promise])
      },
      resume: () => Promise.reject(new Error('nothing is kept')),
      answer: (...said) => void answers.push(said),
      tell: (server, _, what) => void told.push([server, what]),
      watch: () => nothing,
      onLog: () => nothing,
      listen(client, listener) {
        listeners.set(client, listener)
        return { [Symbol.dispose]: () => void listeners.delete(client) }
      },
    },
  })
  conversation = new DuplexSession({
    endpoint,
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

const say = (message: unknown): Promise<void> =>
  conversation.take(bytes.encode(JSON.stringify(message)))
const ask = (id: number | string, method: string, params: object = {}): Promise<void> =>
  say({ jsonrpc: '2.0', id, method, params })
const tell = (method: string, params: object = {}): Promise<void> =>
  say({ jsonrpc: '2.0', method, params })
const begin = (id = 0): Promise<void> =>
  ask(id, 'initialize', { protocolVersion: '2025-11-25', capabilities: { elicitation: {} } })
const never = (): Promise<never> => new Promise(() => undefined)

/** Lets all that can go on now do so. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('an older client', () => {
  test('has its session without saying so', async () => {
    await begin()
    expect(sent).toMatchObject([{ id: 0, result: { protocolVersion: '2025-11-25' } }])
    await ask(1, 'tools/call', { name: 'ask' })
    expect(forwarded).toMatchObject([{ client: { capabilities: { elicitation: {} } } }])
    expect(sent[1]).toEqual({ jsonrpc: '2.0', id: 1, result: { content: [] } })
  })

  test('has it also for what it said before it was answered', async () => {
    const begun = begin()
    await Promise.all([begun, ask(1, 'tools/call', { name: 'ask' })])
    expect(forwarded).toMatchObject([{ client: { capabilities: { elicitation: {} } } }])
  })

  test('begins one session only', async () => {
    await begin()
    await begin(1)
    const message = 'this connection has its session already'
    expect(sent[1]).toMatchObject({ id: 1, error: { code: -32_600, message } })
  })

  test('is asked in mid-call, and hears of progress', async () => {
    await begin()
    const reply = Promise.withResolvers<ForwardedReply>()
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
    await say({ jsonrpc: '2.0', id: 'own.q1', result: { action: 'decline' } })
    expect(answers).toMatchObject([['own.q1', { result: { action: 'decline' } }]])
    reply.resolve(OK)
    await called
    expect(sent[3]).toMatchObject({ id: 1, result: {} })
  })

  test('is told what belongs to no request once it is ready', async () => {
    await begin()
    expect(listeners.size).toBe(0)
    await tell('notifications/initialized')
    await tell('notifications/initialized')
    await settled()
    const [listener] = listeners.values()
    listener?.({ method: 'notifications/message', params: { data: 'hi' } })
    listener?.({ method: 'roots/list', ask: 'own.q2' })
    listing = new MergedListing([], ({ name }) => name)
    for (const change of changed) change()
    await settled()
    expect(sent.slice(1)).toMatchObject([
      { method: 'notifications/message', params: { data: 'hi' } },
      { id: 'own.q2', method: 'roots/list' },
      { method: 'notifications/tools/list_changed' },
    ])
  })

  test('cancels, and is not answered any more', async () => {
    answer = never
    await begin()
    const called = ask(1, 'tools/call', { name: 'ask' })
    await settled()
    await tell('notifications/cancelled', { requestId: 1 })
    await called
    expect(cancelled).toEqual([1])
    expect(forwarded[0]?.signal?.aborted).toBe(true)
    expect(sent).toHaveLength(1)
    expect(conversation.isIdle).toBe(true)
  })

  test('ends its session, and all that it began, by leaving', async () => {
    answer = never
    await begin()
    await tell('notifications/initialized')
    void ask(1, 'tools/call', { name: 'ask' })
    await settled()
    await conversation.leave()
    expect(forwarded[0]?.signal?.aborted).toBe(true)
    expect(told).toEqual([['own', 'leave']])
    expect([...records.values()]).toEqual([{ isOver: true }])
    expect([listeners.size, changed.size]).toEqual([0, 0])
  })

  test('cancels what has said something already', async () => {
    const reply = Promise.withResolvers<ForwardedReply>()
    answer = ({ listener }) => {
      listener?.onNotice('notifications/message', '{"data":"hi"}')
      return reply.promise
    }
    await begin()
    const called = ask(1, 'tools/call', { name: 'ask' })
    await settled()
    await tell('notifications/cancelled', { requestId: 1 })
    await called
    expect(sent.map(({ method }) => method)).toEqual([undefined, 'notifications/message'])
  })

  test('cancels without a session, too', async () => {
    answer = never
    void ask(1, 'tools/call', { name: 'ask' })
    void ask(2, 'tools/call', { name: 'ask' })
    await settled()
    await tell('notifications/cancelled', { requestId: 1 })
    expect(forwarded.map(({ signal }) => signal?.aborted)).toEqual([true, false])
    await conversation.leave()
    expect(forwarded[1]?.signal?.aborted).toBe(true)
  })

  test('without a session leaves nothing behind', async () => {
    await ask(1, 'tools/list')
    await conversation.leave()
    expect(sent).toMatchObject([{ id: 1, result: { tools: [{ name: 'ask' }] } }])
    expect([told, records.size]).toEqual([[], 0])
  })
})

describe('a newer client', () => {
  test('needs no headers, which nobody could send', async () => {
    await ask(1, 'tools/call', { name: 'ask', arguments: { city: 'Oslo' }, _meta: modern })
    expect(sent).toEqual([{ jsonrpc: '2.0', id: 1, result: { content: [] } }])
    expect(forwarded).toMatchObject([{ era: 'modern', params: { arguments: { city: 'Oslo' } } }])
  })

  test('cancels by saying so', async () => {
    answer = never
    const called = ask('a', 'tools/call', { name: 'ask', _meta: modern })
    await settled()
    await tell('notifications/cancelled', { requestId: 'b' })
    expect(forwarded[0]?.signal?.aborted).toBe(false)
    await tell('notifications/cancelled', { requestId: 'a' })
    await called
    expect(forwarded[0]?.signal?.aborted).toBe(true)
    expect(sent).toEqual([])
  })

  test('hears of changes until it cancels', async () => {
    const notifications = { toolsListChanged: true }
    const heard = ask(1, 'subscriptions/listen', { notifications, _meta: modern })
    await settled()
    listing = new MergedListing([], ({ name }) => name)
    for (const change of changed) change()
    await settled()
    expect(sent.map(({ method }) => method)).toEqual([
      'notifications/subscriptions/acknowledged',
      'notifications/tools/list_changed',
    ])
    await tell('notifications/cancelled', { requestId: 1 })
    await heard
    expect([sent.length, changed.size]).toEqual([2, 0])
  })

  test('is told that a subscription is over when the gateway stops', async () => {
    const heard = ask(1, 'subscriptions/listen', { notifications: {}, _meta: modern })
    await settled()
    closing.abort()
    await heard
    expect(sent.at(-1)).toMatchObject({ id: 1, result: { resultType: 'complete' } })
  })

  test('cancels by leaving', async () => {
    answer = never
    void ask(1, 'tools/call', { name: 'ask', _meta: modern })
    await settled()
    await conversation.leave()
    expect(forwarded[0]?.signal?.aborted).toBe(true)
    expect([sent, told]).toEqual([[], []])
  })
})

describe('what cannot be taken is answered, and the conversation goes on', () => {
  test.each([
    ['{"jsonrpc"', -32_700],
    ['17', -32_600],
    ['[]', -32_600],
    ['{"jsonrpc":"1.0","id":1}', -32_600],
  ])('%s', async (message, code) => {
    await conversation.take(bytes.encode(message))
    expect(sent).toMatchObject([{ error: { code } }])
    await ask(2, 'ping')
    expect(sent[1]).toEqual({ jsonrpc: '2.0', id: 2, result: {} })
  })

  test('a message that is nested too deep is refused, and the conversation goes on', async () => {
    const deep = `${'['.repeat(10_000)}1${']'.repeat(10_000)}`
    const message = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","arguments":{"a":${deep}}}}`
    await conversation.take(bytes.encode(message))
    const error = { code: -32_600, message: 'the message is nested more than 256 levels deep' }
    expect(sent).toMatchObject([{ id: 1, error }])
    expect(forwarded).toEqual([])
  })

  test('what is no JSON has no id', async () => {
    await conversation.take(Uint8Array.of(0x22, 0xff, 0x22))
    expect(sent).toMatchObject([{ id: null, error: { code: -32_700 } }])
  })

  test('a message that is too large', async () => {
    await ask(1, 'tools/call', { name: 'ask', arguments: 'x'.repeat(8 * 1024 * 1024) })
    const message = expect.stringContaining('at most 8388608 bytes')
    expect(sent).toMatchObject([{ id: 1, error: { code: -32_600, message } }])
    expect(forwarded).toEqual([])
  })

  test('the id of a request under way', async () => {
    answer = never
    void ask(1, 'tools/call', { name: 'ask' })
    await ask(1, 'ping')
    await ask('1', 'ping')
    expect(sent).toMatchObject([
      { id: 1, error: { code: -32_600 } },
      { id: '1', result: {} },
    ])
  })

  test('too many at a time', async () => {
    answer = never
    for (let id = 0; id < 64; id++) void ask(id, 'tools/call', { name: 'ask', _meta: modern })
    await ask('more', 'ping')
    expect(sent).toMatchObject([
      { id: 'more', error: { code: -32_000, data: { retryable: true } } },
    ])
    // Else nothing of it could end.
    await tell('notifications/cancelled', { requestId: 5 })
    await settled()
    await ask('again', 'ping')
    expect(sent[1]).toMatchObject({ id: 'again', result: {} })
  })

  test('a request to a gateway that stops', async () => {
    closing.abort()
    await ask(1, 'ping')
    expect(sent).toMatchObject([{ id: 1, error: { code: -32_000, data: { retryable: true } } }])
  })
})

test('a batch is answered as one', async () => {
  const requests = [1, 2].map((id) => ({ jsonrpc: '2.0', id, method: 'ping' }))
  const said = say([...requests, { jsonrpc: '2.0', method: 'notifications/x' }])
  expect(conversation.isIdle).toBe(false)
  await said
  expect(sent).toEqual([[1, 2].map((id) => ({ jsonrpc: '2.0', id, result: {} }))])
})
