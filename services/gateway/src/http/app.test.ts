import type { GenerationId, LogFact, Principal, SessionId } from '@mcp-host/contracts'
import { BusError, LOCAL, toolCallId } from '@mcp-host/contracts'
import type { Logger } from '@mcp-host/service'
import { InFlight } from '@mcp-host/async'
import { AccessPolicy, type ClientVirtualServers } from '@mcp-host/mcp-endpoint'
import { noClients } from '@mcp-host/mcp-endpoint/testing'
import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import { Registry } from 'prom-client'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openDoor } from '../auth/authenticator.ts'
import { gatewayEvents } from '../events.ts'
import { FakeBus } from './__fixtures__/fake-bus.ts'
import { ApprovalQueue } from '../approvals/approval-queue.ts'
import { GatewayAudit } from '../gateway-audit.ts'
import { NO_PINS } from '../auth/no-pins.ts'
import { UNLIMITED } from '../limits/unlimited.ts'
import { MaintenanceState } from '../maintenance-state.ts'
import { VirtualServers } from '../mcp/virtual-servers.ts'
import { sessionRecord } from './__fixtures__/session-record.ts'
import { buildApp } from './app.ts'

let principal: Principal = LOCAL

const SESSION = 'sessionsessionse'.repeat(2) as SessionId
const at = (rest = ''): string => `/api/chat/session/${SESSION}${rest}`

const record = sessionRecord(SESSION, 'local')

const models = {
  default: { provider: 'demo', model: 'demo-1' },
  providers: [
    { provider: 'demo', state: 'ready' as const, models: [{ id: 'demo-1', tools: true }] },
  ],
}

let bus: FakeBus
let app: FastifyInstance
let draining: AbortController
let refusing: AbortController
/** The error lines of the log. */
let errors: object[]
beforeEach(async () => {
  bus = new FakeBus()
  errors = []
  draining = new AbortController()
  refusing = new AbortController()
  const metrics = new Registry()
  const quiet = () => undefined
  const catalog = {
    entries: new Map(),
    onChange: () => ({ [Symbol.dispose]: () => undefined }),
  }
  app = await buildApp(
    {
      bus: bus.asBus(),
      // The routes use only these members.
      logger: {
        info: quiet,
        warn: quiet,
        error: (fields: object) => errors.push(fields),
      } as unknown as Logger,
      events: gatewayEvents(metrics),
      draining: draining.signal,
      refusing: refusing.signal,
      operations: { service: 'gateway', metrics, ready: async () => undefined },
      auth: {
        ...openDoor('http://127.0.0.1:3000'),
        isOn: true,
        authenticate: () => principal,
        credentialOf: () => ({ kind: 'key', id: 'k' }),
      },
      onSocket: quiet,
      policy: new AccessPolicy(),
      pins: NO_PINS,
      queue: new ApprovalQueue(
        { bus: bus.asBus(), audit: new GatewayAudit(undefined) },
        { timeoutMs: 60_000 },
      ),
      limits: UNLIMITED,
      maintenance: await MaintenanceState.open(bus.asBus()),
      audit: new GatewayAudit(undefined),
      passing: new InFlight(),
      clients: noClients,
      // No route of the chat uses it.
      clientVirtualServers: {} as ClientVirtualServers,
      signSession: (text) => text.slice(-16),
      catalog,
      virtualServers: new VirtualServers(catalog),
      models: () => models,
      tools: () => [{ server: 's', tool: 't', state: 'ready' }],
      live: { of: async () => [] },
    },
    { allowedOrigins: [], heartbeatMs: 30_000, mcpStreamMs: 0 },
  )
})
afterEach(async () => {
  principal = LOCAL
  draining.abort()
  await app.close()
})

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE' | 'OPTIONS'

async function ask(
  method: Method,
  url: string,
  body?: object,
  headers: Record<string, string> = {},
): Promise<LightMyRequestResponse> {
  const payload = body === undefined ? {} : { payload: body }
  return app.inject({ method, url, headers: { host: 'localhost', ...headers }, ...payload })
}

function store(fact: LogFact): number {
  return bus.store(SESSION, fact).seq
}

/** Stores a turn with an answer, or a running turn without `text`. */
function answer(turn: number, messageId: string, text?: string): void {
  const base = { turn, seen: turn }
  const generation = `${SESSION}-${turn}` as GenerationId
  const claim = {
    type: 'turn-claimed',
    messageId,
    orchestrator: 'o',
    epoch: 1,
    generation,
  } as const
  store({ kind: 'turn', fact: { ...claim, ...base } })
  if (text === undefined) return
  const content = [{ type: 'text' as const, text }]
  const model = { provider: 'demo', model: 'demo-1' }
  store({ kind: 'generation', fact: { generation, outcome: 'completed', content, ...model } })
  store({ kind: 'turn', fact: { type: 'turn-done', messageId, outcome: 'completed', ...base } })
}

/** Waits for a message to be stored and answers it. */
async function answerNext(text: string): Promise<void> {
  while (bus.entries.at(-1)?.kind !== 'input') await new Promise((resolve) => setImmediate(resolve))
  const input = bus.entries.at(-1)
  if (input?.kind === 'input') answer(input.seq, input.fact.id, text)
}

/** The data of the events of a stream. */
function eventsOf({ body }: LightMyRequestResponse): { type: string; content: string }[] {
  return Array.from(body.matchAll(/^data: (.*)$/gm), ([, data = '']) => JSON.parse(data))
}

const textOf = (response: LightMyRequestResponse): string =>
  eventsOf(response)
    .flatMap(({ type, content }) => (type === 'content' ? [content] : []))
    .join('')

describe('invalid requests', () => {
  const long = 'x'.repeat(131_073)
  test.each<[string, Method, string, object | undefined, number, string | undefined, RegExp]>([
    ['no message', 'POST', at('/message'), {}, 400, 'message', /^body: message/],
    ['no body', 'POST', at('/message'), undefined, 400, undefined, /^body: /],
    ['a list', 'POST', at('/message'), ['hi'], 400, undefined, /^body: .*object/],
    ['a number', 'POST', at('/message'), { message: 5 }, 400, 'message', /string/],
    ['an empty message', 'POST', at('/message'), { message: ' \n' }, 400, 'message', /empty/],
    [
      'only control characters',
      'POST',
      at('/message'),
      { message: '\u0000' },
      400,
      'message',
      /empty/,
    ],
    [
      'a message that is too long',
      'POST',
      at('/message'),
      { message: long },
      400,
      'message',
      /131072/,
    ],
    ['a wrong id', 'POST', at('/message'), { message: 'a', id: 'a b' }, 400, 'id', /1 to 64/],
    [
      'an invalid message to replace',
      'POST',
      at('/message'),
      { message: 'a', replaces: '' },
      400,
      'replaces',
      /1/,
    ],
    [
      'an unknown message to replace',
      'POST',
      at('/message'),
      { message: 'a', replaces: 'x' },
      404,
      'replaces',
      /"x"/,
    ],
    [
      'an invalid session id',
      'POST',
      '/api/chat/session/no/message',
      { message: 'a' },
      400,
      'id',
      /16 to 64/,
    ],
    ['no message to regenerate', 'POST', at('/regenerate'), {}, 400, 'messageId', /^body/],
    [
      'an unknown message to regenerate',
      'POST',
      at('/regenerate'),
      { messageId: 'x' },
      404,
      'messageId',
      /"x"/,
    ],
    [
      'an unknown message to abort',
      'POST',
      at('/abort'),
      { messageId: 'x' },
      404,
      'messageId',
      /"x"/,
    ],
    ['an unknown call', 'POST', at('/abort-call'), { callId: 'x' }, 404, 'callId', /"x"/],
    ['no call', 'POST', at('/abort-call'), {}, 400, 'callId', /string/],
    ['no running turn', 'POST', at('/abort'), undefined, 409, undefined, /nothing runs/],
    ['a wrong action', 'POST', at('/answer'), { id: 'q', action: 'no' }, 400, 'action', /accept/],
    [
      'an unknown elicitation',
      'POST',
      at('/answer'),
      { id: 'q', action: 'accept' },
      404,
      'id',
      /"q"/,
    ],
    ['an invalid cursor', 'GET', at('/events?after=x'), undefined, 400, 'after', /id of an event/],
    [
      'a cursor beyond the end',
      'GET',
      at('/events?after=9.0.-.0'),
      undefined,
      400,
      'after',
      /this session/,
    ],
    ['a limit of zero', 'GET', '/api/chat/sessions?limit=0', undefined, 400, 'limit', /1/],
    [
      'a limit that is not a number',
      'GET',
      '/api/chat/sessions?limit=many',
      undefined,
      400,
      'limit',
      /number/,
    ],
    ['a limit that is too high', 'GET', at('/messages?limit=101'), undefined, 400, 'limit', /100/],
    ['an empty title', 'PATCH', at(), { title: ' ' }, 400, 'title', /empty/],
    ['a long title', 'PATCH', at(), { title: 'x'.repeat(201) }, 400, 'title', /200/],
    ['neither title nor model', 'PATCH', at(), {}, 400, 'title', /title, a model/],
    ['a wrong model', 'PATCH', at(), { model: 'a b' }, 400, 'model', /provider\/model/],
    ['a wrong title', 'POST', '/api/chat/session', { title: 7 }, 400, 'title', /string/],
    ['an unknown session', 'GET', at(), undefined, 404, undefined, /no such session/],
    ['an unknown session', 'PATCH', at(), { title: 'x' }, 404, undefined, /no such session/],
    [
      'a session that was never issued',
      'DELETE',
      `/api/chat/session/${'0'.repeat(31)}1`,
      undefined,
      404,
      'id',
      /no session/,
    ],
    ['an unknown session', 'GET', at('/messages'), undefined, 404, undefined, /no such session/],
    ['an unknown path', 'GET', '/api/chat/nowhere', undefined, 404, undefined, /no GET/],
    ['an invalid path', 'GET', '/api/chat/%zz', undefined, 400, undefined, /%zz/],
  ])(
    'a request with %s is refused: %s %s',
    async (_, method, url, body, status, field, message) => {
      const response = await ask(method, url, body)
      expect(response.json()).toMatchObject({
        error: {
          message: expect.stringMatching(message),
          ...(field === undefined ? {} : { field }),
        },
      })
      expect(response.statusCode).toBe(status)
      expect(response.headers['content-type']).toContain('application/json')
      expect(bus.entries).toEqual([])
    },
  )

  test('a body of very many values is refused before it is parsed', async () => {
    const headers = { host: 'localhost', 'content-type': 'application/json' }
    const payload = `{"message":"hi","x":[${'1,'.repeat(500_001)}1]}`
    const response = await app.inject({ method: 'POST', url: at('/message'), headers, payload })
    expect(response.statusCode).toBe(400)
    expect(response.json().error).toMatchObject({
      code: 'invalid',
      message: 'body: has more than 500000 values and names; send less at a time',
    })
  })

  test('a body that is nested too deep is refused with the limit', async () => {
    const headers = { host: 'localhost', 'content-type': 'application/json' }
    const payload = `{"message":"hi","x":${'['.repeat(10_000)}${']'.repeat(10_000)}}`
    const response = await app.inject({ method: 'POST', url: at('/message'), headers, payload })
    expect(response.statusCode).toBe(400)
    expect(response.json().error).toMatchObject({
      code: 'invalid',
      message: 'body: is nested more than 256 levels deep',
    })
  })

  test('a body that is not JSON is refused with the position of the error', async () => {
    const headers = { host: 'localhost', 'content-type': 'application/json' }
    const payload = '{"message": "hi",}'
    const response = await app.inject({ method: 'POST', url: at('/message'), headers, payload })
    expect(response.statusCode).toBe(400)
    expect(response.json().error).toMatchObject({
      code: 'invalid',
      message: expect.stringMatching(/^body: not JSON: .*position 17/),
    })
  })

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])(
    'a body of the type %s is refused',
    async (type) => {
      const headers = { host: 'localhost', 'content-type': type }
      const payload = '{"message":"hi"}'
      const response = await app.inject({ method: 'POST', url: at('/message'), headers, payload })
      expect(response.statusCode).toBe(415)
      expect(response.json().error.message).toContain('Content-Type: application/json')
    },
  )

  test('a body of more than 1 MB is refused', async () => {
    const response = await ask('POST', at('/message'), { message: 'x'.repeat(1_100_000) })
    expect(response.statusCode).toBe(413)
    expect(response.json().error).toMatchObject({ code: 'invalid', message: /larger than 1048576/ })
  })

  test('a large body to an unknown path is refused without a read', async () => {
    const response = await ask('POST', '/nowhere', { message: 'x'.repeat(1_100_000) })
    expect(response.statusCode).toBe(404)
  })

  test('an invalid cursor in the header is refused although the query has a valid one', async () => {
    const response = await ask('GET', at('/events?after=0.0.-.0'), undefined, {
      'last-event-id': 'x',
    })
    expect(response.statusCode).toBe(400)
    expect(response.json().error.field).toBe('last-event-id')
  })

  test.each([
    ['POST', '/message', { message: 'hi' }],
    ['POST', '/regenerate', { messageId: 'm1' }],
    ['POST', '/abort', {}],
    ['POST', '/abort-call', { callId: 'c' }],
    ['POST', '/answer', { id: 'q', action: 'accept' }],
    ['GET', '/events', undefined],
  ] as const)('a request to a deleted session is refused: %s %s', async (method, path, body) => {
    bus.isDeleted = true
    const response = await ask(method, at(path), body)
    expect(response.statusCode).toBe(404)
    expect(response.json().error).toMatchObject({ field: 'id', message: /deleted/ })
  })

  test('a request of a foreign page is refused', async () => {
    const headers = { origin: 'https://evil.example' }
    expect((await ask('POST', at('/message'), { message: 'hi' }, headers)).statusCode).toBe(403)
    expect(bus.entries).toEqual([])
  })
})

describe.each([
  ['unavailable', 503, '1'],
  ['exhausted', 429, '1'],
  ['deadline', 504, undefined],
  ['internal', 500, undefined],
] as const)('failures of the host with "%s"', (code, status, retryAfter) => {
  test.each([
    ['POST', '/api/chat/session', { title: 'x' }],
    ['GET', '/api/chat/sessions', undefined],
    ['POST', at('/message'), { message: 'hi' }],
    ['POST', at('/message'), { message: 'hi', id: 'm1' }],
    ['GET', at('/messages'), undefined],
  ] as const)(
    `%s %s is answered with ${status} when the host fails with "${code}"`,
    async (method, url, body) => {
      bus.fault = new BusError(code, 'the reason')
      const response = await ask(method, url, body)
      expect(response.statusCode).toBe(status)
      expect(response.json()).toEqual({ error: { code, message: 'the reason' } })
      expect(response.headers['retry-after']).toBe(retryAfter)
    },
  )
})

describe('draining gateways', () => {
  test('a draining gateway answers requests and closes their connections', async () => {
    draining.abort()
    const response = await ask('GET', '/openapi.json')
    expect(response.statusCode).toBe(200)
    expect(response.headers).toMatchObject({ connection: 'close' })
  })

  test('a draining gateway later refuses requests with Retry-After, except for health', async () => {
    draining.abort()
    refusing.abort()
    for (const url of ['/api/chat/sessions', '/openapi.json', '/']) {
      const response = await ask('GET', url)
      expect(response.statusCode).toBe(503)
      expect(response.json().error).toMatchObject({ code: 'unavailable', message: /going down/ })
      expect(response.headers).toMatchObject({ 'retry-after': '1', connection: 'close' })
    }
    expect((await ask('GET', '/health')).statusCode).toBe(200)
  })

  test('a draining gateway ends event streams with a delay for the reconnect', async () => {
    draining.abort()
    const response = await ask('GET', at('/events'))
    expect(response.statusCode).toBe(200)
    expect(response.body).toMatch(/^retry: \d+\nid: .*\n\n: this gateway is going down/)
  })
})

describe('sessions', () => {
  test('an expired session is distinguished from a deleted one', async () => {
    bus.isDeleted = true
    expect((await ask('GET', at('/events'))).json()).toMatchObject({
      error: { code: 'not-found', message: 'this session was deleted' },
    })
    bus.isExpired = true
    expect((await ask('GET', at('/events'))).json()).toMatchObject({
      error: { code: 'not-found', reason: 'expired', message: expect.stringContaining('expired') },
    })
  })

  test('a session is created with settings and metadata', async () => {
    const session = { id: 's', systemPrompt: 'Be short.' }
    bus.replies.set('session.update', session)
    const body = {
      systemPrompt: 'Be short.',
      temperature: 0,
      maxToolCalls: 0,
      metadata: { a: [1] },
    }
    const { statusCode, json } = await ask('POST', '/api/chat/session', body)
    expect([statusCode, json<object>()]).toMatchObject([201, { session }])
    expect(bus.calls).toEqual([
      {
        subject: 'session.update',
        request: { session: expect.any(String), ...body, create: true },
      },
    ])
    const faulty = await ask('POST', '/api/chat/session', { temperature: 3 })
    expect(faulty.json()).toMatchObject({ error: { code: 'invalid', field: 'temperature' } })
  })

  test('a session is created without a body, with a random id', async () => {
    const [one, two] = [
      await ask('POST', '/api/chat/session'),
      await ask('POST', '/api/chat/session'),
    ]
    expect(one.statusCode).toBe(201)
    expect(one.json()).toEqual({
      sessionId: expect.stringMatching(/^[\w-]{32}$/),
      tools: [{ server: 's', tool: 't', state: 'ready' }],
    })
    expect(two.json()).not.toEqual(one.json())
    expect(bus.calls).toEqual([])
  })

  test('a session with a title is recorded at its creation', async () => {
    bus.replies.set('session.update', record)
    const response = await ask('POST', '/api/chat/session', { title: 'Te\u0000a', other: 1 })
    const { sessionId, session } = response.json()
    expect(session).toEqual(record)
    expect(bus.calls).toMatchObject([
      { request: { session: sessionId, title: 'Tea', create: true } },
    ])
  })

  test('sessions are listed in pages', async () => {
    bus.replies.set('session.list', { sessions: [record], next: 'n' })
    const response = await ask('GET', '/api/chat/sessions?limit=2&before=b&other=1')
    expect(response.json()).toEqual({ sessions: [record], next: 'n' })
    expect(bus.calls).toMatchObject([{ request: { limit: 2, before: 'b' } }])
    await ask('GET', '/api/chat/sessions')
    expect(bus.calls.at(-1)).toMatchObject({ request: { limit: 50 } })
  })

  test('the model of a session is set and reset', async () => {
    bus.replies.set('session.update', record)
    await ask('PATCH', at(), { model: 'xai/grok' })
    await ask('PATCH', at(), { model: null })
    const created = await ask('POST', '/api/chat/session', { model: 'demo' })
    expect(created.json()).toMatchObject({ session: record })
    expect(bus.calls.map(({ request }) => request)).toEqual([
      { session: SESSION, model: 'xai/grok' },
      { session: SESSION, model: null },
      { session: created.json().sessionId, model: 'demo', create: true },
    ])
  })

  test('a session is read, renamed and deleted, and its history is listed', async () => {
    bus.replies.set('session.get', record).set('session.update', record)
    bus.replies.set('session.delete', {}).set('session.history', { messages: [] })
    expect((await ask('GET', at())).json()).toEqual(record)
    expect((await ask('PATCH', at(), { title: 'New' })).json()).toEqual(record)
    expect((await ask('GET', at('/messages?limit=3&before=m2'))).json()).toEqual({ messages: [] })
    store({ kind: 'input', fact: { id: 'm1', text: 'hi' } })
    const deleted = await ask('DELETE', at())
    expect([deleted.statusCode, deleted.body]).toEqual([204, ''])
    expect(bus.calls.map(({ request }) => request)).toEqual([
      { session: SESSION },
      { session: SESSION, title: 'New' },
      { session: SESSION, limit: 3, before: 'm2' },
      { session: SESSION },
    ])
  })
})

describe('deletion of sessions', () => {
  const storeMessage = () => store({ kind: 'input', fact: { id: 'm1', text: 'hi' } })

  test.each([
    ['is unreachable', new BusError('unavailable', 'nobody')],
    ['is frozen', new BusError('deadline', 'no answer')],
    ['has no reply', undefined],
  ])('a deletion succeeds although the orchestrator %s', async (_, failure) => {
    storeMessage()
    if (failure !== undefined) bus.replies.set('session.delete', failure)
    expect((await ask('DELETE', at())).statusCode).toBe(204)
    expect(bus.entries.at(-1)).toMatchObject({ fact: { type: 'session-deleted' } })
    for (const [method, path, body] of [
      ['DELETE', '', undefined],
      ['POST', '/message', { message: 'hi' }],
      ['POST', '/abort', {}],
    ] as const) {
      const response = await ask(method, at(path), body)
      expect([response.statusCode, response.json().error.message]).toEqual([
        404,
        'this session was deleted',
      ])
    }
    expect(bus.entries).toHaveLength(2)
  })

  test.each([
    ['GET', ''],
    ['GET', '/messages'],
    ['PATCH', ''],
  ] as const)(
    'a deleted session is not found although no orchestrator answers: %s %s',
    async (method, path) => {
      const absent = new BusError('unavailable', 'no orchestrator answers')
      for (const call of ['get', 'history', 'update']) bus.replies.set(`session.${call}`, absent)
      const body = method === 'PATCH' ? { title: 'x' } : undefined
      expect((await ask(method, at(path), body)).statusCode).toBe(503)
      storeMessage()
      store({ kind: 'control', fact: { type: 'session-deleted' } })
      expect((await ask(method, at(path), body)).statusCode).toBe(404)
    },
  )

  test('a deletion that the log refuses fails as unavailable', async () => {
    storeMessage()
    bus.fault = new BusError('unavailable', 'the session log cannot be reached; try again')
    expect((await ask('DELETE', at())).statusCode).toBe(503)
  })

  test('a deletion by another user is refused', async () => {
    storeMessage()
    principal = { ...LOCAL, roles: ['user'] }
    for (const entry of bus.entries) entry.envelope.principal = 'bob'
    expect((await ask('DELETE', at())).statusCode).toBe(404)
    expect(bus.entries).toHaveLength(1)
  })
})

describe('messages', () => {
  test('a message is answered with the stream of its turn, which ends with the turn', async () => {
    const [response] = await Promise.all([
      ask('POST', at('/message'), { message: 'h\u0000i', id: 'm1' }),
      answerNext('hello'),
    ])
    expect(response.statusCode).toBe(200)
    expect(response.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
    })
    const events = eventsOf(response)
    expect(events[0]).toMatchObject({ type: 'status', user: { messageId: 'm1', text: 'hi' } })
    expect(textOf(response)).toBe('hello')
    expect(events.at(-1)).toEqual({
      type: 'done',
      content: 'hello',
      step: expect.stringMatching(`^${SESSION}-\\d+$`),
      outcome: 'completed',
      messageId: 'm1',
    })
  })

  test('a message is refused when too many are queued', async () => {
    for (let count = 0; count < 500; count++) {
      store({ kind: 'input', fact: { id: `more-${count}`, text: 'more' } })
    }
    const response = await ask('POST', at('/message'), { message: 'hi' })
    expect(response.statusCode).toBe(429)
    expect(bus.entries).toHaveLength(500)
  })

  test('a message without an id gets one', async () => {
    const [response] = await Promise.all([
      ask('POST', at('/message'), { message: 'hi' }),
      answerNext('hello'),
    ])
    const user = { messageId: expect.stringMatching(/^[\w-]{36}$/) }
    expect(eventsOf(response)[0]).toMatchObject({ user })
  })

  test('a message that is sent again is stored once and answered with the same stream', async () => {
    const body = { message: 'hi', id: 'm1' }
    const [first] = await Promise.all([ask('POST', at('/message'), body), answerNext('hello')])
    // Another message is answered in between.
    answer(store({ kind: 'input', fact: { id: 'm2', text: 'x' } }), 'm2', 'another')
    const count = bus.entries.length
    bus.forgetIds()
    const again = await ask('POST', at('/message'), body)
    expect(again.body).toBe(first.body)
    expect(bus.entries).toHaveLength(count)
    // The same without an orchestrator to read the history from.
    bus.replies.set('session.history', new BusError('unavailable', 'nobody answers'))
    expect((await ask('POST', at('/message'), body)).body).toBe(first.body)
    expect(bus.entries).toHaveLength(count)
  })

  test.each([
    ['/message', { message: 'something else', id: 'm1' }],
    ['/message', { message: 'hi', id: 'm1', replaces: 'm0' }],
    ['/regenerate', { messageId: 'm1', id: 'm1' }],
  ])('a different message with a known id is refused: %s %j', async (path, body) => {
    answer(store({ kind: 'input', fact: { id: 'm1', text: 'hi' } }), 'm1', 'hello')
    const response = await ask('POST', at(path), body)
    expect(response.statusCode).toBe(409)
    expect(response.json().error).toMatchObject({ code: 'conflict', field: 'id' })
  })

  test('one of two concurrent messages with the same id is refused', async () => {
    const send = (message: string) => ask('POST', at('/message'), { message, id: 'm1' })
    const [one, other] = await Promise.all([send('one'), send('other'), answerNext('answered')])
    expect([one.statusCode, other.statusCode]).toEqual([200, 409])
  })

  test('a message may replace another', async () => {
    answer(store({ kind: 'input', fact: { id: 'm1', text: 'old' } }), 'm1', 'one')
    const body = { message: 'new', id: 'm2', replaces: 'm1' }
    const [response] = await Promise.all([ask('POST', at('/message'), body), answerNext('two')])
    expect(textOf(response)).toBe('two')
    expect(bus.entries).toContainEqual(
      expect.objectContaining({ fact: { id: 'm2', text: 'new', replaces: 'm1' } }),
    )
  })

  test('a message may name its model, also when it is regenerated', async () => {
    const body = { message: 'hi', id: 'm1', model: 'xai/grok-latest' }
    await Promise.all([ask('POST', at('/message'), body), answerNext('one')])
    const { model, ...unnamed } = body
    expect((await ask('POST', at('/message'), unnamed)).statusCode).toBe(409)
    const again = { messageId: 'm1', id: 'm2', model: 'ollama' }
    await Promise.all([ask('POST', at('/regenerate'), again), answerNext('two')])
    const stored = bus.entries.flatMap(({ kind, fact }) => (kind === 'input' ? [fact] : []))
    expect(stored).toEqual([
      { id: 'm1', text: 'hi', model },
      { id: 'm2', text: 'hi', replaces: 'm1', model: 'ollama' },
    ])
  })

  test('a regenerated message has the same text on a branch of its own', async () => {
    answer(store({ kind: 'input', fact: { id: 'm1', text: 'the text' } }), 'm1', 'one')
    const body = { messageId: 'm1', id: 'm2' }
    const [response] = await Promise.all([ask('POST', at('/regenerate'), body), answerNext('two')])
    expect(textOf(response)).toBe('two')
    expect(bus.entries).toContainEqual(
      expect.objectContaining({ fact: { id: 'm2', text: 'the text', replaces: 'm1' } }),
    )
  })

  test('a queued message is sent its position', async () => {
    const running = store({ kind: 'input', fact: { id: 'm1', text: 'first' } })
    answer(running, 'm1')
    const response = ask('POST', at('/message'), { message: 'second', id: 'm2' })
    while (bus.entries.at(-1)?.kind !== 'input')
      await new Promise((resolve) => setImmediate(resolve))
    const second = bus.entries.length
    const base = { turn: running, seen: running }
    store({
      kind: 'turn',
      fact: { type: 'turn-done', messageId: 'm1', outcome: 'completed', ...base },
    })
    answer(second, 'm2', 'hello')
    const events = eventsOf(await response)
    expect(events).toContainEqual(
      expect.objectContaining({ queue: [{ messageId: 'm2', position: 1 }] }),
    )
    expect(events.filter(({ type }) => type === 'done')).toHaveLength(1)
  })
})

describe('event streams of sessions', () => {
  test('an event stream is resumed after any id', async () => {
    answer(store({ kind: 'input', fact: { id: 'm1', text: 'hi' } }), 'm1', 'hello')
    const turn = store({ kind: 'input', fact: { id: 'm2', text: 'hi again' } })
    answer(turn, 'm2')
    const error = { code: 'unavailable', message: 'no model' } as const
    const failed = { type: 'turn-done', messageId: 'm2', outcome: 'failed', error } as const
    store({ kind: 'turn', fact: { ...failed, turn, seen: turn } })
    store({ kind: 'control', fact: { type: 'session-deleted' } })
    const whole = await ask('GET', at('/events?after=0.0.-.0'))
    const ids = Array.from(whole.body.matchAll(/^id: (.*)$/gm), ([, id = '']) => id)
    expect(ids.length).toBeGreaterThan(5)
    // The last id is left out: no event follows it.
    for (const [index, id] of ids.slice(0, -1).entries()) {
      const rest = await ask('GET', at('/events?after=0.0.-.0'), undefined, { 'last-event-id': id })
      expect(eventsOf(rest)).toEqual(eventsOf(whole).slice(index + 1))
    }
  })

  test('an event stream begins with an id, so that it can be resumed before its first event', async () => {
    answer(store({ kind: 'input', fact: { id: 'm1', text: 'hi' } }), 'm1', 'hello')
    store({ kind: 'control', fact: { type: 'session-deleted' } })
    const whole = await ask('GET', at('/events'))
    const [, startId = ''] = /^retry: \d+\nid: (.*)\n\n/.exec(whole.body) ?? []
    const again = await ask('GET', at('/events'), undefined, { 'last-event-id': startId })
    expect(eventsOf(again)).toEqual(eventsOf(whole))
    expect(eventsOf(whole)).toHaveLength(1)
  })

  test('an event stream without a broker ends with a comment for the reconnect', async () => {
    bus.sessions.listen = async () => {
      throw new BusError('unavailable', 'the session log cannot be read; try again')
    }
    const response = await ask('GET', at('/events'))
    expect(response.statusCode).toBe(200)
    expect(response.body).toMatch(/^retry: \d+\n\n: the stream broke off/)
  })

  test('an event stream ends with its session', async () => {
    store({ kind: 'control', fact: { type: 'session-deleted' } })
    const response = await ask('GET', at('/events?after=0.0.-.0'))
    expect(eventsOf(response)).toMatchObject([{ type: 'error', code: 'not-found' }])
  })
})

describe('cancelled turns', () => {
  test.each([
    ['without a message id', {}],
    ['with a message id', { messageId: 'm1' }],
  ])('the cancel of a running turn %s is stored with its message id', async (_, body) => {
    answer(store({ kind: 'input', fact: { id: 'm1', text: 'hi' } }), 'm1')
    const response = await ask('POST', at('/abort'), body)
    expect([response.statusCode, response.json()]).toEqual([202, { messageId: 'm1' }])
    expect(bus.entries.at(-1)).toMatchObject({
      kind: 'control',
      fact: { type: 'cancel-requested', messageId: 'm1' },
    })
  })

  test('the cancel of a call of the running turn is stored once, and not when it has ended', async () => {
    const generation = `${SESSION}-1` as GenerationId
    const open = toolCallId(generation, 0)
    const ended = toolCallId(generation, 1)
    answer(store({ kind: 'input', fact: { id: 'm1', text: 'hi' } }), 'm1')
    const content = [open, ended].map((id) => ({
      type: 'tool-call' as const,
      id,
      name: 'a__b',
      arguments: {},
    }))
    const model = { provider: 'demo', model: 'demo-1' }
    store({ kind: 'generation', fact: { generation, outcome: 'completed', content, ...model } })
    const settled = { call: ended, tool: 'b', outcome: 'refused', message: 'no' } as const
    store({ kind: 'turn', fact: { type: 'tool-settled', turn: 1, seen: 1, ...settled } })
    for (const callId of [open, open, ended]) {
      const response = await ask('POST', at('/abort-call'), { callId })
      expect([response.statusCode, response.json()]).toEqual([202, { callId }])
    }
    const cancels = bus.entries.filter(({ kind }) => kind === 'control')
    expect(cancels).toMatchObject([{ fact: { type: 'call-cancel-requested', call: open } }])
    const done = { type: 'turn-done', messageId: 'm1', outcome: 'completed' } as const
    store({ kind: 'turn', fact: { ...done, turn: 1, seen: 1 } })
    expect((await ask('POST', at('/abort-call'), { callId: open })).statusCode).toBe(404)
  })

  test('the cancel of a completed turn is refused', async () => {
    answer(store({ kind: 'input', fact: { id: 'm1', text: 'hi' } }), 'm1', 'hello')
    for (const body of [{}, { messageId: 'm1' }]) {
      expect((await ask('POST', at('/abort'), body)).statusCode).toBe(409)
    }
  })
})

test('the error line of a request has the ids of the messages that it caused, and the trace of its client', async () => {
  bus.fault = new BusError('internal', 'out of order')
  const trace = 'a'.repeat(32)
  const traceparent = `00-${trace}-${'b'.repeat(16)}-01`
  expect((await ask('GET', '/api/chat/sessions', undefined, { traceparent })).statusCode).toBe(500)
  const [{ requestId } = { requestId: '' }] = bus.envelopes
  expect(errors).toMatchObject([{ component: 'http', requestId, traceId: trace }])
})

describe('maintenance', () => {
  const path = '/api/maintenance'

  test('in maintenance new messages are refused with the words of the operator, until it is taken back', async () => {
    expect((await ask('GET', path)).json()).toEqual({ isOn: false })
    const begun = await ask('POST', path, { notice: 'Back at 5 pm' })
    const state = { isOn: true, notice: 'Back at 5 pm', since: expect.any(Number), by: 'local' }
    expect([begun.statusCode, begun.json()]).toEqual([200, state])
    expect((await ask('GET', path)).json()).toEqual(state)
    const refused = await ask('POST', at('/message'), { message: 'hi' })
    expect(refused.statusCode).toBe(503)
    expect(refused.json().error).toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(
        /is in maintenance and takes no new messages.*: Back at 5 pm$/,
      ),
    })
    expect(bus.entries).toEqual([])
    expect((await ask('DELETE', path)).statusCode).toBe(204)
    expect((await ask('GET', path)).json()).toEqual({ isOn: false })
    const answered = answerNext('hello')
    expect(textOf(await ask('POST', at('/message'), { message: 'hi' }))).toBe('hello')
    await answered
  })

  test('in maintenance a message that was stored before is answered', async () => {
    answer(store({ kind: 'input', fact: { id: 'm1', text: 'hi' } }), 'm1', 'hello')
    await ask('POST', path, {})
    const repeated = await ask('POST', at('/message'), { message: 'hi', id: 'm1' })
    expect(textOf(repeated)).toBe('hello')
  })

  test('the words of maintenance are limited', async () => {
    const response = await ask('POST', path, { notice: 'x'.repeat(501) })
    expect([response.statusCode, response.json().error.field]).toEqual([400, 'notice'])
  })
})

describe('pages at another port of localhost', () => {
  const headers = { origin: 'http://localhost:5173' }

  test('a page at another port may read answers, as its preflight states', async () => {
    const allowed = { 'access-control-allow-origin': headers.origin, vary: 'Origin' }
    expect((await ask('POST', '/api/chat/session', {}, headers)).headers).toMatchObject(allowed)
    const preflight = { ...headers, 'access-control-request-method': 'PATCH' }
    const response = await ask('OPTIONS', at(), undefined, preflight)
    expect(response.statusCode).toBe(204)
    expect(response.headers).toMatchObject(allowed)
    expect(response.headers['access-control-allow-methods']).toContain('PATCH')
  })

  test('a page at another port may read event streams', async () => {
    store({ kind: 'control', fact: { type: 'session-deleted' } })
    const response = await ask('GET', at('/events?after=0.0.-.0'), undefined, headers)
    expect(response.headers['access-control-allow-origin']).toBe(headers.origin)
  })
})

test('a fault of the field session is reported as a fault of id', async () => {
  bus.fault = new BusError('not-found', 'there is no session', { field: 'session' })
  expect((await ask('GET', at())).json().error.field).toBe('id')
})

test('a HEAD request does not open an event stream', async () => {
  const url = at('/events')
  const response = await app.inject({ method: 'HEAD', url, headers: { host: 'localhost' } })
  expect(response.statusCode).toBe(404)
})

/** A part of a form with the boundary `b`. */
const part = (about: string): string =>
  `--b\r\nContent-Disposition: form-data; name="x"; ${about}\r\n\r\nv\r\n`

describe('files', () => {
  const put = (body: string, type = 'image/png', query = '?name=a.png') =>
    app.inject({
      method: 'POST',
      url: at(`/file${query}`),
      headers: { host: 'localhost', 'content-type': type },
      payload: body,
    })

  test.each(['text/javascript', 'text/css', 'application/wasm', 'text/html', 'image/svg+xml'])(
    'a file of type %s is a download without a type',
    async (type) => {
      const { key } = (await put('x', type)).json<{ key: string }>()
      expect((await ask('GET', at(`/file/${key}`))).headers).toMatchObject({
        'content-type': 'application/octet-stream',
        'content-disposition': 'attachment',
        'x-content-type-options': 'nosniff',
      })
    },
  )

  test.each(['image/png', 'audio/mpeg', 'application/pdf', 'text/plain'])(
    'a file of type %s is shown',
    async (type) => {
      const { key } = (await put('x', type)).json<{ key: string }>()
      const { headers } = await ask('GET', at(`/file/${key}`))
      expect(headers['content-type']).toContain(type)
      expect(headers['content-disposition']).toBeUndefined()
    },
  )

  test('a file is stored unchanged', async () => {
    const stored = await put('{"not":"parsed JSON"', 'application/json; charset=utf-8')
    expect(stored.statusCode).toBe(201)
    const { key, ...about } = stored.json<{ key: string }>()
    expect(about).toEqual({ mimeType: 'application/json', name: 'a.png', bytes: 20 })
    const { statusCode, body, headers } = await ask('GET', at(`/file/${key}`))
    expect({ statusCode, body }).toEqual({ statusCode: 200, body: '{"not":"parsed JSON"' })
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
    })
  })

  test('a file is read from a multipart form', async () => {
    const form = new FormData()
    form.set('note', 'mine')
    form.set('file', new Blob(['\r\n--pixels'], { type: 'image/png' }), 'cät.png')
    const request = new Request('http://localhost', { method: 'POST', body: form })
    const type = request.headers.get('content-type') ?? ''
    const stored = await put(await request.text(), type, '')
    const { key, ...about } = stored.json<{ key: string }>()
    expect(about).toEqual({ mimeType: 'image/png', name: 'cät.png', bytes: 10 })
    expect((await ask('GET', at(`/file/${key}`))).body).toBe('\r\n--pixels')
  })

  test.each([
    ['has no boundary', 'multipart/form-data', 'x', 'boundary'],
    ['breaks off', 'multipart/form-data; boundary=b', '--b\r\nContent-', 'complete'],
    [
      'has no file',
      'multipart/form-data; boundary=b',
      part('a="b"').concat('--b--\r\n'),
      '0 files',
    ],
    ['has many parts', 'multipart/form-data; boundary=b', part('a="b"').repeat(20), '16 parts'],
    [
      'has many headers',
      'multipart/form-data; boundary=b',
      `--b\r\n${'a: b\r\n'.repeat(3_000)}`,
      '16384 bytes of headers',
    ],
  ])('a form that %s is refused', async (_, type, body, reason) => {
    const { statusCode, json } = await put(body, type)
    expect(statusCode).toBe(400)
    expect(json()).toMatchObject({
      error: { field: 'body', message: expect.stringContaining(reason) },
    })
  })

  test('a file of another session is not found', async () => {
    const { key } = (await put('x')).json<{ key: string }>()
    const other = `/api/chat/session/another-session-1/file/${key}`
    expect((await ask('GET', other)).statusCode).toBe(404)
    expect((await ask('GET', at('/file/shared.nothing'))).statusCode).toBe(404)
  })

  test('a file that is empty or too large is refused', async () => {
    expect((await put('')).json()).toMatchObject({ error: { field: 'body' } })
    const { statusCode, json } = await put('x'.repeat(20 * 1024 * 1024 + 1))
    expect(statusCode).toBe(413)
    expect(json()).toMatchObject({
      error: { message: 'body: has more than 20971520 bytes; send less' },
    })
  })

  test('a file of a session that was not created is refused', async () => {
    const url = '/api/chat/session/never-created-session/file'
    const headers = { host: 'localhost', 'content-type': 'image/png' }
    const upload = () => app.inject({ method: 'POST', url, headers, payload: 'x' })
    expect((await upload()).json()).toMatchObject({ error: { code: 'not-found', field: 'id' } })
    bus.store(SESSION, { kind: 'input', fact: { id: 'm1', text: 'hi' } })
    expect((await upload()).statusCode).toBe(201)
  })

  test('a file of a deleted session is refused', async () => {
    bus.isDeleted = true
    expect((await put('x')).statusCode).toBe(404)
  })

  test('a file is attached to the message that names it, and to its regeneration', async () => {
    const { key } = (await put('pixels')).json<{ key: string }>()
    const response = ask('POST', at('/message'), { message: 'look', id: 'm1', attachments: [key] })
    await answerNext('seen')
    expect(textOf(await response)).toBe('seen')
    const attachments = [
      { mimeType: 'image/png', name: 'a.png', blob: { key, bytes: 6, digest: 'd' } },
    ]
    expect(bus.entries[0]?.fact).toMatchObject({ text: 'look', attachments })
    const regenerated = ask('POST', at('/regenerate'), { messageId: 'm1', id: 'm2' })
    await answerNext('seen again')
    expect(textOf(await regenerated)).toBe('seen again')
    const input = bus.entries.findLast(({ kind }) => kind === 'input')
    expect(input?.fact).toMatchObject({ text: 'look', replaces: 'm1', attachments })
  })

  test('a message may be a file alone', async () => {
    const { key } = (await put('pixels')).json<{ key: string }>()
    const response = ask('POST', at('/message'), { id: 'm1', attachments: [key] })
    await answerNext('seen')
    expect(textOf(await response)).toBe('seen')
    expect(bus.entries[0]?.fact).toMatchObject({ text: '', attachments: [{ blob: { key } }] })
  })

  test('a message that names a file of another session is refused', async () => {
    const other = 'another-session-1'
    const { key: foreign } = await bus.blobs.put(new Uint8Array(1), { session: other })
    for (const key of [foreign, `${SESSION}.${crypto.randomUUID()}`]) {
      const body = { message: 'look', attachments: [key] }
      const { statusCode, json } = await ask('POST', at('/message'), body)
      expect(statusCode).toBe(400)
      const message = `attachments: this session has no file "${key}"; store it again`
      expect(json()).toMatchObject({ error: { field: 'attachments', message } })
    }
    expect(bus.entries).toEqual([])
  })
})

test('the available models are listed', async () => {
  const { statusCode, json } = await ask('GET', '/api/chat/models')
  expect(statusCode).toBe(200)
  expect(json()).toEqual(models)
})

test('requests are measured by route and outcome, all unknown paths as one', async () => {
  await ask('GET', '/api/chat/models')
  await ask('POST', at('/message'), {})
  await ask('GET', '/no/such/address')
  await ask('GET', '/neither/this')
  const { body } = await ask('GET', '/metrics')
  const counts = Array.from(
    body.matchAll(/^mcp_host_request_seconds_count\{entrance="http",(.*)\} (\d+)$/gm),
    ([, labels, count]) => [labels, count],
  )
  expect(counts).toEqual([
    ['method="GET /api/chat/models",outcome="ok"', '1'],
    ['method="POST /api/chat/session/:id/message",outcome="refused"', '1'],
    ['method="other",outcome="refused"', '2'],
  ])
})
