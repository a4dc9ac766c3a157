import type { McpClient } from '@mcp-host/contracts'
import { newEnvelope, traceId } from '@mcp-host/contracts'
import type { ForwardOptions } from 'mcp-host'
import { ProtocolError, ServerUnavailableError, TimeoutError, ValidationError } from 'mcp-host'
import { beforeEach, expect, test } from 'vitest'
import type { Era } from './eras.ts'
import type { McpReply, ForwardRequestDeps } from './forward-request.ts'
import { ClientRefusal } from './client-questions.ts'
import { forwardRequest } from './forward-request.ts'

interface Forwarded {
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
  readonly options: ForwardOptions
}

let forwarded: Forwarded[]
let answer: (asked: Forwarded) => unknown
let stored: Uint8Array[]
let sent: unknown[]
beforeEach(() => {
  forwarded = []
  answer = () => ({ content: [], 'x-new': 1 })
  stored = []
  sent = []
})

const envelope = newEnvelope('ann')

async function pass(
  method: string,
  params: Readonly<Record<string, unknown>>,
  { caller = 'legacy', server = 'legacy', progress = false, client, ask, more }: Partial<Eras> = {},
): Promise<McpReply> {
  const deps: ForwardRequestDeps = {
    server: 's',
    era: server,
    ...(ask === undefined ? {} : { ask }),
    host: {
      async forward(_, asked, given, options = {}) {
        forwarded.push({ method: asked, params: given, options })
        return answer(forwarded.at(-1)!)
      },
    },
    // It stores and does nothing else.
    bus: {
      blobs: {
        async put(bytes: Uint8Array) {
          stored.push(bytes)
          return { key: 'k', bytes: bytes.length, digest: '' }
        },
      },
    } as unknown as ForwardRequestDeps['bus'],
  }
  const own = client === undefined ? {} : { client }
  const head = { method, id: 'i', era: caller, progress, ...own, ...more }
  return forwardRequest(
    deps,
    { head, params, envelope },
    (part, said) => void sent.push([part, said]),
  )
}

interface Eras {
  readonly caller: Era
  readonly server: Era
  readonly progress: boolean
  readonly client: McpClient
  readonly ask: NonNullable<ForwardRequestDeps['ask']>
  /** Of the head. */
  readonly more: { readonly isOutputWrapped?: boolean; readonly confirm?: string }
}

const json = ({ body }: McpReply): unknown =>
  JSON.parse(typeof body === 'string' ? body : new TextDecoder().decode(body))

test('all that came goes on, and all of the result comes back', async () => {
  const params = { name: 't', arguments: { a: 1 }, more: [1] }
  const passed = await pass('tools/call', params)
  expect([passed.head, json(passed)]).toEqual([{ type: 'result' }, { content: [], 'x-new': 1 }])
  const ids = { correlationId: traceId(envelope) }
  expect(forwarded).toMatchObject([
    { method: 'tools/call', params, options: { requestId: 'i', ...ids } },
  ])
})

const KEY = 'io.modelcontextprotocol'
const said = {
  [`${KEY}/protocolVersion`]: '2026-07-28',
  [`${KEY}/clientCapabilities`]: { sampling: {} },
  [`${KEY}/logLevel`]: 'debug',
}

test.each<[Era, Era, object]>([
  ['modern', 'modern', { own: 1, ...said }],
  ['modern', 'legacy', { own: 1 }],
  ['legacy', 'modern', { own: 1 }],
])('what a %s caller says of itself to a %s server', async (caller, server, expected) => {
  const _meta = { own: 1, progressToken: 7, ...said }
  await pass('tools/call', { name: 't', _meta }, { caller, server })
  const { traceparent } = envelope
  expect(forwarded[0]?.options.meta).toEqual({ traceparent, ...expected })
})

test('the options of a request are followed here, and not passed on to the server', async () => {
  const options = { timeoutMs: 5, priority: 'low', retry: { maxRetries: 1, isSafeToRepeat: true } }
  await pass('tools/call', { name: 't', _meta: { own: 1, 'mcp-host/options': options } })
  const { traceparent } = envelope
  expect(forwarded[0]?.options).toMatchObject({ ...options, meta: { traceparent, own: 1 } })
  expect(forwarded[0]?.options.meta).not.toHaveProperty('mcp-host/options')
})

test('options of a request that are none are refused, with the field', async () => {
  const _meta = { 'mcp-host/options': { retry: { maxRetries: 1000 } } }
  const refused = await pass('tools/call', { name: 't', _meta })
  expect(json(refused)).toMatchObject({
    code: -32_602,
    message: expect.stringMatching(/^_meta\.mcp-host\/options\.retry.*: /),
  })
  expect(forwarded).toEqual([])
})

test('a trace that the caller has goes on', async () => {
  await pass('tools/call', { name: 't', _meta: { traceparent: 'theirs' } })
  expect(forwarded[0]?.options.meta).toEqual({ traceparent: 'theirs' })
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
])('a %s caller gets from a %s server to %s %j', async (caller, server, method, expected) => {
  answer = () => ({ a: 1 })
  expect(json(await pass(method, {}, { caller, server }))).toEqual(expected)
})

test('an older caller is not told what only newer ones know', async () => {
  answer = () => ({ resultType: 'complete', ttlMs: 5, cacheScope: 'public', contents: [] })
  const passed = await pass('resources/read', {}, { server: 'modern' })
  expect(json(passed)).toEqual({ contents: [] })
})

test('progress is told where it is wanted', async () => {
  answer = ({ options }) => {
    options.onProgress?.({ progress: 1, total: 2 })
    return {}
  }
  const params = { _meta: { progressToken: 1 } }
  await pass('tools/call', params)
  await pass('tools/call', {}, { progress: true })
  expect(sent).toEqual([])
  await pass('tools/call', params, { progress: true })
  const notice = { type: 'notice', method: 'notifications/progress' }
  expect(sent).toEqual([[notice, '{"progress":1,"total":2}']])
})

test('a result that is too large for a message is stored', async () => {
  answer = () => ({ text: 'ä'.repeat(300_000) })
  expect(await pass('tools/call', {})).toEqual({
    head: { type: 'stored', key: 'k', bytes: stored[0]?.length },
    body: '',
  })
  expect(JSON.parse(new TextDecoder().decode(stored[0]))).toEqual(answer(forwarded[0]!))
  answer = () => ({ text: 'ä'.repeat(100_000) })
  expect((await pass('tools/call', {})).head).toEqual({ type: 'result' })
})

const context = { server: 's' }

test.each<[string, Error, number, object]>([
  [
    'is not there',
    new ServerUnavailableError('away', context),
    -32_000,
    { reason: 'unavailable', retryable: true },
  ],
  [
    'rests',
    new ServerUnavailableError('rests', { ...context, retryAfterMs: 9 }),
    -32_000,
    { reason: 'unavailable', retryable: true, retryAfterMs: 9 },
  ],
  [
    'ended meanwhile',
    new ServerUnavailableError('gone', { ...context, isOutcomeUnknown: true }),
    -32_000,
    { reason: 'unknown-outcome', retryable: false },
  ],
  ['is too slow', new TimeoutError('slow', 5, context), -32_001, { reason: 'timeout' }],
  ['has no such tool', new ValidationError('none', [], context), -32_602, { server: 's' }],
])('a server that %s', async (_, error, code, data) => {
  answer = () => {
    throw error
  }
  const passed = await pass('tools/call', {})
  expect(passed.head).toEqual({ type: 'error', code })
  expect(json(passed)).toMatchObject({ code, message: error.message, data })
})

test.each<Era>(['legacy', 'modern'])(
  'arguments that do not fit are a result that a model sees (%s)',
  async (caller) => {
    answer = () => {
      throw new ValidationError(
        '"a" must be number',
        [{ argument: 'a', expected: 'must be number' }],
        context,
      )
    }
    const passed = await pass('tools/call', {}, { caller })
    expect(passed.head).toEqual({ type: 'result', isRefused: true })
    expect(json(passed)).toEqual({
      ...(caller === 'modern' ? { resultType: 'complete' } : {}),
      isError: true,
      content: [{ type: 'text', text: '"a" must be number' }],
    })
  },
)

test('what is our fault says nothing of what it was', async () => {
  answer = () => {
    throw new Error('a secret')
  }
  const passed = await pass('tools/call', {})
  expect(json(passed)).toEqual({ code: -32_603, message: 'internal error' })
})

test('an error that is too deep to be written is told without what makes it so', async () => {
  let data: unknown = 1
  for (let depth = 0; depth < 20_000; depth++) data = [data]
  answer = () => {
    const error = new ProtocolError('no', 7, context)
    Object.defineProperty(error, 'rpcError', { value: { code: 7, message: 'no', data } })
    throw error
  }
  const passed = await pass('tools/call', {})
  expect([passed.head, json(passed)]).toEqual([
    { type: 'error', code: 7 },
    { code: 7, message: 'no' },
  ])
})

test('only a newer caller is handed what a server asks for', async () => {
  await pass('tools/call', {})
  await pass('tools/call', {}, { caller: 'modern' })
  expect(forwarded.map(({ options }) => options.allowInputRequired)).toEqual([false, true])
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
  'what a %s server is told of an older client with a session',
  async (server, level, expected) => {
    const logLevel = level === undefined ? {} : { logLevel: level }
    const client = { id: 'p', capabilities, ...logLevel }
    // What it says of itself with the request is not what it said when it began.
    await pass('tools/call', { _meta: { own: 1, ...said } }, { server, client })
    const { traceparent } = envelope
    expect(forwarded[0]?.options.meta).toStrictEqual({ traceparent, own: 1, ...expected })
  },
)

/** What a newer server says that asks for input. */
const inputRequired = (inputRequests: object, more: object = {}): object => ({
  resultType: 'input_required',
  inputRequests,
  ...more,
})

test('an older caller is asked for all that a newer server wants, until that has a result', async () => {
  const form = { message: 'who?', requestedSchema: {} }
  const both = { who: { method: 'elicitation/create', params: form }, r: { method: 'roots/list' } }
  const results = [
    inputRequired(both, { requestState: 'first' }),
    inputRequired({ s: { method: 'sampling/createMessage', params: {} } }),
    { resultType: 'complete', done: 1 },
  ]
  answer = () => results[forwarded.length - 1]
  const asked: unknown[] = []
  const ask = async (...question: unknown[]): Promise<unknown> => ({ n: asked.push(question) })
  const params = { name: 't', arguments: { a: 1 } }
  const passed = await pass('tools/call', params, { server: 'modern', ask })
  expect(json(passed)).toEqual({ done: 1 })
  expect(asked).toEqual([
    ['elicitation/create', form],
    ['roots/list', undefined],
    ['sampling/createMessage', {}],
  ])
  expect(forwarded.map((each) => each.params)).toStrictEqual([
    params,
    { ...params, requestState: 'first', inputResponses: { who: { n: 1 }, r: { n: 2 } } },
    { ...params, inputResponses: { s: { n: 3 } } },
  ])
  // Each can be ended by the id of the request, and may ask again.
  const options = { requestId: 'i', allowInputRequired: true }
  expect(forwarded).toMatchObject([{ options }, { options }, { options }])
})

test('a newer caller gets what a newer server asks for as it is', async () => {
  const asks = inputRequired({ r: { method: 'roots/list' } }, { requestState: 'x' })
  answer = () => asks
  const ask = (): Promise<unknown> => Promise.reject(new Error('asked'))
  const passed = await pass('tools/call', {}, { caller: 'modern', server: 'modern', ask })
  expect(json(passed)).toEqual(asks)
  expect(forwarded).toHaveLength(1)
})

test('a server that asks an older caller without end is given up', async () => {
  answer = () => inputRequired({ r: { method: 'roots/list' } })
  let count = 0
  const ask = async (): Promise<unknown> => ({ n: ++count })
  const passed = await pass('tools/call', {}, { server: 'modern', ask })
  expect(passed.head).toEqual({ type: 'error', code: -32_603 })
  expect(count).toBe(10)
})

test('what an older caller refuses to a newer server is the answer', async () => {
  answer = () => inputRequired({ r: { method: 'roots/list' } })
  const refusal = { code: -32_601, message: 'no roots', data: { why: 1 } }
  const ask = (): Promise<unknown> => Promise.reject(new ClientRefusal(refusal))
  const passed = await pass('tools/call', {}, { server: 'modern', ask })
  expect([passed.head, json(passed)]).toEqual([{ type: 'error', code: -32_601 }, refusal])
  expect(forwarded).toHaveLength(1)
})

test.each<[unknown, boolean, unknown, unknown[]]>([
  [['a'], true, { result: ['a'] }, [{ type: 'text', text: '["a"]' }]],
  [7, false, { result: 7 }, [{ type: 'text', text: '7' }]],
  [null, true, { result: null }, [{ type: 'text', text: 'null' }]],
  [{ a: 1 }, true, { result: { a: 1 } }, []],
  [{ a: 1 }, false, { a: 1 }, []],
  [undefined, true, undefined, []],
])(
  'the structured result %j, listed as wrapped: %s, is %j to an older caller',
  async (structuredContent, isOutputWrapped, expected, content) => {
    answer = () => ({ content: [], structuredContent })
    const options = { server: 'modern', more: { isOutputWrapped } } as const
    const passed = json(await pass('tools/call', { name: 't' }, options))
    expect(passed).toEqual({ content, structuredContent: expected })
    const newer = json(await pass('tools/call', { name: 't' }, { ...options, caller: 'modern' }))
    expect(newer).toEqual({ content: [], structuredContent })
  },
)

test('the text of a tool stands for a wrapped result as well', async () => {
  const content = [{ type: 'text', text: 'one' }]
  answer = () => ({ content, structuredContent: [1] })
  const passed = json(await pass('tools/call', { name: 't' }, { server: 'modern' }))
  expect(passed).toEqual({ content, structuredContent: { result: [1] } })
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
])('a result of %s like %j says that it has links: %s', async (method, result, isSaid) => {
  answer = () => result
  expect((await pass(method, {})).head).toEqual({
    type: 'result',
    ...(isSaid ? { hasLinks: true } : {}),
  })
})

test.each([
  ['accept', true],
  ['decline', false],
  ['cancel', false],
])('a call that needs an answer reaches its server after %s: %s', async (action, isRun) => {
  const asked: unknown[] = []
  const ask = async (...question: unknown[]): Promise<unknown> => {
    asked.push(question)
    expect(forwarded).toEqual([])
    return { action }
  }
  const passed = await pass('tools/call', { name: 't' }, { ask, more: { confirm: 'May it?' } })
  const requestedSchema = { type: 'object', properties: {} }
  expect(asked).toEqual([['elicitation/create', { message: 'May it?', requestedSchema }]])
  expect(forwarded).toHaveLength(isRun ? 1 : 0)
  expect(json(passed)).toMatchObject(isRun ? { 'x-new': 1 } : { isError: true })
})

test('a call that needs an answer of a caller who cannot be asked does not run', async () => {
  const passed = await pass('tools/call', { name: 't' }, { more: { confirm: 'May it?' } })
  expect(passed.head).toEqual({ type: 'error', code: -32_601 })
  expect(forwarded).toEqual([])
})
