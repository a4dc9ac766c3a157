import type { McpClient, McpLogLevel, McpRequestHead, McpReplyHead } from '@mcp-host/contracts'
import { clientMessage, newEnvelope, serverLog } from '@mcp-host/contracts'
import type { ForwardOptions, ServerRequest } from 'mcp-host'
import { ProtocolError } from 'mcp-host'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Era } from './eras.ts'
import type { McpReply } from './forward-request.ts'
import type { RequestForwarderDeps, RequestTarget } from './request-forwarder.ts'
import { RequestForwarder } from './request-forwarder.ts'

const LIMIT_MS = 1_000
/** Longer than a server is given to ask more at once. */
const SOON_MS = 50

type Json = Readonly<Record<string, unknown>>
interface Call {
  readonly params: Json
  readonly requestId: string
  /** Whether it may be answered with what the server asks for. */
  readonly mayAsk: boolean | undefined
  /** When it is aborted. */
  readonly signal: AbortSignal
}

let requests: RequestForwarder
/** What the server does with a request. */
let serve: (call: Call) => Promise<unknown>
let ready: Promise<void> | undefined
let era: Era
/** The ids of the requests that were ended at the host. */
let aborted: string[]
let levels: unknown[]
let setLevel: () => Promise<void>
let tracked: Promise<unknown>[]
let watched: unknown[]
let watch: () => Promise<void>
/** What was said before the last answers, and to which request. */
let sent: [id: string, part: McpReplyHead, body: unknown][]
/** What went to the session's stream. */
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
  begin({ process: 'p' })
})
afterEach(() => void vi.useRealTimers())

type Place = Pick<RequestForwarderDeps, 'process' | 'hasSession' | 'capabilities'>
const SHARED: Place = {}
const answerable = { sampling: {}, roots: {}, elicitation: { form: {} } }
const SESSION: Place = { process: 'p', hasSession: true, capabilities: answerable }

function begin(place: Place): void {
  // It emits and does nothing else.
  const bus = {
    emit: (...event: unknown[]) => void streamed.push(event),
  } as unknown as RequestForwarderDeps['bus']
  requests = new RequestForwarder({ bus, server: 's', inputTimeoutMs: LIMIT_MS, ...place })
}

const controls = new Map<string, AbortController>()
const host: RequestTarget['host'] = {
  async forward(_server, _method, params, options: ForwardOptions = {}) {
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
  async setLoggingLevel(...level) {
    await setLevel()
    levels.push(level)
  },
}

const session = (capabilities: object, logLevel?: McpLogLevel): McpClient => ({
  id: 'p',
  capabilities: { ...capabilities },
  ...(logLevel === undefined ? {} : { logLevel }),
})

/** A request of an older client, which has a session where `client` is given. */
function pass(head: Partial<McpRequestHead>, params: Json = { name: 't' }): Promise<McpReply> {
  const { id = 'a' } = head
  const to: RequestTarget = {
    host,
    ready: () => ready,
    era: () => era,
    track: (work) => void tracked.push(work),
    watched: {
      async watch(uris) {
        watched.push(uris)
        await watch()
      },
    },
  }
  const heard = head.client === undefined ? {} : { progress: true }
  const full: McpRequestHead = { method: 'tools/call', era: 'legacy', ...heard, ...head, id }
  const body = new TextEncoder().encode(JSON.stringify(params))
  return requests.run(to, { head: full, body, envelope: newEnvelope('ann') }, (part, said) => {
    sent.push([id, part, said === '' ? '' : JSON.parse(said)])
  })
}

/** The same of a newer client that can be asked for all. */
function passNew(more: Json = {}, head: Partial<McpRequestHead> = {}): Promise<McpReply> {
  const capabilities = { sampling: {}, roots: {}, elicitation: { form: {}, url: {} } }
  const _meta = { [CAPABILITIES_KEY]: capabilities }
  return pass({ era: 'modern', ...head }, { name: 't', _meta, ...more })
}
const CAPABILITIES_KEY = 'io.modelcontextprotocol/clientCapabilities'
const LOG_LEVEL_KEY = 'io.modelcontextprotocol/logLevel'

async function bodyOf(answer: Promise<McpReply>): Promise<Json> {
  const { body } = await answer
  return JSON.parse(typeof body === 'string' ? body : new TextDecoder().decode(body)) as Json
}

/** What a request comes back with as soon as its server has asked all. */
async function soon(answer: Promise<McpReply>): Promise<Json> {
  await vi.advanceTimersByTimeAsync(SOON_MS)
  return bodyOf(answer)
}

const form = (...fields: string[]): object => ({
  message: 'tell',
  requestedSchema: { properties: Object.fromEntries(fields.map((each) => [each, {}])) },
})

/** The server asks; of a request that it names, where it knows it. */
function ask(
  kind: string,
  params?: object,
  requestId?: string,
  { signal } = new AbortController(),
): Promise<unknown> {
  const call = requestId === undefined ? {} : { call: { requestId } }
  const asked = { kind, ...(params === undefined ? {} : { params }), ...call }
  return requests.callback({ server: 's', signal, ...asked } as unknown as ServerRequest)
}

function log(level: McpLogLevel, requestId?: string): void {
  const call = requestId === undefined ? {} : { call: { requestId } }
  const said = { level, logger: 'l', data: 1, isOutsideCalls: requestId === undefined }
  void requests.callback({ kind: 'log', server: 's', ...said, ...call })
}

/** What the server asked the request for, with how to answer. */
function askOf(index: number): string {
  const [, part] = sent[index]!
  return part.type === 'ask' ? part.ask : ''
}

test.each<[string, object, object]>([
  ['result', { result: { action: 'accept' } }, { value: { action: 'accept' } }],
  ['error', { error: { code: 7, message: 'no' } }, { reason: { code: 7, message: 'no' } }],
])('an older client is asked on the way; its %s goes to the server', async (_, said, expected) => {
  begin(SESSION)
  serve = async ({ requestId }) => {
    const [answer] = await Promise.allSettled([ask('elicitation', form('name'), requestId)])
    expect(answer).toMatchObject(expected)
    return { done: 1 }
  }
  const answer = pass({ client: session({ elicitation: {} }) })
  await vi.waitFor(() => expect(sent).toHaveLength(1))
  const part = { type: 'ask', ask: expect.any(String), method: 'elicitation/create' }
  expect(sent).toEqual([['a', part, form('name')]])
  requests.answer(askOf(0), said)
  expect(await answer).toMatchObject({ head: { type: 'result' } })
  expect(await bodyOf(answer)).toEqual({ done: 1 })
})

test.each<[string, string, object?]>([
  ['sampling', 'sampling/createMessage', { messages: [] }],
  ['roots', 'roots/list'],
])('an older client is asked for %s by %s', async (kind, method, params) => {
  begin(SESSION)
  serve = async ({ requestId }) => ({ said: await ask(kind, params, requestId) })
  const answer = pass({ client: session({ [kind]: {} }) })
  await vi.waitFor(() => expect(sent).toMatchObject([['a', { type: 'ask', method }, params ?? {}]]))
  requests.answer(askOf(0), { result: { n: 1 } })
  expect(await bodyOf(answer)).toEqual({ said: { n: 1 } })
})

test.each<Era>(['legacy', 'modern'])(
  'a server is refused what its %s client cannot be asked for',
  async (caller) => {
    let refusals: unknown[] = []
    serve = async ({ requestId }) => {
      const page = { mode: 'url', url: 'x' }
      const asked = [ask('sampling', {}, requestId), ask('elicitation', page, requestId)]
      refusals = await Promise.allSettled(asked)
      return { done: 1 }
    }
    const capabilities = { elicitation: { form: {} }, roots: {} }
    const answer =
      caller === 'legacy'
        ? pass({ client: session(capabilities) })
        : passNew({ _meta: { [CAPABILITIES_KEY]: capabilities } })
    expect(await soon(answer)).toMatchObject({ done: 1 })
    const reason = { name: 'ClientRefusal', code: -32_601 }
    expect(refusals).toMatchObject([{ reason }, { reason }])
    expect(sent).toEqual([])
  },
)

test('an older client without a session is not asked', async () => {
  begin(SHARED)
  serve = ({ requestId }) => ask('sampling', {}, requestId)
  expect(await bodyOf(pass({}))).toMatchObject({ code: -32_601 })
  serve = async ({ mayAsk }) => ({ mayAsk })
  expect(await bodyOf(pass({}))).toEqual({ mayAsk: false })
})

test('a newer client comes back with what the server asked for, as often as that takes', async () => {
  serve = async ({ requestId }) => {
    const first = await ask('elicitation', form('name'), requestId)
    return { first, second: await ask('sampling', { messages: [] }, requestId) }
  }
  const first = await soon(passNew())
  const requestState = expect.stringMatching(/^mcp-host\.p\.[\da-f-]{36}$/)
  expect(first).toEqual({
    resultType: 'input_required',
    inputRequests: { name: { method: 'elicitation/create', params: form('name') } },
    requestState,
  })
  const back = { requestState: first['requestState'], inputResponses: { name: { n: 1 } } }
  const second = await soon(passNew(back, { id: 'b' }))
  expect(second).toEqual({
    resultType: 'input_required',
    inputRequests: { sampling: { method: 'sampling/createMessage', params: { messages: [] } } },
    requestState,
  })
  expect(second['requestState']).not.toBe(first['requestState'])
  const again = { requestState: second['requestState'], inputResponses: { sampling: { n: 2 } } }
  expect(await bodyOf(passNew(again, { id: 'c' }))).toEqual({
    resultType: 'complete',
    first: { n: 1 },
    second: { n: 2 },
  })
  // Its counter has ended, too.
  await Promise.all(tracked)
  expect(tracked).toHaveLength(1)
  requests.ping('a')
  expect(sent).toEqual([])
})

test('what a server asks at once comes together, each under a name of its own', async () => {
  const asked: [string, object?][] = [
    ['elicitation', form('name')],
    ['elicitation', form('name')],
    ['elicitation', form('a', 'b')],
    ['elicitation', { mode: 'url', url: 'x' }],
    ['sampling', {}],
    ['roots'],
  ]
  serve = async ({ requestId }) => ({
    said: await Promise.all(asked.map((each) => ask(each[0], each[1], requestId))),
  })
  const { inputRequests, requestState } = await soon(passNew())
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
  const said = keys.map((key) => ({ key }))
  expect(await bodyOf(passNew({ requestState, inputResponses }))).toMatchObject({ said })
})

test('what a server asks while it is still asking comes in the same round', async () => {
  serve = ({ requestId }) => {
    const each = ['a', 'b', 'c'].map(async (name, index) => {
      await new Promise((resolve) => void setTimeout(resolve, index * 8))
      return ask('elicitation', form(name), requestId)
    })
    return Promise.all(each)
  }
  const { inputRequests } = await soon(passNew())
  expect(Object.keys(inputRequests as object)).toEqual(['a', 'b', 'c'])
})

test.each<[string, unknown]>([
  ['left out', undefined],
  ['no object', 'yes'],
])('what is %s of an answer is asked again, and nothing else', async (_, nothing) => {
  const said: unknown[] = []
  serve = async ({ requestId }) => {
    const each = async (name: string): Promise<void> => {
      said.push([name, await ask('elicitation', form(name), requestId)])
    }
    await Promise.all([each('x'), each('y')])
    return {}
  }
  let { requestState } = await soon(passNew())
  const inputResponses = { x: nothing, y: { n: 1 } }
  const second = await soon(passNew({ requestState, inputResponses }, { id: 'b' }))
  expect(Object.keys(second['inputRequests'] as object)).toEqual(['x'])
  expect(said).toEqual([['y', { n: 1 }]])
  ;({ requestState } = second)
  await bodyOf(passNew({ requestState, inputResponses: { x: { n: 2 } } }, { id: 'c' }))
  expect(said).toEqual([
    ['y', { n: 1 }],
    ['x', { n: 2 }],
  ])
})

test('a state that is wrong or used up is refused, and costs nobody the request', async () => {
  serve = async ({ requestId }) => {
    await ask('sampling', {}, requestId)
    await ask('sampling', {}, requestId)
    return { done: 1 }
  }
  const refused = { head: { type: 'error', code: -32_602 } }
  const inputResponses = { sampling: {} }
  const { requestState: first } = await soon(passNew())
  const wrong = { requestState: `mcp-host.p.${crypto.randomUUID()}`, inputResponses }
  expect(await passNew(wrong)).toMatchObject(refused)
  const { requestState } = await soon(passNew({ requestState: first, inputResponses }))
  expect(await passNew({ requestState: first, inputResponses })).toMatchObject(refused)
  expect(await bodyOf(passNew({ requestState, inputResponses }))).toMatchObject({ done: 1 })
  expect(await passNew({ requestState, inputResponses })).toMatchObject(refused)
})

test.each<[Json, Json]>([
  [{ name: 't' }, { name: 'other' }],
  [
    { name: undefined, uri: 'a:1' },
    { name: undefined, uri: 'a:2' },
  ],
])('a state that was given for %j is no good for %j', async (subject, other) => {
  serve = async ({ requestId }) => ({ said: await ask('sampling', {}, requestId) })
  const { requestState } = await soon(passNew(subject))
  const back = { requestState, inputResponses: { sampling: { n: 1 } } }
  const refused = await passNew({ ...back, ...other })
  expect(refused).toMatchObject({ head: { type: 'error', code: -32_602 } })
  expect(await bodyOf(passNew({ ...back, ...subject }))).toMatchObject({ said: { n: 1 } })
})

test.each<[Era, Era, string]>([
  ['modern', 'modern', 'theirs'],
  // Behind it may be a host of this kind.
  ['modern', 'modern', 'mcp-host.p.x'],
  ['legacy', 'legacy', 'mcp-host.p.x'],
])('a state of a %s client goes to its %s server: %s', async (caller, server, requestState) => {
  era = server
  serve = async ({ params }) => ({ params })
  const { params } = await bodyOf(passNew({ requestState }, { era: caller }))
  expect(params).toMatchObject({ requestState })
})

test('a state that no older server can have given is refused', async () => {
  const refused = await passNew({ requestState: 'theirs' })
  expect(refused).toMatchObject({ head: { type: 'error', code: -32_602 } })
})

describe('a caller that comes back', () => {
  const back = (requestState: unknown, ...keys: string[]): Promise<McpReply> =>
    passNew({ requestState, inputResponses: Object.fromEntries(keys.map((key) => [key, {}])) })

  test('has its time anew for what it left out', async () => {
    serve = async ({ requestId }) => ({
      all: await Promise.all([ask('sampling', {}, requestId), ask('roots', {}, requestId)]),
    })
    const first = await soon(passNew())
    await vi.advanceTimersByTimeAsync(LIMIT_MS * 0.6)
    const second = await soon(back(first['requestState'], 'sampling'))
    expect(Object.keys(second['inputRequests'] as object)).toEqual(['roots'])
    await vi.advanceTimersByTimeAsync(LIMIT_MS * 0.6)
    expect(await bodyOf(back(second['requestState'], 'roots'))).toMatchObject({ all: [{}, {}] })
  })

  test('gets the end of a request that did not wait for it', async () => {
    const over = Promise.withResolvers<object>()
    serve = async ({ requestId }) => {
      void ask('sampling', {}, requestId).catch(() => undefined)
      return over.promise
    }
    const { requestState } = await soon(passNew())
    over.resolve({ said: 'without you' })
    await vi.advanceTimersByTimeAsync(SOON_MS)
    expect(await bodyOf(back(requestState, 'sampling'))).toMatchObject({ said: 'without you' })
  })

  test('is not asked what is over before it hears of it', async () => {
    serve = async ({ requestId }) => {
      void ask('sampling', {}, requestId).catch(() => undefined)
      return { said: 'at once' }
    }
    expect(await soon(passNew())).toMatchObject({ said: 'at once' })
  })

  test('is not asked again what the server has taken back', async () => {
    const withdrawn = new AbortController()
    serve = async ({ requestId }) => {
      await Promise.allSettled([
        ask('sampling', {}, requestId, withdrawn),
        ask('roots', {}, requestId),
      ])
      return ask('elicitation', form('name'), requestId)
    }
    const { requestState } = await soon(passNew())
    withdrawn.abort(new Error('never mind'))
    await vi.advanceTimersByTimeAsync(SOON_MS)
    const { inputRequests } = await soon(back(requestState, 'roots'))
    expect(Object.keys(inputRequests as object)).toEqual(['name'])
  })

  test('does so once with each state', async () => {
    const done = Promise.withResolvers<object>()
    serve = async ({ requestId }) => {
      await ask('sampling', {}, requestId)
      return done.promise
    }
    const { requestState } = await soon(passNew())
    const first = back(requestState, 'sampling')
    const second = await back(requestState, 'sampling')
    expect(second).toMatchObject({ head: { type: 'error', code: -32_602 } })
    done.resolve({ said: 'once' })
    expect(await bodyOf(first)).toMatchObject({ said: 'once' })
  })
})

test('who waits for the answer alone is asked nothing', async () => {
  serve = async ({ requestId }) => ({ said: await ask('sampling', {}, requestId) })
  const client = session({ sampling: {} })
  const answer = await pass({ client, progress: false })
  expect(answer).toMatchObject({ head: { type: 'error', code: -32_601 } })
  expect(sent).toEqual([])
})

test('while its process starts a request can be asked for and cancelled, and then does not run', async () => {
  const started = Promise.withResolvers<void>()
  ready = started.promise
  let runs = 0
  serve = async () => ({ runs: runs++ })
  const answer = pass({ id: 'a' })
  requests.ping('a')
  expect(sent).toEqual([['a', { type: 'running' }, '']])
  requests.cancel({ host }, 'a')
  started.resolve()
  expect(await answer).toMatchObject({ head: { type: 'error' } })
  expect(runs).toBe(0)
})

test('the stream of a session is not asked for what its client does not take', async () => {
  begin(SESSION)
  const url = { mode: 'url', url: 'https://example.com', message: 'm', elicitationId: 'e' }
  await expect(ask('elicitation', url)).rejects.toMatchObject({ code: -32_601 })
  expect(streamed).toEqual([])
})

test('a request that nobody comes back to in time is ended at its server', async () => {
  serve = async ({ requestId, signal }) => {
    await ask('sampling', {}, requestId).catch(() => undefined)
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  }
  const { requestState } = await soon(passNew())
  await vi.advanceTimersByTimeAsync(LIMIT_MS - SOON_MS)
  expect(aborted).toEqual([])
  await vi.advanceTimersByTimeAsync(SOON_MS)
  expect(aborted).toEqual(['a'])
  await Promise.all(tracked)
  const late = passNew({ requestState, inputResponses: { sampling: {} } })
  expect(await late).toMatchObject({ head: { type: 'error', code: -32_602 } })
})

test('a caller who came back in time may take longer after that', async () => {
  const done = Promise.withResolvers<object>()
  serve = async ({ requestId }) => {
    await ask('sampling', {}, requestId)
    return done.promise
  }
  const { requestState } = await soon(passNew())
  const answer = passNew({ requestState, inputResponses: { sampling: {} } })
  await vi.advanceTimersByTimeAsync(LIMIT_MS * 2)
  expect(aborted).toEqual([])
  done.resolve({ done: 1 })
  expect(await bodyOf(answer)).toMatchObject({ done: 1 })
})

test('those that wait for their callers can be ended, and only those', async () => {
  const done = Promise.withResolvers<object>()
  serve = async ({ requestId }) => {
    if (requestId === 'waits' || requestId === 'is-back') await ask('sampling', {}, requestId)
    return done.promise
  }
  const busy = passNew({}, { id: 'busy' })
  const { requestState } = await soon(passNew({}, { id: 'is-back' }))
  const inputResponses = { sampling: {} }
  const back = passNew({ requestState, inputResponses }, { id: 'back' })
  await soon(passNew({}, { id: 'waits' }))
  requests.abandon({ host })
  expect(aborted).toEqual(['waits'])
  done.resolve({ done: 1 })
  expect(await Promise.all([bodyOf(busy), bodyOf(back)])).toMatchObject([{ done: 1 }, { done: 1 }])
  await Promise.all(tracked)
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
  'a %s client that wants %s gets a log message of %s: %s',
  async (caller, wanted, level, gets) => {
    begin(SHARED)
    const client = session({}, wanted)
    const _meta = { [LOG_LEVEL_KEY]: wanted }
    serve = async ({ requestId }) => {
      log(level, requestId)
      return {}
    }
    const send = (progress: boolean): Promise<McpReply> =>
      caller === 'legacy' ? pass({ client, progress }) : passNew({ _meta }, { progress })
    // Nobody listens.
    await send(false)
    expect(sent).toEqual([])
    await send(true)
    const notice = { type: 'notice', method: 'notifications/message' }
    expect(sent).toEqual(gets ? [['a', notice, { level, logger: 'l', data: 1 }]] : [])
    expect(streamed).toEqual([])
  },
)

test('an older client without a session gets all log messages of its request', async () => {
  begin(SHARED)
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
  await pass({ progress: true })
  expect(sent).toMatchObject([['a', { type: 'notice' }, { level: 'debug', data: 1 }]])
  expect(sent[0]?.[2]).not.toHaveProperty('logger')
})

test('what a server says or asks while no request runs goes to the stream of the session', async () => {
  begin(SESSION)
  await pass({ client: session({ roots: {} }), progress: true })
  log('debug')
  const answer = ask('roots')
  const to = [clientMessage, { client: 'p' }]
  const logged = {
    method: 'notifications/message',
    params: { level: 'debug', logger: 'l', data: 1 },
  }
  const asked = { method: 'roots/list', params: {}, ask: expect.any(String) }
  expect(streamed).toEqual([
    [...to, { server: 's', ...logged }],
    [...to, { server: 's', ...asked }],
  ])
  const [, [, , message]] = streamed as [unknown, [unknown, unknown, { ask: string }]]
  requests.answer(message.ask, { result: { roots: [] } })
  expect(await answer).toEqual({ roots: [] })
  expect(sent).toEqual([])
})

test('what a shared server logs outside of calls goes to all who listen, and nothing of a call', async () => {
  begin(SHARED)
  log('debug')
  log('error', 'of a chat')
  expect(streamed).toEqual([[serverLog, {}, { server: 's', level: 'debug', logger: 'l', data: 1 }]])
})

test('what the process of a session logs while a request of it is heard by nobody goes to its stream', async () => {
  begin(SESSION)
  serve = async ({ requestId }) => {
    log('info', requestId)
    return {}
  }
  await pass({ client: session({}), progress: false })
  expect(streamed).toMatchObject([[clientMessage, { client: 'p' }, { params: { level: 'info' } }]])
})

test.each(['a', undefined])('a question that its server withdraws is over (%s)', async (id) => {
  begin(SESSION)
  const control = new AbortController()
  const roots = (): Promise<unknown> => ask('roots', undefined, id, control)
  serve = roots
  const client = session({ roots: {} })
  const answer = id === undefined ? roots() : pass({ id, client })
  await vi.waitFor(() => expect([...sent, ...streamed]).toHaveLength(1))
  control.abort(new Error('withdrawn'))
  await (id === undefined ? expect(answer).rejects.toThrow('withdrawn') : answer)
  expect(vi.getTimerCount()).toBe(0)
})

test('the stream of a session gets log messages of the level that it asked for last', async () => {
  begin(SESSION)
  await pass({ client: session({}, 'warning') })
  for (const level of ['notice', 'warning', 'error'] as const) log(level)
  await pass({ client: session({}) })
  log('debug')
  expect(streamed).toMatchObject(
    ['warning', 'error', 'debug'].map((level) => [{}, {}, { params: { level } }]),
  )
})

test.each<[string, Place]>([
  ['many share', SHARED],
  ['a request has', { process: 'p' }],
])('by a process that %s nobody is asked while no request runs', async (_, place) => {
  begin(place)
  await expect(ask('roots')).rejects.toThrow('while a request of it is under way')
  expect(streamed).toEqual([])
})

test('what the process of one request logs while that does not run is told to nobody', () => {
  begin({ process: 'p' })
  log('emergency')
  expect(streamed).toEqual([])
})

/** Two requests that run; `finish` ends them. */
async function passTwo(): Promise<() => Promise<unknown>> {
  const done = Promise.withResolvers<object>()
  const both = Promise.withResolvers<void>()
  let count = 0
  serve = () => {
    if (++count === 2) both.resolve()
    return done.promise
  }
  const client = session({ roots: {} })
  const all = ['a', 'b'].map((id) => pass({ id, client, progress: true }))
  await both.promise
  return () => {
    done.resolve({})
    return Promise.all(all)
  }
}

test('where many share a process only the request that caused it is told and asked', async () => {
  begin(SHARED)
  const finish = await passTwo()
  log('error', 'a')
  log('error')
  log('error', 'unknown')
  const answer = ask('roots', undefined, 'b')
  await expect(ask('roots')).rejects.toThrow('while a request of it is under way')
  expect(sent.map(([id, { type }]) => [id, type])).toEqual([
    ['a', 'notice'],
    ['b', 'ask'],
  ])
  requests.answer(askOf(1), { result: { n: 1 } })
  expect(await answer).toEqual({ n: 1 })
  await finish()
})

test('where a client has the process alone the newest request stands for one that is not known', async () => {
  begin(SESSION)
  const finish = await passTwo()
  log('error')
  log('error', 'a')
  expect(sent.map(([id]) => id)).toEqual(['b', 'a'])
  await finish()
  log('error')
  expect(sent).toHaveLength(2)
  expect(streamed).toHaveLength(1)
})

test('a request gives a sign of life while it runs, and is ended when it is cancelled', async () => {
  begin(SHARED)
  const finish = await passTwo()
  for (const id of ['unknown', 'a']) requests.ping(id)
  expect(sent).toEqual([['a', { type: 'running' }, '']])
  requests.cancel({ host }, 'a')
  expect(aborted).toEqual(['a'])
  await finish()
  requests.ping('a')
  expect(sent).toHaveLength(1)
})

test('a request that goes on with what its caller came back with is known by the new id', async () => {
  const done = Promise.withResolvers<object>()
  serve = async ({ requestId }) => {
    await ask('sampling', {}, requestId)
    log('error', requestId)
    return done.promise
  }
  const logs = { [CAPABILITIES_KEY]: { sampling: {} }, [LOG_LEVEL_KEY]: 'info' }
  const { requestState } = await soon(passNew({ _meta: logs }, { progress: true }))
  const inputResponses = { sampling: {} }
  const again = { requestState, inputResponses, _meta: logs }
  const answer = passNew(again, { id: 'b', progress: true })
  await vi.waitFor(() => expect(sent).toHaveLength(1))
  expect(sent[0]?.[0]).toBe('b')
  requests.ping('b')
  expect(sent[1]).toEqual(['b', { type: 'running' }, ''])
  requests.cancel({ host }, 'b')
  expect(aborted).toEqual(['a'])
  expect(await answer).toMatchObject({ head: { type: 'error' } })
  requests.ping('b')
  expect(sent).toHaveLength(2)
})

test('a request that is cancelled between two requests to a newer server is asked for nothing more', async () => {
  begin(SESSION)
  era = 'modern'
  const inputRequests = { r: { method: 'roots/list' } }
  serve = async () => ({ resultType: 'input_required', inputRequests })
  const answer = pass({ client: session({ roots: {} }) })
  await vi.waitFor(() => expect(sent).toHaveLength(1))
  requests.cancel({ host }, 'a')
  expect(await answer).toMatchObject({ head: { type: 'error' } })
  expect(vi.getTimerCount()).toBe(0)
})

test.each<[string, Place, Era, McpLogLevel | undefined, unknown[]]>([
  ['is set at a process of its own', SESSION, 'legacy', 'warning', [['warning', 's']]],
  ['is left as it is without one', SESSION, 'legacy', undefined, []],
  ['goes with the requests to a newer server', SESSION, 'modern', 'warning', []],
  ['is not set where others share the process', SHARED, 'legacy', 'warning', []],
])('the log level of a client %s', async (_, place, server, level, expected) => {
  begin(place)
  era = server
  setLevel = () => new Promise((resolve) => void setImmediate(resolve))
  let known: unknown[] = []
  serve = async () => {
    known = levels.slice()
    return {}
  }
  await pass({ client: session({}, level) })
  // Before the request: it may tell something at once.
  expect(known).toEqual(expected)
})

test('a newer client says its log level with each request', async () => {
  await passNew({ _meta: { [LOG_LEVEL_KEY]: 'error' } })
  expect(levels).toEqual([['error', 's']])
})

test('a server that takes no log level still serves the request', async () => {
  setLevel = () => Promise.reject(new Error('no'))
  serve = async () => ({ done: 1 })
  expect(await bodyOf(pass({ client: session({}, 'info') }))).toEqual({ done: 1 })
})

test('a subscription is one for all, and not passed on; a refusal is the answer', async () => {
  serve = () => Promise.reject(new Error('passed on'))
  const subscribe = { method: 'resources/subscribe' }
  const answer = await pass(subscribe, { uri: 'a:1' })
  expect(answer).toEqual({ head: { type: 'result' }, body: '{}' })
  expect(watched).toEqual([['a:1']])
  const refusal = new ProtocolError('no', -32_002, { server: 's' })
  Object.defineProperty(refusal, 'rpcError', { value: { code: -32_002, message: 'no' } })
  watch = () => Promise.reject(refusal)
  const refused = pass(subscribe, { uri: 'a:2' })
  expect(await refused).toMatchObject({ head: { type: 'error', code: -32_002 } })
  expect(await bodyOf(refused)).toEqual({ code: -32_002, message: 'no' })
})

test('params that are no object are nobody’s request', async () => {
  // A careless sender: not typed.
  expect(() => pass({}, [] as unknown as Json)).toThrow('params are no object')
})
