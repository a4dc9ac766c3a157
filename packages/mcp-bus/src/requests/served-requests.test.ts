import type { McpClient, McpLogLevel, McpRequestHead, McpReplyHead } from '@mcp-host/contracts'
import { serveThrough } from '../steps/serve-call.ts'
import { clientMessage, newEnvelope, POLICY_METHOD, serverLog } from '@mcp-host/contracts'
import type { ForwardOptions, ServerRequest } from '@mcp-host/upstream'
import { ProtocolError } from '@mcp-host/upstream'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Era } from './eras.ts'
import type { McpReply } from './serve-request.ts'
import type { ServedRequestsDeps, RequestTarget } from './served-requests.ts'
import { ServedRequests } from './served-requests.ts'

const LIMIT_MS = 1_000
/** Longer than the time in which requests of a server are collected into one round. */
const ROUND_MS = 50

type Json = Readonly<Record<string, unknown>>
interface Call {
  readonly params: Json
  readonly requestId: string
  /** Whether the server may answer with `input_required`. */
  readonly mayAsk: boolean | undefined
  readonly signal: AbortSignal
}

let requests: ServedRequests
/** The principal of the requests. */
let principal: string
/** How the server answers a request. */
let serve: (call: Call) => Promise<unknown>
let ready: Promise<void> | undefined
let era: Era
/** Ids of the requests that were aborted at the server. */
let aborted: string[]
let levels: unknown[]
let setLevel: () => Promise<void>
let tracked: Promise<unknown>[]
let watched: unknown[]
let watch: () => Promise<void>
/** Parts that were sent before replies, with the ids of their requests. */
let sent: [id: string, part: McpReplyHead, body: unknown][]
/** Events on the notification stream of the session. */
let streamed: unknown[]

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  serve = async () => ({})
  ready = undefined
  era = 'legacy'
  aborted = []
  levels = []
  setLevel = async () => undefined
  tracked = []
  watched = []
  watch = async () => undefined
  sent = []
  streamed = []
  principal = 'ann'
  createRequests({ process: 'p' })
})
afterEach(() => void vi.useRealTimers())

type ProcessOptions = Pick<
  ServedRequestsDeps,
  'process' | 'hasSession' | 'capabilities' | 'isOfUser'
>
const SHARED: ProcessOptions = {}
const answerable = { sampling: {}, roots: {}, elicitation: { form: {} } }
const SESSION: ProcessOptions = { process: 'p', hasSession: true, capabilities: answerable }

function createRequests(options: ProcessOptions): void {
  // ServedRequests uses only this method.
  const bus = {
    emit: (...event: unknown[]) => void streamed.push(event),
  } as unknown as ServedRequestsDeps['bus']
  requests = new ServedRequests({ bus, server: 's', inputTimeoutMs: LIMIT_MS, ...options })
}

const controls = new Map<string, AbortController>()
const upstream: RequestTarget['upstream'] = {
  async request(_method, params, options: ForwardOptions = {}) {
    const { requestId = '', allowInputRequired: mayAsk } = options
    const control = new AbortController()
    controls.set(requestId, control)
    const cut = Promise.withResolvers<never>()
    control.signal.addEventListener('abort', () => cut.reject(control.signal.reason))
    return Promise.race([serve({ params, requestId, mayAsk, signal: control.signal }), cut.promise])
  },
  abort(id) {
    aborted.push(id)
    controls.get(id)?.abort()
    return controls.delete(id)
  },
  async setLoggingLevel(level) {
    await setLevel()
    levels.push(level)
  },
}

const session = (capabilities: object, logLevel?: McpLogLevel): McpClient => ({
  id: 'p',
  capabilities: { ...capabilities },
  ...(logLevel === undefined ? {} : { logLevel }),
})

/** Sends a request of a legacy client, which has a session if `client` is given. */
function serveLegacy(
  head: Partial<McpRequestHead>,
  params: Json = { name: 't' },
): Promise<McpReply> {
  const { id = 'a' } = head
  const to: RequestTarget = {
    upstream,
    serve: serveThrough([]),
    ready: () => ready,
    era: () => era,
    track: (work) => void tracked.push(work),
    leaving: new AbortController().signal,
    watched: {
      async watch(uris) {
        watched.push(uris)
        await watch()
      },
    },
  }
  const stream = head.client === undefined ? {} : { progress: true }
  const full: McpRequestHead = { method: 'tools/call', era: 'legacy', ...stream, ...head, id }
  const body = new TextEncoder().encode(JSON.stringify(params))
  return requests.serve(
    to,
    { head: full, body, envelope: newEnvelope(principal) },
    (part, content) => {
      sent.push([id, part, content === '' ? '' : JSON.parse(content)])
    },
  )
}

/** Sends a request of a modern client with all capabilities. */
function serveModern(more: Json = {}, head: Partial<McpRequestHead> = {}): Promise<McpReply> {
  const capabilities = { sampling: {}, roots: {}, elicitation: { form: {}, url: {} } }
  const _meta = { [CAPABILITIES_KEY]: capabilities }
  return serveLegacy({ era: 'modern', ...head }, { name: 't', _meta, ...more })
}
const CAPABILITIES_KEY = 'io.modelcontextprotocol/clientCapabilities'
const LOG_LEVEL_KEY = 'io.modelcontextprotocol/logLevel'

async function bodyOf(answer: Promise<McpReply>): Promise<Json> {
  const { body } = await answer
  return JSON.parse(typeof body === 'string' ? body : new TextDecoder().decode(body)) as Json
}

/** The body of the reply at the end of a round. */
async function bodyAfterRound(answer: Promise<McpReply>): Promise<Json> {
  await vi.advanceTimersByTimeAsync(ROUND_MS)
  return bodyOf(answer)
}

const form = (...fields: string[]): object => ({
  message: 'tell',
  requestedSchema: { properties: Object.fromEntries(fields.map((each) => [each, {}])) },
})

/** Sends a request of the server to the client, for the named request if the server knows one. */
function ask(
  kind: string,
  params?: object,
  requestId?: string,
  { signal } = new AbortController(),
): Promise<unknown> {
  const call = requestId === undefined ? {} : { call: { requestId } }
  const request = { kind, ...(params === undefined ? {} : { params }), ...call }
  // `kind` is a plain string here: the union of requests cannot be narrowed.
  return requests.callback({ server: 's', signal, ...request } as unknown as ServerRequest)
}

function log(level: McpLogLevel, requestId?: string): void {
  const call = requestId === undefined ? {} : { call: { requestId } }
  const message = { level, logger: 'l', data: 1, isOutsideCalls: requestId === undefined }
  void requests.callback({ kind: 'log', server: 's', ...message, ...call })
}

/** The id with which a sent server request is answered. */
function askIdOf(index: number): string {
  const [, part] = sent[index]!
  return part.type === 'ask' ? part.ask : ''
}

test.each<[string, object, object]>([
  ['result', { result: { action: 'accept' } }, { value: { action: 'accept' } }],
  ['error', { error: { code: 7, message: 'no' } }, { reason: { code: 7, message: 'no' } }],
])(
  'a server request reaches the legacy client during its call, and the %s goes to the server',
  async (_, reply, expected) => {
    createRequests(SESSION)
    serve = async ({ requestId }) => {
      const [answer] = await Promise.allSettled([ask('elicitation', form('name'), requestId)])
      expect(answer).toMatchObject(expected)
      return { done: 1 }
    }
    const answer = serveLegacy({ client: session({ elicitation: {} }) })
    await vi.waitFor(() => expect(sent).toHaveLength(1))
    const part = { type: 'ask', ask: expect.any(String), method: 'elicitation/create' }
    expect(sent).toEqual([['a', part, form('name')]])
    requests.answer(askIdOf(0), 'p', reply)
    expect(await answer).toMatchObject({ head: { type: 'result' } })
    expect(await bodyOf(answer)).toEqual({ done: 1 })
  },
)

test.each<[string, string, object?]>([
  ['sampling', 'sampling/createMessage', { messages: [] }],
  ['roots', 'roots/list'],
])('a %s request reaches a legacy client as %s', async (kind, method, params) => {
  createRequests(SESSION)
  serve = async ({ requestId }) => ({ answer: await ask(kind, params, requestId) })
  const answer = serveLegacy({ client: session({ [kind]: {} }) })
  await vi.waitFor(() => expect(sent).toMatchObject([['a', { type: 'ask', method }, params ?? {}]]))
  requests.answer(askIdOf(0), 'p', { result: { n: 1 } })
  expect(await bodyOf(answer)).toEqual({ answer: { n: 1 } })
})

test.each([
  [true, { done: 1 }],
  [false, { isError: true }],
])('the gateway decides about an accepted call before it runs: %s', async (isAllowed, result) => {
  serve = async () => ({ done: 1 })
  const head = { client: session({ elicitation: {} }), confirm: 'May it?', isDecidedAgain: true }
  const answer = serveLegacy(head, { name: 't', arguments: { a: 1 } })
  await vi.waitFor(() => expect(sent).toHaveLength(1))
  requests.answer(askIdOf(0), 'p', { result: { action: 'accept' } })
  await vi.waitFor(() => expect(sent).toHaveLength(2))
  expect(sent[1]).toMatchObject([
    'a',
    { type: 'ask', method: POLICY_METHOD },
    { name: 't', arguments: { a: 1 } },
  ])
  requests.answer(askIdOf(1), 'p', { result: { isAllowed } })
  expect(await bodyOf(answer)).toMatchObject(result)
})

test.each<Era>(['legacy', 'modern'])(
  'a server request without a matching capability of its %s client is refused',
  async (caller) => {
    let refusals: unknown[] = []
    serve = async ({ requestId }) => {
      const page = { mode: 'url', url: 'x' }
      const asks = [ask('sampling', {}, requestId), ask('elicitation', page, requestId)]
      refusals = await Promise.allSettled(asks)
      return { done: 1 }
    }
    const capabilities = { elicitation: { form: {} }, roots: {} }
    const answer =
      caller === 'legacy'
        ? serveLegacy({ client: session(capabilities) })
        : serveModern({ _meta: { [CAPABILITIES_KEY]: capabilities } })
    expect(await bodyAfterRound(answer)).toMatchObject({ done: 1 })
    const reason = { name: 'ClientRefusal', code: -32_601 }
    expect(refusals).toMatchObject([{ reason }, { reason }])
    expect(sent).toEqual([])
  },
)

test('a server request to a legacy client without a session is refused', async () => {
  createRequests(SHARED)
  serve = ({ requestId }) => ask('sampling', {}, requestId)
  expect(await bodyOf(serveLegacy({}))).toMatchObject({ code: -32_601 })
  serve = async ({ mayAsk }) => ({ mayAsk })
  expect(await bodyOf(serveLegacy({}))).toEqual({ mayAsk: false })
})

test('a modern client retries with the required input once per round', async () => {
  serve = async ({ requestId }) => {
    const first = await ask('elicitation', form('name'), requestId)
    return { first, second: await ask('sampling', { messages: [] }, requestId) }
  }
  const first = await bodyAfterRound(serveModern())
  const requestState = expect.stringMatching(/^mcp-host\.p\.[\da-f-]{36}$/)
  expect(first).toEqual({
    resultType: 'input_required',
    inputRequests: { name: { method: 'elicitation/create', params: form('name') } },
    requestState,
  })
  const retry = { requestState: first['requestState'], inputResponses: { name: { n: 1 } } }
  const second = await bodyAfterRound(serveModern(retry, { id: 'b' }))
  expect(second).toEqual({
    resultType: 'input_required',
    inputRequests: { sampling: { method: 'sampling/createMessage', params: { messages: [] } } },
    requestState,
  })
  expect(second['requestState']).not.toBe(first['requestState'])
  const secondRetry = {
    requestState: second['requestState'],
    inputResponses: { sampling: { n: 2 } },
  }
  expect(await bodyOf(serveModern(secondRetry, { id: 'c' }))).toEqual({
    resultType: 'complete',
    first: { n: 1 },
    second: { n: 2 },
  })
  // The whole request is tracked once, until its end.
  await Promise.all(tracked)
  expect(tracked).toHaveLength(1)
  requests.ping('a')
  expect(sent).toEqual([])
})

test('concurrent server requests are sent in one round under distinct keys', async () => {
  const asks: [string, object?][] = [
    ['elicitation', form('name')],
    ['elicitation', form('name')],
    ['elicitation', form('a', 'b')],
    ['elicitation', { mode: 'url', url: 'x' }],
    ['sampling', {}],
    ['roots'],
  ]
  serve = async ({ requestId }) => ({
    answer: await Promise.all(asks.map((each) => ask(each[0], each[1], requestId))),
  })
  const { inputRequests, requestState } = await bodyAfterRound(serveModern())
  expect(inputRequests).toEqual({
    name: { method: 'elicitation/create', params: form('name') },
    'name-2': { method: 'elicitation/create', params: form('name') },
    elicitation: { method: 'elicitation/create', params: form('a', 'b') },
    'elicitation-2': { method: 'elicitation/create', params: { mode: 'url', url: 'x' } },
    sampling: { method: 'sampling/createMessage', params: {} },
    roots: { method: 'roots/list', params: {} },
  })
  const keys = Object.keys(inputRequests as object)
  const inputResponses = Object.fromEntries(keys.map((key) => [key, { key }]))
  const answers = keys.map((key) => ({ key }))
  expect(await bodyOf(serveModern({ requestState, inputResponses }))).toMatchObject({
    answer: answers,
  })
})

test('server requests a few milliseconds apart are sent in one round', async () => {
  serve = ({ requestId }) => {
    const each = ['a', 'b', 'c'].map(async (name, index) => {
      await new Promise((resolve) => void setTimeout(resolve, index * 8))
      return ask('elicitation', form(name), requestId)
    })
    return Promise.all(each)
  }
  const { inputRequests } = await bodyAfterRound(serveModern())
  expect(Object.keys(inputRequests as object)).toEqual(['a', 'b', 'c'])
})

test.each<[string, unknown]>([
  ['left out', undefined],
  ['not an object', 'yes'],
])('only an input response that is %s is required again', async (_, invalid) => {
  const answers: unknown[] = []
  serve = async ({ requestId }) => {
    const each = async (name: string): Promise<void> => {
      answers.push([name, await ask('elicitation', form(name), requestId)])
    }
    await Promise.all([each('x'), each('y')])
    return {}
  }
  let { requestState } = await bodyAfterRound(serveModern())
  const inputResponses = { x: invalid, y: { n: 1 } }
  const second = await bodyAfterRound(serveModern({ requestState, inputResponses }, { id: 'b' }))
  expect(Object.keys(second['inputRequests'] as object)).toEqual(['x'])
  expect(answers).toEqual([['y', { n: 1 }]])
  ;({ requestState } = second)
  await bodyOf(serveModern({ requestState, inputResponses: { x: { n: 2 } } }, { id: 'c' }))
  expect(answers).toEqual([
    ['y', { n: 1 }],
    ['x', { n: 2 }],
  ])
})

test('an unknown or used requestState is refused, and its request continues', async () => {
  serve = async ({ requestId }) => {
    await ask('sampling', {}, requestId)
    await ask('sampling', {}, requestId)
    return { done: 1 }
  }
  const refused = { head: { type: 'error', code: -32_602 } }
  const inputResponses = { sampling: {} }
  const { requestState: first } = await bodyAfterRound(serveModern())
  const wrong = { requestState: `mcp-host.p.${crypto.randomUUID()}`, inputResponses }
  expect(await serveModern(wrong)).toMatchObject(refused)
  const { requestState } = await bodyAfterRound(
    serveModern({ requestState: first, inputResponses }),
  )
  expect(await serveModern({ requestState: first, inputResponses })).toMatchObject(refused)
  expect(await bodyOf(serveModern({ requestState, inputResponses }))).toMatchObject({ done: 1 })
  expect(await serveModern({ requestState, inputResponses })).toMatchObject(refused)
})

test.each<[Json, Json]>([
  [{ name: 't' }, { name: 'other' }],
  [
    { name: undefined, uri: 'a:1' },
    { name: undefined, uri: 'a:2' },
  ],
])('a requestState that was issued for %j is refused for %j', async (subject, other) => {
  serve = async ({ requestId }) => ({ answer: await ask('sampling', {}, requestId) })
  const { requestState } = await bodyAfterRound(serveModern(subject))
  const retry = { requestState, inputResponses: { sampling: { n: 1 } } }
  const refused = await serveModern({ ...retry, ...other })
  expect(refused).toMatchObject({ head: { type: 'error', code: -32_602 } })
  expect(await bodyOf(serveModern({ ...retry, ...subject }))).toMatchObject({ answer: { n: 1 } })
})

test('a requestState that was issued to one principal is refused for another', async () => {
  serve = async ({ requestId }) => ({ answer: await ask('sampling', {}, requestId) })
  const { requestState } = await bodyAfterRound(serveModern())
  const retry = { requestState, inputResponses: { sampling: { n: 1 } } }
  principal = 'mal'
  expect(await serveModern(retry)).toMatchObject({ head: { type: 'error', code: -32_602 } })
  principal = 'ann'
  expect(await bodyOf(serveModern(retry))).toMatchObject({ answer: { n: 1 } })
})

test.each<[Era, Era, string]>([
  ['modern', 'modern', 'theirs'],
  // The server may be another mcp-host.
  ['modern', 'modern', 'mcp-host.p.x'],
  ['legacy', 'legacy', 'mcp-host.p.x'],
])(
  'the requestState of a %s client is sent to its %s server: %s',
  async (caller, server, requestState) => {
    era = server
    serve = async ({ params }) => ({ params })
    const { params } = await bodyOf(serveModern({ requestState }, { era: caller }))
    expect(params).toMatchObject({ requestState })
  },
)

test('a requestState that this host did not issue is refused for a legacy server', async () => {
  const refused = await serveModern({ requestState: 'theirs' })
  expect(refused).toMatchObject({ head: { type: 'error', code: -32_602 } })
})

describe('retries with input', () => {
  const retry = (requestState: unknown, ...keys: string[]): Promise<McpReply> =>
    serveModern({
      requestState,
      inputResponses: Object.fromEntries(keys.map((key) => [key, {}])),
    })

  test('a retry restarts the time limit for input that is still missing', async () => {
    serve = async ({ requestId }) => ({
      all: await Promise.all([ask('sampling', {}, requestId), ask('roots', {}, requestId)]),
    })
    const first = await bodyAfterRound(serveModern())
    await vi.advanceTimersByTimeAsync(LIMIT_MS * 0.6)
    const second = await bodyAfterRound(retry(first['requestState'], 'sampling'))
    expect(Object.keys(second['inputRequests'] as object)).toEqual(['roots'])
    await vi.advanceTimersByTimeAsync(LIMIT_MS * 0.6)
    expect(await bodyOf(retry(second['requestState'], 'roots'))).toMatchObject({ all: [{}, {}] })
  })

  test('a retry gets the result of a request that did not wait for its input', async () => {
    const done = Promise.withResolvers<object>()
    serve = async ({ requestId }) => {
      void ask('sampling', {}, requestId).catch(() => undefined)
      return done.promise
    }
    const { requestState } = await bodyAfterRound(serveModern())
    done.resolve({ answer: 'without input' })
    await vi.advanceTimersByTimeAsync(ROUND_MS)
    expect(await bodyOf(retry(requestState, 'sampling'))).toMatchObject({ answer: 'without input' })
  })

  test('input of a request that ends within the round is not required', async () => {
    serve = async ({ requestId }) => {
      void ask('sampling', {}, requestId).catch(() => undefined)
      return { answer: 'at once' }
    }
    expect(await bodyAfterRound(serveModern())).toMatchObject({ answer: 'at once' })
  })

  test('input that the server has withdrawn is not required again', async () => {
    const withdrawn = new AbortController()
    serve = async ({ requestId }) => {
      await Promise.allSettled([
        ask('sampling', {}, requestId, withdrawn),
        ask('roots', {}, requestId),
      ])
      return ask('elicitation', form('name'), requestId)
    }
    const { requestState } = await bodyAfterRound(serveModern())
    withdrawn.abort(new Error('withdrawn'))
    await vi.advanceTimersByTimeAsync(ROUND_MS)
    const { inputRequests } = await bodyAfterRound(retry(requestState, 'roots'))
    expect(Object.keys(inputRequests as object)).toEqual(['name'])
  })

  test('a requestState is accepted once', async () => {
    const done = Promise.withResolvers<object>()
    serve = async ({ requestId }) => {
      await ask('sampling', {}, requestId)
      return done.promise
    }
    const { requestState } = await bodyAfterRound(serveModern())
    const first = retry(requestState, 'sampling')
    const second = await retry(requestState, 'sampling')
    expect(second).toMatchObject({ head: { type: 'error', code: -32_602 } })
    done.resolve({ answer: 'once' })
    expect(await bodyOf(first)).toMatchObject({ answer: 'once' })
  })
})

test('a server request is refused when its caller reads no stream', async () => {
  serve = async ({ requestId }) => ({ answer: await ask('sampling', {}, requestId) })
  const client = session({ sampling: {} })
  const answer = await serveLegacy({ client, progress: false })
  expect(answer).toMatchObject({ head: { type: 'error', code: -32_601 } })
  expect(sent).toEqual([])
})

test('a request that is cancelled while its process starts does not run', async () => {
  const started = Promise.withResolvers<void>()
  ready = started.promise
  let runs = 0
  serve = async () => ({ runs: runs++ })
  const answer = serveLegacy({ id: 'a' })
  requests.ping('a')
  expect(sent).toEqual([['a', { type: 'running' }, '']])
  requests.cancel({ upstream }, 'a')
  started.resolve()
  expect(await answer).toMatchObject({ head: { type: 'error' } })
  expect(runs).toBe(0)
})

test('a server request outside of calls without a matching capability is refused', async () => {
  createRequests(SESSION)
  const url = { mode: 'url', url: 'https://example.com', message: 'm', elicitationId: 'e' }
  await expect(ask('elicitation', url)).rejects.toMatchObject({ code: -32_601 })
  expect(streamed).toEqual([])
})

test('a request without a retry in time is aborted at its server', async () => {
  serve = async ({ requestId, signal }) => {
    await ask('sampling', {}, requestId).catch(() => undefined)
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  }
  const { requestState } = await bodyAfterRound(serveModern())
  await vi.advanceTimersByTimeAsync(LIMIT_MS - ROUND_MS)
  expect(aborted).toEqual([])
  await vi.advanceTimersByTimeAsync(ROUND_MS)
  expect(aborted).toEqual(['a'])
  await Promise.all(tracked)
  const late = serveModern({ requestState, inputResponses: { sampling: {} } })
  expect(await late).toMatchObject({ head: { type: 'error', code: -32_602 } })
})

test('a request may run longer than the time limit for input after a retry', async () => {
  const done = Promise.withResolvers<object>()
  serve = async ({ requestId }) => {
    await ask('sampling', {}, requestId)
    return done.promise
  }
  const { requestState } = await bodyAfterRound(serveModern())
  const answer = serveModern({ requestState, inputResponses: { sampling: {} } })
  await vi.advanceTimersByTimeAsync(LIMIT_MS * 2)
  expect(aborted).toEqual([])
  done.resolve({ done: 1 })
  expect(await bodyOf(answer)).toMatchObject({ done: 1 })
})

test('abandon aborts only requests that wait for a retry', async () => {
  const done = Promise.withResolvers<object>()
  serve = async ({ requestId }) => {
    if (requestId === 'waits' || requestId === 'retried') await ask('sampling', {}, requestId)
    return done.promise
  }
  const busy = serveModern({}, { id: 'busy' })
  const { requestState } = await bodyAfterRound(serveModern({}, { id: 'retried' }))
  const inputResponses = { sampling: {} }
  const retry = serveModern({ requestState, inputResponses }, { id: 'retry' })
  await bodyAfterRound(serveModern({}, { id: 'waits' }))
  requests.abandon({ upstream })
  expect(aborted).toEqual(['waits'])
  done.resolve({ done: 1 })
  expect(await Promise.all([bodyOf(busy), bodyOf(retry)])).toMatchObject([{ done: 1 }, { done: 1 }])
  await Promise.all(tracked)
})

test('abandon ends requests of legacy clients that are being asked, with the reason', async () => {
  createRequests(SHARED)
  serve = async ({ requestId }) => {
    if (requestId === 'asks') await ask('elicitation', form('name'), requestId)
    return { done: 1 }
  }
  const client = session({ elicitation: {} })
  const asking = serveLegacy({ id: 'asks', client })
  await vi.waitFor(() => expect(sent).toHaveLength(1))
  requests.abandon({ upstream })
  expect(aborted).toEqual(['asks'])
  expect((await asking).head).toMatchObject({ type: 'error' })
  expect(await bodyOf(asking)).toMatchObject({
    code: -32_000,
    message: expect.stringContaining('moved to another process'),
    data: { reason: 'unknown-outcome' },
  })
  expect(await bodyOf(serveLegacy({ id: 'other', client }))).toEqual({ done: 1 })
})

test.each<[Era, McpLogLevel | undefined, McpLogLevel, boolean]>([
  ['legacy', undefined, 'debug', true],
  ['legacy', 'warning', 'notice', false],
  ['legacy', 'warning', 'warning', true],
  ['legacy', 'warning', 'emergency', true],
  ['modern', undefined, 'emergency', false],
  ['modern', 'other' as McpLogLevel, 'emergency', false],
  ['modern', 'info', 'debug', false],
  ['modern', 'info', 'info', true],
  ['modern', 'info', 'error', true],
])(
  'a %s client with the log level %s receives a log message of level %s: %s',
  async (caller, wanted, level, isReceived) => {
    createRequests(SHARED)
    const client = session({}, wanted)
    const _meta = { [LOG_LEVEL_KEY]: wanted }
    serve = async ({ requestId }) => {
      log(level, requestId)
      return {}
    }
    const send = (progress: boolean): Promise<McpReply> =>
      caller === 'legacy' ? serveLegacy({ client, progress }) : serveModern({ _meta }, { progress })
    // The caller reads no stream.
    await send(false)
    expect(sent).toEqual([])
    await send(true)
    const notice = { type: 'notice', method: 'notifications/message' }
    expect(sent).toEqual(isReceived ? [['a', notice, { level, logger: 'l', data: 1 }]] : [])
    expect(streamed).toEqual([])
  },
)

test('a legacy client without a session receives all log messages of its request', async () => {
  createRequests(SHARED)
  serve = async ({ requestId }) => {
    void requests.callback({
      kind: 'log',
      server: 's',
      level: 'debug',
      data: 1,
      isOutsideCalls: false,
      call: { requestId },
    })
    return {}
  }
  await serveLegacy({ progress: true })
  expect(sent).toMatchObject([['a', { type: 'notice' }, { level: 'debug', data: 1 }]])
  expect(sent[0]?.[2]).not.toHaveProperty('logger')
})

test('logs and requests of a server outside of calls go to the notification stream of the session', async () => {
  createRequests(SESSION)
  await serveLegacy({ client: session({ roots: {} }), progress: true })
  log('debug')
  const answer = ask('roots')
  const event = [clientMessage, { client: 'p' }]
  const logged = {
    method: 'notifications/message',
    params: { level: 'debug', logger: 'l', data: 1 },
  }
  const rootsRequest = { method: 'roots/list', params: {}, ask: expect.any(String) }
  expect(streamed).toEqual([
    [...event, { server: 's', ...logged }],
    [...event, { server: 's', ...rootsRequest }],
  ])
  const [, [, , message]] = streamed as [unknown, [unknown, unknown, { ask: string }]]
  requests.answer(message.ask, 'p', { result: { roots: [] } })
  expect(await answer).toEqual({ roots: [] })
  expect(sent).toEqual([])
})

test('a shared server broadcasts its logs outside of calls, and none of a chat', async () => {
  createRequests(SHARED)
  log('debug')
  log('error', 'of a chat')
  expect(streamed).toEqual([[serverLog, {}, { server: 's', level: 'debug', logger: 'l', data: 1 }]])
})

test("what a user's connection logs outside of calls reaches nobody", async () => {
  createRequests({ isOfUser: true })
  log('error')
  expect([streamed, sent]).toEqual([[], []])
})

test('logs of a request whose caller reads no stream go to the notification stream of its session', async () => {
  createRequests(SESSION)
  serve = async ({ requestId }) => {
    log('info', requestId)
    return {}
  }
  await serveLegacy({ client: session({}), progress: false })
  expect(streamed).toMatchObject([[clientMessage, { client: 'p' }, { params: { level: 'info' } }]])
})

test.each(['a', undefined])(
  'a server request that is withdrawn leaves no timer (request: %s)',
  async (id) => {
    createRequests(SESSION)
    const control = new AbortController()
    const roots = (): Promise<unknown> => ask('roots', undefined, id, control)
    serve = roots
    const client = session({ roots: {} })
    const answer = id === undefined ? roots() : serveLegacy({ id, client })
    await vi.waitFor(() => expect([...sent, ...streamed]).toHaveLength(1))
    control.abort(new Error('withdrawn'))
    await (id === undefined ? expect(answer).rejects.toThrow('withdrawn') : answer)
    expect(vi.getTimerCount()).toBe(0)
  },
)

test('the notification stream of a session uses the latest log level of its client', async () => {
  createRequests(SESSION)
  await serveLegacy({ client: session({}, 'warning') })
  for (const level of ['notice', 'warning', 'error'] as const) log(level)
  await serveLegacy({ client: session({}) })
  log('debug')
  expect(streamed).toMatchObject(
    ['warning', 'error', 'debug'].map((level) => [{}, {}, { params: { level } }]),
  )
})

test.each<[string, ProcessOptions]>([
  ['a shared process', SHARED],
  ['the process of a single request', { process: 'p' }],
])('a server request of %s is refused while no request runs', async (_, processOptions) => {
  createRequests(processOptions)
  await expect(ask('roots')).rejects.toThrow('while a request of it is under way')
  expect(streamed).toEqual([])
})

test('a log message of the process of a single request is dropped while no request runs', () => {
  createRequests({ process: 'p' })
  log('emergency')
  expect(streamed).toEqual([])
})

/** Starts two requests; the returned function ends them. */
async function startTwo(): Promise<() => Promise<unknown>> {
  const done = Promise.withResolvers<object>()
  const both = Promise.withResolvers<void>()
  let count = 0
  serve = () => {
    if (++count === 2) both.resolve()
    return done.promise
  }
  const client = session({ roots: {} })
  const all = ['a', 'b'].map((id) => serveLegacy({ id, client, progress: true }))
  await both.promise
  return () => {
    done.resolve({})
    return Promise.all(all)
  }
}

test('logs and requests of a shared process go only to the request that the server names', async () => {
  createRequests(SHARED)
  const finish = await startTwo()
  log('error', 'a')
  log('error')
  log('error', 'unknown')
  const answer = ask('roots', undefined, 'b')
  await expect(ask('roots')).rejects.toThrow('while a request of it is under way')
  expect(sent.map(([id, { type }]) => [id, type])).toEqual([
    ['a', 'notice'],
    ['b', 'ask'],
  ])
  requests.answer(askIdOf(1), 'p', { result: { n: 1 } })
  expect(await answer).toEqual({ n: 1 })
  await finish()
})

test('unattributed logs of a dedicated process go to the latest request', async () => {
  createRequests(SESSION)
  const finish = await startTwo()
  log('error')
  log('error', 'a')
  expect(sent.map(([id]) => id)).toEqual(['b', 'a'])
  await finish()
  log('error')
  expect(sent).toHaveLength(2)
  expect(streamed).toHaveLength(1)
})

test('a ping is answered while a request runs, and a cancel aborts it', async () => {
  createRequests(SHARED)
  const finish = await startTwo()
  for (const id of ['unknown', 'a']) requests.ping(id)
  expect(sent).toEqual([['a', { type: 'running' }, '']])
  requests.cancel({ upstream }, 'a')
  expect(aborted).toEqual(['a'])
  await finish()
  requests.ping('a')
  expect(sent).toHaveLength(1)
})

test('a retried request is addressed by the id of its retry', async () => {
  const done = Promise.withResolvers<object>()
  serve = async ({ requestId }) => {
    await ask('sampling', {}, requestId)
    log('error', requestId)
    return done.promise
  }
  const logs = { [CAPABILITIES_KEY]: { sampling: {} }, [LOG_LEVEL_KEY]: 'info' }
  const { requestState } = await bodyAfterRound(serveModern({ _meta: logs }, { progress: true }))
  const inputResponses = { sampling: {} }
  const retry = { requestState, inputResponses, _meta: logs }
  const answer = serveModern(retry, { id: 'b', progress: true })
  await vi.waitFor(() => expect(sent).toHaveLength(1))
  expect(sent[0]?.[0]).toBe('b')
  requests.ping('b')
  expect(sent[1]).toEqual(['b', { type: 'running' }, ''])
  requests.cancel({ upstream }, 'b')
  expect(aborted).toEqual(['a'])
  expect(await answer).toMatchObject({ head: { type: 'error' } })
  requests.ping('b')
  expect(sent).toHaveLength(2)
})

test('a request that is cancelled between two rounds to a modern server ends', async () => {
  createRequests(SESSION)
  era = 'modern'
  const inputRequests = { r: { method: 'roots/list' } }
  serve = async () => ({ resultType: 'input_required', inputRequests })
  const answer = serveLegacy({ client: session({ roots: {} }) })
  await vi.waitFor(() => expect(sent).toHaveLength(1))
  requests.cancel({ upstream }, 'a')
  expect(await answer).toMatchObject({ head: { type: 'error' } })
  expect(vi.getTimerCount()).toBe(0)
})

test.each<[string, ProcessOptions, Era, McpLogLevel | undefined, unknown[]]>([
  ['is set at a dedicated process', SESSION, 'legacy', 'warning', ['warning']],
  ['is not set if the client has none', SESSION, 'legacy', undefined, []],
  ['is not set at a modern server', SESSION, 'modern', 'warning', []],
  ['is not set at a shared process', SHARED, 'legacy', 'warning', []],
])('the log level of a client %s', async (_, processOptions, server, level, expected) => {
  createRequests(processOptions)
  era = server
  setLevel = () => new Promise((resolve) => void setImmediate(resolve))
  let levelsBefore: unknown[] = []
  serve = async () => {
    levelsBefore = levels.slice()
    return {}
  }
  await serveLegacy({ client: session({}, level) })
  // Set before the request, which may log at once.
  expect(levelsBefore).toEqual(expected)
})

test('the log level of a modern client is set from its request', async () => {
  await serveModern({ _meta: { [LOG_LEVEL_KEY]: 'error' } })
  expect(levels).toEqual(['error'])
})

test('a request runs although its server refuses the log level', async () => {
  setLevel = () => Promise.reject(new Error('no'))
  serve = async () => ({ done: 1 })
  expect(await bodyOf(serveLegacy({ client: session({}, 'info') }))).toEqual({ done: 1 })
})

test('a subscription is watched instead of sent, and its refusal is the answer', async () => {
  serve = () => Promise.reject(new Error('passed on'))
  const subscribe = { method: 'resources/subscribe' }
  const answer = await serveLegacy(subscribe, { uri: 'a:1' })
  expect(answer).toEqual({ head: { type: 'result' }, body: '{}' })
  expect(watched).toEqual([['a:1']])
  const refusal = new ProtocolError('no', -32_002, { server: 's' })
  Object.defineProperty(refusal, 'rpcError', { value: { code: -32_002, message: 'no' } })
  watch = () => Promise.reject(refusal)
  const refused = serveLegacy(subscribe, { uri: 'a:2' })
  expect(await refused).toMatchObject({ head: { type: 'error', code: -32_002 } })
  expect(await bodyOf(refused)).toEqual({ code: -32_002, message: 'no' })
})

test('params that are not an object are rejected', async () => {
  // The types exclude such params; the wire does not.
  expect(() => serveLegacy({}, [] as unknown as Json)).toThrow('params are no object')
})
