// Every frame of a chat socket and every MCP method, for every kind of caller.
import type { IncomingMessage } from 'node:http'
import { hash } from 'node:crypto'
import { once } from 'node:events'
import { get, request } from 'node:http'
import type { AuditAction, AuditRecord } from '@mcp-host/audit'
import type { LogFact, SessionId } from '@mcp-host/contracts'
import { Up } from '@mcp-host/contracts'
import { ChatSocket } from '@mcp-host/testkit'
import { AccessPolicy } from '@mcp-host/mcp-endpoint'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { MCP_METHODS } from '../events.ts'
import { Story } from '../projection/__fixtures__/story.ts'
import { newChatId } from '../session/chat-id.ts'
import type { CallerName } from './__fixtures__/callers.ts'
import { callersDoor, headersOf, INSIDERS, OUTSIDERS, STRANGERS } from './__fixtures__/callers.ts'
import type { FakeGateway } from './__fixtures__/start-fake-gateway.ts'
import { startFakeGateway } from './__fixtures__/start-fake-gateway.ts'

const SESSION = 'sessionsessionse'.repeat(2) as SessionId
const MODERN = '2026-07-28'
const META = 'io.modelcontextprotocol'

/** Credentials that are refused from now on. */
const revoked = new Set<string>()
const records: AuditRecord[] = []
let gateway: FakeGateway
/** A log that another principal began. */
const story = new Story()
story.input('hello')

beforeAll(async () => {
  const policy = new AccessPolicy()
  policy.set({
    rules: [
      { users: ['user:ann'], effect: 'allow' },
      { roles: ['admin'], effect: 'allow' },
      { tool: ['secret'], effect: 'deny' },
    ],
    default: 'allow',
    pin: 'off',
  })
  gateway = await startFakeGateway({
    auth: callersDoor(revoked),
    policy,
    record: (entry) => records.push(entry),
  })
})
afterAll(() => gateway[Symbol.asyncDispose]())

beforeEach(() => {
  revoked.clear()
  records.length = 0
  gateway.bus.entries.length = 0
  gateway.bus.forwarded.length = 0
  gateway.bus.forgetIds()
  gateway.bus.store(SESSION, { kind: 'input', fact: { id: 'm1', text: 'hello' } } satisfies LogFact)
  for (const entry of gateway.bus.entries) entry.envelope.principal = 'user:ann'
})

const socketUrl = (path: string): string => `${gateway.url.replace('http', 'ws')}${path}`

/** How a socket was opened: by its first message, or refused with a status. */
async function openMcp(path: string, caller: CallerName): Promise<WebSocket | number> {
  const { promise, resolve } = Promise.withResolvers<WebSocket | number>()
  // Node's own client takes headers; its type is that of browsers.
  const options = { headers: headersOf(caller), protocols: ['mcp'] } as unknown as string[]
  const socket = new WebSocket(socketUrl(path), options)
  socket.addEventListener('open', () => resolve(socket))
  socket.addEventListener('error', () => resolve(401))
  return promise
}

/** One frame of each type. */
const FRAMES: { readonly [T in Up['type']]: Extract<Up, { type: T }> } = {
  message: { type: 'message', payload: { text: 'from outside', id: 'm2' } },
  regenerate: { type: 'regenerate', payload: { messageId: 'm1', id: 'm3' } },
  cancel: { type: 'cancel', payload: { messageId: 'm1' } },
  'cancel-call': { type: 'cancel-call', payload: { callId: 'c1' } },
  answer: { type: 'answer', payload: { id: 'q1', action: 'accept' } },
  ping: { type: 'ping' },
}
/** Why the audit log has no entry of a frame. The socket of an admin in the session of another has one itself. */
const FRAMES_AUDITED: { readonly [T in Up['type']]: string } = {
  message: 'the session itself stores it',
  regenerate: 'the session itself stores it',
  cancel: 'the session itself stores it',
  'cancel-call': 'the session itself stores it, and the call has an entry of its end',
  answer: 'approval-answered, where the question is open',
  ping: 'it does nothing',
}
const frameNames = Up.options.map(({ shape }) => shape.type.value)

/** A chat socket in the session of the owner, which sends a frame as soon as it is open. */
function startChat(caller: CallerName, name: keyof typeof FRAMES): ChatSocket {
  const chat = ChatSocket.start({
    url: gateway.url,
    sessionId: SESSION,
    headers: headersOf(caller),
  })
  chat.socket.on('open', () => chat.send(FRAMES[name]))
  return chat
}

describe('a chat socket', () => {
  test('of an admin in the session of another is in the audit log, that of its owner is not', async () => {
    for (const caller of ['owner', 'admin'] as const) {
      const options = { url: gateway.url, sessionId: SESSION, headers: headersOf(caller) }
      using _chat = await ChatSocket.open(options)
    }
    await vi.waitFor(() => expect(records).toHaveLength(1))
    expect(records).toMatchObject([
      {
        action: 'foreign-session-used',
        principal: 'user:root',
        session: SESSION,
        detail: { owner: 'user:ann', route: 'GET /ws' },
      },
    ])
  })

  test('has the audit entry of each frame, or why there is none', () => {
    expect(Object.keys(FRAMES_AUDITED).toSorted()).toEqual(frameNames.toSorted())
  })

  test('has a row for each frame of a client', () => {
    expect(Object.keys(FRAMES).toSorted()).toEqual(frameNames.toSorted())
  })

  describe.each(frameNames)('takes a frame "%s"', (name) => {
    test.each(STRANGERS)('not of %s, who gets no socket', async (caller) => {
      const before = gateway.bus.entries.length
      using chat = startChat(caller, name)
      await vi.waitFor(() => expect(chat.closed).toBeDefined())
      expect(chat.frames).toEqual([])
      expect(gateway.bus.entries).toHaveLength(before)
    })

    test.each(OUTSIDERS)('not of %s: the session reads as not found', async (caller) => {
      const before = gateway.bus.entries.length
      using chat = startChat(caller, name)
      await vi.waitFor(() => expect(chat.closed).toMatchObject({ code: 1008 }))
      expect(chat.frames).toMatchObject([
        { type: 'connection', payload: { state: 'error', message: expect.stringContaining('no') } },
      ])
      expect(gateway.bus.entries).toHaveLength(before)
    })

    test.each(INSIDERS)('of %s', async (caller) => {
      using chat = await ChatSocket.open({
        url: gateway.url,
        sessionId: SESSION,
        headers: headersOf(caller),
      })
      chat.send(FRAMES[name])
      const answer = await chat.waitFor(({ type }) => ['accepted', 'error', 'pong'].includes(type))
      // No session has such an open question or call.
      const expected = { ping: 'pong', answer: 'error', 'cancel-call': 'error' }
      expect(answer.type).toBe(expected[name as keyof typeof expected] ?? 'accepted')
    })
  })

  describe('in a chat without a message', () => {
    /** Of the fake gateway. */
    const sign = (text: string): string => hash('sha256', text)
    const made = newChatId(sign, { id: 'user:bob' })
    beforeEach(() => void (gateway.bus.entries.length = 0))

    test.each(['owner', 'admin'] as const)(
      'is refused to %s, who did not make it',
      async (caller) => {
        using chat = ChatSocket.start({
          url: gateway.url,
          sessionId: made,
          headers: headersOf(caller),
        })
        await vi.waitFor(() => expect(chat.closed).toMatchObject({ code: 1008 }))
        const stream = await fetch(`${gateway.url}/api/chat/session/${made}/events`, {
          headers: headersOf(caller),
        })
        expect(stream.status).toBe(404)
      },
    )

    test('ends when another principal begins it, and shows nothing of it', async () => {
      const headers = headersOf('other')
      const at = { url: gateway.url, sessionId: made, headers }
      using chat = await ChatSocket.open(at)
      const stream = await fetch(`${gateway.url}/api/chat/session/${made}/events`, { headers })
      gateway.bus.store(made, { kind: 'input', fact: { id: 'm1', text: 'a secret' } })
      for (const entry of gateway.bus.entries) entry.envelope.principal = 'user:ann'
      const stored = gateway.bus.entries.length
      chat.send(FRAMES.message)
      await vi.waitFor(() => expect(chat.closed).toMatchObject({ code: 1008 }))
      expect(JSON.stringify(chat.frames)).not.toContain('secret')
      expect(await stream.text()).not.toContain('secret')
      expect(gateway.bus.entries).toHaveLength(stored)
    })

    test('refuses a frame of a client that came before the owner', async () => {
      using chat = await ChatSocket.open({
        url: gateway.url,
        sessionId: made,
        headers: headersOf('other'),
      })
      // The log is there, and no event of it has arrived.
      using read = vi.spyOn(gateway.bus.sessions, 'read')
      const [entry] = story.entries
      read.mockResolvedValue(entry === undefined ? [] : [entry])
      chat.send(FRAMES.message)
      const refusal = await chat.waitFor(({ type }) => type === 'error')
      expect(refusal).toMatchObject({ payload: { code: 'not-found', messageId: 'm2' } })
      expect(gateway.bus.entries).toEqual([])
    })
  })

  test.each(['expired', 'revoked'])('ends once its credential is %s', async () => {
    using chat = await ChatSocket.open({
      url: gateway.url,
      sessionId: SESSION,
      headers: headersOf('owner'),
    })
    revoked.add('owner')
    await vi.waitFor(() => expect(chat.closed).toBeDefined(), 3_000)
  })
})

describe('a ticket', () => {
  const getTicket = async (): Promise<string> => {
    const response = await fetch(`${gateway.url}/api/tickets`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headersOf('owner') },
      body: '{}',
    })
    return ((await response.json()) as { ticket: string }).ticket
  }

  test('opens no socket once the credential that got it is revoked', async () => {
    const ticket = await getTicket()
    revoked.add('owner')
    expect(await openMcp(`/mcp/ws?ticket=${ticket}`, 'nobody')).toBe(401)
  })

  test('opens no plain route, whatever the request wants to upgrade to', async () => {
    const ticket = await getTicket()
    const statusOf = async (headers: Record<string, string>): Promise<number | undefined> => {
      const { promise, resolve, reject } = Promise.withResolvers<number | undefined>()
      const asked = request(`${gateway.url}/api/me?ticket=${ticket}`, { headers })
      asked.on('response', (response) => resolve(response.resume().statusCode))
      asked.on('error', reject).end()
      return promise
    }
    expect(await statusOf({ upgrade: 'x' })).toBe(401)
    expect(await statusOf({ upgrade: 'websocket', connection: 'upgrade' })).toBe(400)
    const socket = await openMcp(`/mcp/ws?ticket=${ticket}`, 'nobody')
    if (typeof socket === 'number') throw new Error('no socket')
    socket.close()
  })
})

/** Ways to write the address of a stream; the router serves some of them. */
const STREAM = `/api/chat/session/${SESSION}/events`
const SPELLINGS: readonly (readonly [name: string, path: string, isServed: boolean])[] = [
  ['as documented', STREAM, true],
  ['with a query', `${STREAM}?x=/events`, true],
  ['with an encoded letter', STREAM.replace('events', '%65vents'), true],
  ['with encoded letters', STREAM.replace('/chat/', '/%63%68at/'), true],
  ['with a fragment', `${STREAM}#x`, true],
  ['with a fragment and a query', `${STREAM}#x?y`, true],
  ['with an absolute address', `http://127.0.0.1${STREAM}`, true],
  ['with a double slash', STREAM.replace('/events', '//events'), false],
  ['with upper case', STREAM.replace('events', 'EVENTS'), false],
  ['with a slash at its end', `${STREAM}/`, false],
  ['with a parameter', `${STREAM};x`, false],
  ['with a dot segment', STREAM.replace('/events', '/./events'), false],
]

describe('a stream', () => {
  test.each(SPELLINGS)('of an address %s ends once its credential is revoked', async (...row) => {
    const [, path, isServed] = row
    // `fetch` would write the address in its own way.
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      get(gateway.url, { path, headers: headersOf('owner') }, resolve).on('error', reject)
    })
    expect(answer.statusCode).toBe(isServed ? 200 : 404)
    const ended = new Promise((resolve) => answer.on('close', resolve))
    answer.on('error', () => undefined).resume()
    revoked.add('owner')
    await ended
  })
})

describe('a request', () => {
  test.each(['/mcp', '/mcp/servers/a', '/mcp/tools/call', `/api/chat/session/${SESSION}/message`])(
    'to %s whose body has not arrived ends once its credential is revoked',
    async (path) => {
      const headers = { ...headersOf('owner'), 'content-type': 'application/json' }
      const asked = request(gateway.url + path, {
        method: 'POST',
        headers: { ...headers, 'content-length': 100 },
        agent: false,
      })
      const ended = new Promise<Error>((resolve) => asked.on('error', resolve))
      asked.write('{')
      const [socket] = await once(asked, 'socket')
      await once(socket, 'connect')
      // The headers came first, and it authenticates at them.
      await fetch(`${gateway.url}/api/me`, { headers: headersOf('owner') })
      revoked.add('owner')
      expect(await ended).toMatchObject({ code: 'ECONNRESET' })
    },
  )
})

interface MethodRow {
  readonly params: object
  readonly eras: readonly ('legacy' | 'modern')[]
  /** What only `INSIDERS` may see or do: the answer shows it, or the server is asked. */
  readonly shows?: string
  readonly isForwarded?: boolean
}
const BOTH = ['legacy', 'modern'] as const
const resource = { uri: 'mem://one' }
const promptRef = { ref: { type: 'ref/prompt', name: 'a__greet' } }
const listened = { notifications: { toolsListChanged: true } }
const initialize = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 't', version: '1' },
}

/** One request of each method. */
const METHODS: Readonly<Record<string, MethodRow>> = {
  initialize: { params: initialize, eras: ['legacy'] },
  ping: { params: {}, eras: ['legacy'] },
  'server/discover': { params: {}, eras: ['modern'] },
  'tools/list': { params: {}, eras: BOTH, shows: 'secret' },
  'tools/call': { params: { name: 'a__secret', arguments: {} }, eras: BOTH, isForwarded: true },
  'prompts/list': { params: {}, eras: BOTH },
  'prompts/get': { params: { name: 'a__greet' }, eras: BOTH },
  'resources/list': { params: {}, eras: BOTH },
  'resources/templates/list': { params: {}, eras: BOTH },
  'resources/read': { params: resource, eras: BOTH },
  'resources/subscribe': { params: resource, eras: ['legacy'] },
  'resources/unsubscribe': { params: resource, eras: ['legacy'] },
  'completion/complete': { params: promptRef, eras: BOTH },
  'logging/setLevel': { params: { level: 'info' }, eras: ['legacy'] },
  'subscriptions/listen': { params: listened, eras: ['modern'] },
}
const rows = Object.entries(METHODS).flatMap(([method, { eras, ...row }]) =>
  eras.map((era) => ({ method, era, ...row })),
)
type Row = (typeof rows)[number]

const NEEDS_SESSION = /^(resources\/(un)?subscribe|logging\/setLevel)$/

function messageOf({ method, era, params }: Row): object {
  const meta = { [`${META}/protocolVersion`]: MODERN, [`${META}/clientCapabilities`]: {} }
  const given = era === 'legacy' ? params : { ...params, _meta: meta }
  return { jsonrpc: '2.0', id: 7, method, params: given }
}

function modernHeaders({ method, era, params }: Row): Record<string, string> {
  if (era === 'legacy') return {}
  const { name, uri = name } = params as { name?: string; uri?: string }
  const named = uri === undefined ? {} : { 'mcp-name': uri }
  return { 'mcp-protocol-version': MODERN, 'mcp-method': method, ...named }
}

async function post(path: string, caller: CallerName, row: Row, session?: string) {
  const response = await fetch(gateway.url + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headersOf(caller),
      ...modernHeaders(row),
      ...(session === undefined ? {} : { 'mcp-session-id': session }),
    },
    body: JSON.stringify(messageOf(row)),
  })
  const isStream = response.headers.get('content-type') === 'text/event-stream'
  const text = isStream ? await firstOf(response) : await response.text()
  return { status: response.status, text, headers: response.headers }
}

/** The first piece of a stream, which is then left. */
async function firstOf(response: Response): Promise<string> {
  const reader = response.body?.getReader()
  const piece = await reader?.read()
  await reader?.cancel()
  return new TextDecoder().decode(piece?.value)
}

async function sessionOf(path: string, caller: CallerName): Promise<string> {
  const row = { method: 'initialize', era: 'legacy', params: initialize } as const
  const { headers } = await post(path, caller, row)
  return headers.get('mcp-session-id') ?? ''
}

/** Checks what a caller with a valid credential gets. */
function checkAnswer(row: Row, caller: CallerName, text: string): void {
  const isInside = caller === 'owner' || caller === 'admin'
  if (row.shows !== undefined) expect(text.includes(row.shows)).toBe(isInside)
  if (row.isForwarded === true) {
    expect(gateway.bus.forwarded.length > 0).toBe(isInside)
    if (!isInside) expect(text).toContain('there is no tool')
    return
  }
  expect(text).not.toContain('"code":-32603')
}

const LISTS = 'names and descriptions alone'
const NOTIFIES = 'it tells that something changed, and nothing of its content'
/** What the gateway writes into the audit log about each method, or why it writes nothing. */
const METHODS_AUDITED: Readonly<Record<string, string | readonly [AuditAction]>> = {
  initialize: LISTS,
  ping: 'it does nothing',
  'server/discover': LISTS,
  'tools/list': LISTS,
  'tools/call': 'the supervisor writes tool-started and tool-finished',
  'prompts/list': LISTS,
  'prompts/get': ['prompt-requested'],
  'resources/list': LISTS,
  'resources/templates/list': LISTS,
  'resources/read': ['resource-read'],
  'resources/subscribe': NOTIFIES,
  'resources/unsubscribe': NOTIFIES,
  'completion/complete': 'suggestions of arguments, at each keystroke',
  'logging/setLevel': 'it changes what the client is told',
  'subscriptions/listen': NOTIFIES,
}

test.each(rows)('$method of the $era era has its entry in the audit log', async (row) => {
  const session = NEEDS_SESSION.test(row.method) ? await sessionOf('/mcp', 'owner') : undefined
  await post('/mcp', 'owner', row, session)
  const written = METHODS_AUDITED[row.method]
  expect(records.map(({ action }) => action)).toEqual(typeof written === 'string' ? [] : written)
})

test('a read of a resource and a request for a prompt tell what, and how it ended', async () => {
  const [read, prompt] = ['resources/read', 'prompts/get'].map((method) => {
    return rows.find((row) => row.method === method) ?? expect.unreachable(method)
  })
  const secret = { uri: 'mem://ann:pass@one/x?token=secret#s' }
  await post('/mcp', 'owner', { ...(read as Row), params: secret })
  await post('/mcp', 'owner', {
    ...(prompt as Row),
    params: { name: 'a__greet', arguments: { a: 'b' } },
  })
  const about = { principal: 'user:ann', entrance: 'mcp', server: 'a', outcome: 'ok' }
  expect(records).toMatchObject([
    { ...about, action: 'resource-read', detail: { resource: 'mem://one/x?[redacted]' } },
    { ...about, action: 'prompt-requested', detail: { prompt: 'greet' }, arguments: { a: 'b' } },
  ])
})

test('the matrix has the audit entry of each method of MCP, or why there is none', () => {
  expect(Object.keys(METHODS_AUDITED).toSorted()).toEqual([...MCP_METHODS].toSorted())
})

test('the matrix has a row for each method of MCP', () => {
  expect(Object.keys(METHODS).toSorted()).toEqual([...MCP_METHODS].toSorted())
})

describe.each(['/mcp', '/mcp/bundles/all'])('at %s', (path) => {
  describe.each(rows)('$method of the $era era', (row) => {
    test.each(STRANGERS)('answers 401 with a challenge to %s', async (caller) => {
      const { status, headers } = await post(path, caller, row)
      expect(status).toBe(401)
      expect(headers.get('www-authenticate')).toContain('resource_metadata=')
      expect(gateway.bus.forwarded).toEqual([])
    })

    test.each([...OUTSIDERS, ...INSIDERS])('answers %s as the policy wants', async (caller) => {
      const session = NEEDS_SESSION.test(row.method) ? await sessionOf(path, caller) : undefined
      const { status, text } = await post(path, caller, row, session)
      expect(status).toBe(200)
      checkAnswer(row, caller, text)
    })
  })

  // Newer requests have no session, and initialize begins one.
  const inSessions = rows.filter(({ era, method }) => era === 'legacy' && method !== 'initialize')
  describe.each(inSessions)('$method in a session', (row) => {
    test.each([...OUTSIDERS, 'admin'] as const)(
      'answers %s as if the session of the owner were unknown',
      async (caller) => {
        const { status, text } = await post(path, caller, row, await sessionOf(path, 'owner'))
        expect([status, text]).toEqual([404, expect.stringContaining('Session not found')])
        expect(gateway.bus.forwarded).toEqual([])
      },
    )
  })
})

describe.each(['/mcp/ws', '/mcp/bundles/all/ws'])('at %s', (path) => {
  test.each(STRANGERS)('%s gets no socket', async (caller) => {
    expect(await openMcp(path, caller)).toBe(401)
  })

  test('the socket ends once its credential is revoked', async () => {
    const socket = await openMcp(path, 'owner')
    if (typeof socket === 'number') throw new Error('no socket')
    revoked.add('owner')
    await vi.waitFor(() => expect(socket.readyState).toBe(WebSocket.CLOSED), 3_000)
  })

  test('a message may be as large as one of MCP, however the address is written', async () => {
    const socket = await openMcp(path.replace('mcp', '%6dcp'), 'owner')
    if (typeof socket === 'number') throw new Error('no socket')
    const answered = new Promise((resolve) => socket.addEventListener('message', resolve))
    const closed = new Promise((resolve) => socket.addEventListener('close', resolve))
    const params = { padding: 'x'.repeat(3 * 1024 * 1024) }
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping', params }))
    expect(await Promise.race([answered, closed])).toMatchObject({ type: 'message' })
    socket.close()
  })

  describe.each(rows)('$method of the $era era', (row) => {
    test.each([...OUTSIDERS, ...INSIDERS])('answers %s as the policy wants', async (caller) => {
      const socket = await openMcp(path, caller)
      if (typeof socket === 'number') throw new Error('no socket')
      const texts: string[] = []
      socket.addEventListener('message', ({ data }) => texts.push(String(data)))
      const begun = { jsonrpc: '2.0', id: 0, method: 'initialize', params: initialize }
      if (NEEDS_SESSION.test(row.method)) socket.send(JSON.stringify(begun))
      socket.send(JSON.stringify(messageOf(row)))
      const answer = await vi.waitFor(() => {
        // A subscription is acknowledged by a notification.
        const isOfRow = (text: string) => text.includes('"id":7') || text.includes('subscriptions')
        return texts.find(isOfRow) ?? expect.unreachable('no answer')
      })
      checkAnswer(row, caller, answer)
      socket.close()
    })
  })
})
