import type { AuditLog, AuditRecord } from '@mcp-host/audit'
import { serveThrough } from '../steps/serve-call.ts'
import { audited } from '../steps/audited.ts'
import type { McpClient, McpRequestHead } from '@mcp-host/contracts'
import { newEnvelope, traceId } from '@mcp-host/contracts'
import type { ForwardOptions } from '@mcp-host/upstream'
import {
  ProtocolError,
  ServerUnavailableError,
  TimeoutError,
  ValidationError,
} from '@mcp-host/upstream'
import { beforeEach, expect, test } from 'vitest'
import type { Era } from './eras.ts'
import type { McpReply, ServeRequestDeps } from './serve-request.ts'
import { ClientRefusal } from './client-questions.ts'
import { serveRequest } from './serve-request.ts'

interface Request {
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
  readonly options: ForwardOptions
}

let requests: Request[]
let answer: (request: Request) => unknown
/** The calls about which the gateway is asked once their users have accepted, and its answer. */
let decided: unknown[]
let mayRun: boolean
let stored: Uint8Array[]
/** Parts that were sent to the caller before the reply. */
let sent: unknown[]
let records: AuditRecord[]
/** What a record resolves with. */
let recorded: Promise<void> | undefined
beforeEach(() => {
  records = []
  recorded = undefined
  requests = []
  decided = []
  mayRun = true
  answer = () => ({ content: [], 'x-new': 1 })
  stored = []
  sent = []
})

const envelope = newEnvelope('ann')

async function serveOne(
  method: string,
  params: Readonly<Record<string, unknown>>,
  {
    caller = 'legacy',
    server = 'legacy',
    progress = false,
    client,
    ask,
    more,
  }: Partial<Options> = {},
): Promise<McpReply> {
  const audit: AuditLog = {
    record(record) {
      records.push(record)
      return recorded
    },
  }
  const deps: ServeRequestDeps = {
    server: 's',
    era: server,
    audit,
    serve: serveThrough([audited(audit)]),
    ...(ask === undefined ? {} : { ask }),
    cancelled: () => new AbortController().signal,
    leaving: new AbortController().signal,
    async askPolicy(call) {
      expect(requests).toEqual([])
      decided.push(call)
      return mayRun
    },
    upstream: {
      async request(itsMethod, itsParams, options = {}) {
        requests.push({ method: itsMethod, params: itsParams, options })
        return answer(requests.at(-1)!)
      },
    },
    // serveRequest uses only this method.
    bus: {
      blobs: {
        async put(bytes: Uint8Array) {
          stored.push(bytes)
          return { key: 'k', bytes: bytes.length, digest: 'd' }
        },
      },
    } as unknown as ServeRequestDeps['bus'],
  }
  const session = client === undefined ? {} : { client }
  const head = { method, id: 'i', era: caller, progress, ...session, ...more }
  return serveRequest(
    deps,
    { head, params, envelope },
    (part, body) => void sent.push([part, body]),
  )
}

interface Options {
  readonly caller: Era
  readonly server: Era
  readonly progress: boolean
  readonly client: McpClient
  readonly ask: NonNullable<ServeRequestDeps['ask']>
  /** Other fields of the head of the request. */
  readonly more: Pick<McpRequestHead, 'isOutputWrapped' | 'confirm' | 'isDecidedAgain'>
}

const json = ({ body }: McpReply): unknown =>
  JSON.parse(typeof body === 'string' ? body : new TextDecoder().decode(body))

test('params and results pass unchanged', async () => {
  const params = { name: 't', arguments: { a: 1 }, more: [1] }
  const reply = await serveOne('tools/call', params)
  expect([reply.head, json(reply)]).toEqual([{ type: 'result' }, { content: [], 'x-new': 1 }])
  const ids = { correlationId: traceId(envelope) }
  expect(requests).toMatchObject([
    { method: 'tools/call', params, options: { requestId: 'i', ...ids } },
  ])
})

const KEY = 'io.modelcontextprotocol'
/** What a modern request states about its client. */
const clientMeta = {
  [`${KEY}/protocolVersion`]: '2026-07-28',
  [`${KEY}/clientCapabilities`]: { sampling: {} },
  [`${KEY}/logLevel`]: 'debug',
}

test.each<[Era, Era, object]>([
  ['modern', 'modern', { own: 1, ...clientMeta }],
  ['modern', 'legacy', { own: 1 }],
  ['legacy', 'modern', { own: 1 }],
])(
  'the _meta of a %s caller is sent to a %s server as its era allows',
  async (caller, server, expected) => {
    const _meta = { own: 1, progressToken: 7, ...clientMeta }
    await serveOne('tools/call', { name: 't', _meta }, { caller, server })
    const { traceparent } = envelope
    expect(requests[0]?.options.meta).toEqual({ traceparent, ...expected })
  },
)

test('the options of a request apply in the host and are not sent to the server', async () => {
  const options = { timeoutMs: 5, priority: 'low', retry: { maxRetries: 1, isSafeToRepeat: true } }
  await serveOne('tools/call', { name: 't', _meta: { own: 1, 'mcp-host/options': options } })
  const { traceparent } = envelope
  expect(requests[0]?.options).toMatchObject({ ...options, meta: { traceparent, own: 1 } })
  expect(requests[0]?.options.meta).not.toHaveProperty('mcp-host/options')
})

test('invalid options of a request are refused with the field', async () => {
  const _meta = { 'mcp-host/options': { retry: { maxRetries: 1000 } } }
  const refused = await serveOne('tools/call', { name: 't', _meta })
  expect(json(refused)).toMatchObject({
    code: -32_602,
    message: expect.stringMatching(/^_meta\.mcp-host\/options\.retry.*: /),
  })
  expect(requests).toEqual([])
})

test('the trace of the caller is sent', async () => {
  await serveOne('tools/call', { name: 't', _meta: { traceparent: 'theirs' } })
  expect(requests[0]?.options.meta).toEqual({ traceparent: 'theirs' })
})

test.each<[Era, Era, string, object]>([
  ['modern', 'legacy', 'tools/call', { resultType: 'complete', a: 1 }],
  [
    'modern',
    'legacy',
    'resources/read',
    { resultType: 'complete', ttlMs: 0, cacheScope: 'private', a: 1 },
  ],
  ['modern', 'modern', 'tools/call', { a: 1 }],
  ['legacy', 'legacy', 'tools/call', { a: 1 }],
])(
  'a %s caller gets the result of a %s server to %s as %j',
  async (caller, server, method, expected) => {
    answer = () => ({ a: 1 })
    expect(json(await serveOne(method, {}, { caller, server }))).toEqual(expected)
  },
)

test('fields of modern results are removed for a legacy caller', async () => {
  answer = () => ({ resultType: 'complete', ttlMs: 5, cacheScope: 'public', contents: [] })
  const reply = await serveOne('resources/read', {}, { server: 'modern' })
  expect(json(reply)).toEqual({ contents: [] })
})

test('progress is sent to a caller with a progress token that reads a stream', async () => {
  answer = ({ options }) => {
    options.onProgress?.({ progress: 1, total: 2 })
    return {}
  }
  const params = { _meta: { progressToken: 1 } }
  await serveOne('tools/call', params)
  await serveOne('tools/call', {}, { progress: true })
  expect(sent).toEqual([])
  await serveOne('tools/call', params, { progress: true })
  const notice = { type: 'notice', method: 'notifications/progress' }
  expect(sent).toEqual([[notice, '{"progress":1,"total":2}']])
})

test('a result that is too large for a message of the broker is stored', async () => {
  answer = () => ({ text: 'ä'.repeat(300_000) })
  expect(await serveOne('tools/call', {})).toEqual({
    head: { type: 'stored', key: 'k', bytes: stored[0]?.length, digest: 'd' },
    body: '',
  })
  expect(JSON.parse(new TextDecoder().decode(stored[0]))).toEqual(answer(requests[0]!))
  answer = () => ({ text: 'ä'.repeat(100_000) })
  expect((await serveOne('tools/call', {})).head).toEqual({ type: 'result' })
})

const context = { server: 's' }

test.each<[string, Error, number, object]>([
  [
    'is not running',
    new ServerUnavailableError('away', context),
    -32_000,
    { reason: 'unavailable', retryable: true },
  ],
  [
    'has an open circuit',
    new ServerUnavailableError('rests', { ...context, retryAfterMs: 9 }),
    -32_000,
    { reason: 'unavailable', retryable: true, retryAfterMs: 9 },
  ],
  [
    'ended during the request',
    new ServerUnavailableError('gone', { ...context, isOutcomeUnknown: true }),
    -32_000,
    { reason: 'unknown-outcome', retryable: false },
  ],
  ['is too slow', new TimeoutError('slow', 5, context), -32_001, { reason: 'timeout' }],
  ['has no such tool', new ValidationError('none', [], context), -32_602, { server: 's' }],
])('a server that %s is answered with an error code and data', async (_, error, code, data) => {
  answer = () => {
    throw error
  }
  const reply = await serveOne('tools/call', {})
  expect(reply.head).toEqual({ type: 'error', code })
  expect(json(reply)).toMatchObject({ code, message: error.message, data })
})

test.each<Era>(['legacy', 'modern'])(
  'invalid arguments are answered to a %s caller as a result that a model sees',
  async (caller) => {
    answer = () => {
      throw new ValidationError(
        '"a" must be number',
        [{ argument: 'a', expected: 'must be number' }],
        context,
      )
    }
    const reply = await serveOne('tools/call', {}, { caller })
    expect(reply.head).toEqual({ type: 'result', isRefused: true })
    expect(json(reply)).toEqual({
      ...(caller === 'modern' ? { resultType: 'complete' } : {}),
      isError: true,
      content: [{ type: 'text', text: '"a" must be number' }],
    })
  },
)

test('an internal error is answered without its message', async () => {
  answer = () => {
    throw new Error('a secret')
  }
  const reply = await serveOne('tools/call', {})
  expect(json(reply)).toEqual({ code: -32_603, message: 'internal error' })
})

test.each([
  ['message', { message: 'E'.repeat(3_000_000) }],
  ['data', { message: 'E', data: '\u{1f600}'.repeat(200_000) }],
])('an error with a %s that is too large for a message is cut', async (_, said) => {
  answer = () => {
    const error = new ProtocolError('no', 7, context)
    throw Object.defineProperty(error, 'rpcError', { value: { code: 7, ...said } })
  }
  const reply = await serveOne('tools/call', { name: 'a' })
  expect(reply.head).toEqual({ type: 'error', code: 7 })
  expect(json(reply)).toEqual({ code: 7, message: said.message.slice(0, 8_192) })
})

test('an error whose data is nested too deep is answered without the data', async () => {
  let data: unknown = 1
  for (let depth = 0; depth < 20_000; depth++) data = [data]
  answer = () => {
    const error = new ProtocolError('no', 7, context)
    Object.defineProperty(error, 'rpcError', { value: { code: 7, message: 'no', data } })
    throw error
  }
  const reply = await serveOne('tools/call', {})
  expect([reply.head, json(reply)]).toEqual([
    { type: 'error', code: 7 },
    { code: 7, message: 'no' },
  ])
})

test('only a modern caller may receive input_required', async () => {
  await serveOne('tools/call', {})
  await serveOne('tools/call', {}, { caller: 'modern' })
  expect(requests.map(({ options }) => options.allowInputRequired)).toEqual([false, true])
})

const capabilities = { roots: {}, elicitation: {} }

test.each<[Era, McpClient['logLevel'], object]>([
  ['modern', undefined, { [`${KEY}/clientCapabilities`]: capabilities }],
  [
    'modern',
    'error',
    { [`${KEY}/clientCapabilities`]: capabilities, [`${KEY}/logLevel`]: 'error' },
  ],
  ['legacy', 'error', {}],
])(
  'a %s server receives the capabilities and log level of a legacy session as its era allows',
  async (server, level, expected) => {
    const logLevel = level === undefined ? {} : { logLevel: level }
    const client = { id: 'p', capabilities, ...logLevel }
    // The _meta of a legacy request does not replace what its session was initialized with.
    await serveOne('tools/call', { _meta: { own: 1, ...clientMeta } }, { server, client })
    const { traceparent } = envelope
    expect(requests[0]?.options.meta).toStrictEqual({ traceparent, own: 1, ...expected })
  },
)

/** The result with which a modern server asks for input. */
const inputRequired = (inputRequests: object, more: object = {}): object => ({
  resultType: 'input_required',
  inputRequests,
  ...more,
})

test('a legacy caller is asked for every input that a modern server requires, until its result', async () => {
  const form = { message: 'who?', requestedSchema: {} }
  const both = { who: { method: 'elicitation/create', params: form }, r: { method: 'roots/list' } }
  const results = [
    inputRequired(both, { requestState: 'first' }),
    inputRequired({ s: { method: 'sampling/createMessage', params: {} } }),
    { resultType: 'complete', done: 1 },
  ]
  answer = () => results[requests.length - 1]
  const serverRequests: unknown[] = []
  const ask = async (...request: unknown[]): Promise<unknown> => ({
    n: serverRequests.push(request),
  })
  const params = { name: 't', arguments: { a: 1 } }
  const reply = await serveOne('tools/call', params, { server: 'modern', ask })
  expect(json(reply)).toEqual({ done: 1 })
  expect(serverRequests).toEqual([
    ['elicitation/create', form],
    ['roots/list', undefined],
    ['sampling/createMessage', {}],
  ])
  expect(requests.map((each) => each.params)).toStrictEqual([
    params,
    { ...params, requestState: 'first', inputResponses: { who: { n: 1 }, r: { n: 2 } } },
    { ...params, inputResponses: { s: { n: 3 } } },
  ])
  // Each round can be aborted by the id of the request, and may require input again.
  const options = { requestId: 'i', allowInputRequired: true }
  expect(requests).toMatchObject([{ options }, { options }, { options }])
})

test('input_required of a modern server passes unchanged to a modern caller', async () => {
  const required = inputRequired({ r: { method: 'roots/list' } }, { requestState: 'x' })
  answer = () => required
  const ask = (): Promise<unknown> => Promise.reject(new Error('asked'))
  const reply = await serveOne('tools/call', {}, { caller: 'modern', server: 'modern', ask })
  expect(json(reply)).toEqual(required)
  expect(requests).toHaveLength(1)
})

test('a server that asks a legacy caller for input too often is answered with an error', async () => {
  answer = () => inputRequired({ r: { method: 'roots/list' } })
  let count = 0
  const ask = async (): Promise<unknown> => ({ n: ++count })
  const reply = await serveOne('tools/call', {}, { server: 'modern', ask })
  expect(reply.head).toEqual({ type: 'error', code: -32_603 })
  expect(count).toBe(10)
})

test('the refusal of a legacy caller to a modern server is the answer to its request', async () => {
  answer = () => inputRequired({ r: { method: 'roots/list' } })
  const refusal = { code: -32_601, message: 'no roots', data: { why: 1 } }
  const ask = (): Promise<unknown> => Promise.reject(new ClientRefusal(refusal))
  const reply = await serveOne('tools/call', {}, { server: 'modern', ask })
  expect([reply.head, json(reply)]).toEqual([{ type: 'error', code: -32_601 }, refusal])
  expect(requests).toHaveLength(1)
})

test.each<[unknown, boolean, unknown, unknown[]]>([
  [['a'], true, { result: ['a'] }, [{ type: 'text', text: '["a"]' }]],
  [7, false, { result: 7 }, [{ type: 'text', text: '7' }]],
  [null, true, { result: null }, [{ type: 'text', text: 'null' }]],
  [{ a: 1 }, true, { result: { a: 1 } }, []],
  [{ a: 1 }, false, { a: 1 }, []],
  [undefined, true, undefined, []],
])(
  'the structured result %j, listed as wrapped: %s, is %j for a legacy caller',
  async (structuredContent, isOutputWrapped, expected, content) => {
    answer = () => ({ content: [], structuredContent })
    const options = { server: 'modern', more: { isOutputWrapped } } as const
    const reply = json(await serveOne('tools/call', { name: 't' }, options))
    expect(reply).toEqual({ content, structuredContent: expected })
    const modern = json(
      await serveOne('tools/call', { name: 't' }, { ...options, caller: 'modern' }),
    )
    expect(modern).toEqual({ content: [], structuredContent })
  },
)

test('a wrapped result keeps the text of its tool', async () => {
  const content = [{ type: 'text', text: 'one' }]
  answer = () => ({ content, structuredContent: [1] })
  const reply = json(await serveOne('tools/call', { name: 't' }, { server: 'modern' }))
  expect(reply).toEqual({ content, structuredContent: { result: [1] } })
})

const resource = { uri: 'x://y' }
test.each<[string, object, boolean]>([
  ['tools/call', { content: [{ type: 'text' }, { type: 'resource_link', ...resource }] }, true],
  ['tools/call', { content: [{ type: 'resource', resource }] }, true],
  ['tools/call', { content: [], _meta: { ui: { resourceUri: 'ui://x' } } }, true],
  ['tools/call', { content: [], _meta: { 'ui/resourceUri': 'ui://x' } }, true],
  ['prompts/get', { messages: [{ content: { type: 'resource', resource } }] }, true],
  ['tools/call', { content: [{ type: 'text', text: 'resource_link' }], _meta: {} }, false],
  ['resources/read', { contents: [resource] }, false],
])('a result of %s like %j has the flag hasLinks: %s', async (method, result, hasLinks) => {
  answer = () => result
  expect((await serveOne(method, {})).head).toEqual({
    type: 'result',
    ...(hasLinks ? { hasLinks: true } : {}),
  })
})

test.each([
  ['accept', true],
  ['decline', false],
  ['cancel', false],
])('a call that needs approval reaches its server after %s: %s', async (action, isRun) => {
  const serverRequests: unknown[] = []
  const ask = async (...request: unknown[]): Promise<unknown> => {
    serverRequests.push(request)
    expect(requests).toEqual([])
    return { action }
  }
  const reply = await serveOne('tools/call', { name: 't' }, { ask, more: { confirm: 'May it?' } })
  const requestedSchema = { type: 'object', properties: {} }
  expect(serverRequests).toEqual([['elicitation/create', { message: 'May it?', requestedSchema }]])
  expect(requests).toHaveLength(isRun ? 1 : 0)
  expect(json(reply)).toMatchObject(isRun ? { 'x-new': 1 } : { isError: true })
})

test.each([true, false])(
  'an accepted call runs only when the policy still allows it: %s',
  async (isAllowed) => {
    mayRun = isAllowed
    const ask = async (): Promise<unknown> => ({ action: 'accept' })
    const more = { confirm: 'May it?', isDecidedAgain: true }
    const params = { name: 't', arguments: { a: 1 }, _meta: {} }
    const reply = await serveOne('tools/call', params, { ask, more })
    expect(decided).toEqual([{ name: 't', arguments: { a: 1 } }])
    expect(requests).toHaveLength(isAllowed ? 1 : 0)
    expect(json(reply)).toMatchObject(isAllowed ? { 'x-new': 1 } : { isError: true })
  },
)

test('a call that needs approval does not run when its caller cannot be asked', async () => {
  const reply = await serveOne('tools/call', { name: 't' }, { more: { confirm: 'May it?' } })
  expect(reply.head).toEqual({ type: 'error', code: -32_601 })
  expect(requests).toEqual([])
})

test('a tool call has its start and its end in the audit log; other requests have none', async () => {
  await serveOne('resources/read', { uri: 'a' })
  expect(records).toEqual([])
  await serveOne('tools/call', { name: 'echo', arguments: { text: 'hi' } })
  const about = { principal: 'ann', server: 's', tool: 'echo', call: 'i' }
  expect(records).toMatchObject([
    { action: 'tool-started', ...about, arguments: { text: 'hi' } },
    { action: 'tool-finished', ...about, outcome: 'ok' },
  ])
})

test('a tool call whose required entry cannot be stored does not reach the server', async () => {
  recorded = Promise.reject(new Error('away'))
  const { head, body } = await serveOne('tools/call', { name: 'echo' })
  expect(requests).toEqual([])
  expect(head).toEqual({ type: 'error', code: -32_000 })
  expect(JSON.parse(String(body))).toMatchObject({
    message: 'the audit log cannot be written, so the call was not run; try again',
    data: { server: 's', reason: 'unavailable', retryable: true },
  })
})
