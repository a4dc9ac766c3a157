// Every HTTP route for every kind of caller: the table of access decides who may use it.
import { generateKeyPairSync } from 'node:crypto'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import type { AuditAction, AuditRecord } from '@mcp-host/audit'
import type { SessionId } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { accessOf, isOpen } from '../auth/access.ts'
import type { CallerName } from './__fixtures__/callers.ts'
import { CALLERS, callersDoor, headersOf, INSIDERS, OUTSIDERS } from './__fixtures__/callers.ts'
import { sessionRecord } from './__fixtures__/session-record.ts'
import type { FakeGateway } from './__fixtures__/start-fake-gateway.ts'
import { startFakeGateway } from './__fixtures__/start-fake-gateway.ts'

const SESSION = 'sessionsessionse'.repeat(2) as SessionId
const RECORD = sessionRecord(SESSION, 'user:ann')
const callerNames = Object.keys(CALLERS) as CallerName[]

/** A request to a route, and its answer to those who may use it. */
interface Row {
  readonly status: number
  readonly body?: object
  /** The resource belongs to one principal. */
  readonly isOwned?: true
  /** The orchestrator decides by the principal of the envelope. */
  readonly isAsked?: true
}

const session = '/api/chat/session/:id'
const shared = '/api/shared/:token'
const owned = (status: number, body?: object): Row => ({ status, isOwned: true, ...given(body) })
const asked = (status: number, body?: object): Row => ({ status, isAsked: true, ...given(body) })
const given = (body?: object) => (body === undefined ? {} : { body })

/** One row for each route; HEAD has the row of GET. */
const ROWS: Readonly<Record<string, Row>> = {
  'GET /': { status: 200 },
  'GET /health': { status: 200 },
  'GET /ready': { status: 200 },
  // Without logins of browsers it says so.
  'GET /connect/:server': { status: 404 },
  'GET /users/jwks': { status: 200 },
  'GET /users/.well-known/openid-configuration': { status: 200 },
  'GET /metrics': { status: 200 },
  'GET /openapi.json': { status: 200 },
  'GET /app-sandbox': { status: 200 },
  'GET /.well-known/oauth-protected-resource*': { status: 200 },
  // A request without an upgrade.
  'GET /ws': { status: 400 },

  'POST /api/chat/session': { status: 201 },
  'GET /api/chat/sessions': asked(200),
  'GET /api/chat/models': { status: 200 },
  [`GET ${session}`]: asked(200),
  [`PATCH ${session}`]: asked(200, { title: 'Tea' }),
  [`DELETE ${session}`]: owned(204),
  [`GET ${session}/connections`]: owned(200),
  [`GET ${session}/messages`]: asked(200),
  [`POST ${session}/message`]: owned(200, { message: 'more', id: 'm2' }),
  [`POST ${session}/regenerate`]: owned(200, { messageId: 'm1', id: 'm3' }),
  [`GET ${session}/events`]: owned(200),
  // The session has no running turn and no open question.
  [`POST ${session}/abort`]: owned(409),
  [`POST ${session}/abort-call`]: owned(404, { callId: 'c1' }),
  [`POST ${session}/answer`]: owned(404, { id: 'q1', action: 'accept' }),
  [`POST ${session}/shares`]: owned(201),
  [`GET ${session}/shares`]: owned(200),
  [`DELETE ${session}/shares/:share`]: owned(204),
  [`POST ${session}/file`]: owned(201, { any: 'bytes' }),
  [`GET ${session}/file/:key`]: owned(200),

  [`GET ${shared}`]: { status: 200 },
  [`GET ${shared}/messages`]: { status: 200 },
  [`GET ${shared}/file/:key`]: { status: 200 },
  [`GET ${shared}/events`]: { status: 200 },

  'GET /api/me': { status: 200 },
  'POST /api/tickets': { status: 201 },
  'GET /api/approvals': { status: 200 },
  'GET /api/approvals/:id': owned(200),
  'POST /api/approvals/:id': owned(204, { action: 'decline' }),
  'GET /api/audit': { status: 200 },
  'GET /api/audit/verification': { status: 200 },

  'GET /api/keys': { status: 200 },
  'POST /api/keys': { status: 201, body: { name: 'ci' } },
  // The fake bus returns an empty bucket each time.
  'DELETE /api/keys/:id': { status: 404 },
  'GET /api/changed-tools': { status: 200 },
  'POST /api/changed-tools/accept': { status: 204, body: { server: 'a', tool: 'add' } },
  'POST /api/servers/reload': { status: 200 },
  'POST /api/servers/:server/restart': { status: 200 },
  'GET /api/servers/:server/output': { status: 200 },
  'GET /api/servers/:server/users': { status: 200 },
  'DELETE /api/servers/:server/users/:principal/:label': { status: 204 },
  'GET /api/connections': { status: 200 },
  'GET /api/connections/:server/authorization': { status: 200 },
  'PUT /api/connections/:server/:label': { status: 204, body: { access_token: 'a' } },
  'PATCH /api/connections/:server/:label': { status: 204, body: { label: 'work' } },
  'DELETE /api/connections/:server/:label': { status: 204 },
  'GET /api/file-faults': { status: 200 },
  'POST /api/policy/explain': {
    status: 200,
    body: { principal: 'user:ann', server: 'a', tool: 'add' },
  },
  'GET /api/limits': { status: 200 },
  'GET /api/maintenance': { status: 200 },
  'POST /api/maintenance': { status: 200 },
  'DELETE /api/maintenance': { status: 204 },
  // The fake gateway has no local accounts.
  'GET /api/accounts': { status: 404 },
  'POST /api/accounts': { status: 404, body: { name: 'ann' } },
  'PATCH /api/accounts/:name': { status: 404, body: { disabled: true } },
  'POST /api/accounts/:name/invitation': { status: 404 },
  'DELETE /api/accounts/:name/invitation': { status: 404 },

  'GET /capabilities': { status: 200 },
  'POST /mcp/tools/list': { status: 200 },
  'POST /mcp/tools/call': { status: 200, body: { name: 'a__add', arguments: {} } },
  'POST /mcp/prompts/list': { status: 200 },
  'POST /mcp/prompts/get': { status: 200, body: { name: 'a__greet' } },
  'POST /mcp/resources/list': { status: 200 },
  'POST /mcp/resources/templates/list': { status: 200 },
  'POST /mcp/resources/read': { status: 200, body: { uri: 'mem://one' } },
  // Requests without an upgrade.
  'GET /mcp/ws': { status: 426 },
  'GET /mcp/servers/:server/ws': { status: 426 },
  'GET /mcp/bundles/:bundle/ws': { status: 426 },
}

/** The status of an answer, by the table of access. */
function expectedOf(route: string, caller: CallerName): number {
  const { status, isOwned } = ROWS[route] as Row
  const access = accessOf(pathOf(route))
  const isAdmin = caller === 'admin'
  if (isOpen(access)) return status
  if (CALLERS[caller] === undefined) return 401
  if (access === 'admin' && !isAdmin) return 403
  if (access === 'audit' && !isAdmin && caller !== 'auditor') return 403
  return isOwned && !INSIDERS.some((name) => name === caller) ? 404 : status
}

/** Answers that others may keep, or that are checked before each use. */
const KEPT: Readonly<Record<string, string>> = {
  'GET /.well-known/oauth-protected-resource*': 'public, max-age=300',
  'GET /app-sandbox': 'no-cache',
  'GET /capabilities': 'private, no-cache',
  'GET /users/jwks': 'public, max-age=60',
  'GET /users/.well-known/openid-configuration': 'public, max-age=60',
}

const FOREIGN = 'foreign-session-used'
const READ_OWN = 'a caller is told about itself, or the host'
const PUBLIC = 'it shows and changes nothing of a user'
const ADMIN_READ = 'an admin reads settings and names, no content'
const IN_SOCKETS = 'the entries are those of the messages in the socket'

/** What the audit log has of each route that an admin uses, or why it has nothing. Owners find their own use in it. */
const AUDITED: Readonly<Record<string, string | readonly AuditAction[]>> = {
  'GET /': PUBLIC,
  'GET /health': PUBLIC,
  'GET /ready': PUBLIC,
  'GET /connect/:server': PUBLIC,
  'GET /users/jwks': PUBLIC,
  'GET /users/.well-known/openid-configuration': PUBLIC,
  'GET /metrics': ADMIN_READ,
  'GET /openapi.json': PUBLIC,
  'GET /app-sandbox': PUBLIC,
  'GET /.well-known/oauth-protected-resource*': PUBLIC,
  'GET /ws': IN_SOCKETS,

  'POST /api/chat/session': 'the session itself stores it',
  'GET /api/chat/sessions': 'titles of sessions, of which the use has entries',
  'GET /api/chat/models': READ_OWN,
  [`GET ${session}`]: [FOREIGN],
  [`PATCH ${session}`]: [FOREIGN],
  [`DELETE ${session}`]: [FOREIGN, 'session-deleted'],
  [`GET ${session}/connections`]: [FOREIGN],
  [`GET ${session}/messages`]: [FOREIGN],
  [`POST ${session}/message`]: [FOREIGN],
  [`POST ${session}/regenerate`]: [FOREIGN],
  [`GET ${session}/events`]: [FOREIGN],
  [`POST ${session}/abort`]: [FOREIGN],
  [`POST ${session}/abort-call`]: [FOREIGN],
  // An open question would have `approval-answered`.
  [`POST ${session}/answer`]: [FOREIGN],
  [`POST ${session}/shares`]: [FOREIGN, 'share-created'],
  [`GET ${session}/shares`]: [FOREIGN],
  [`DELETE ${session}/shares/:share`]: [FOREIGN, 'share-revoked'],
  [`POST ${session}/file`]: [FOREIGN],
  [`GET ${session}/file/:key`]: [FOREIGN],

  [`GET ${shared}`]: ['share-read'],
  [`GET ${shared}/messages`]: ['share-read'],
  [`GET ${shared}/file/:key`]: ['share-read'],
  [`GET ${shared}/events`]: ['share-read'],

  'GET /api/me': READ_OWN,
  'POST /api/tickets': 'a ticket has the rights of its maker, for seconds',
  'GET /api/approvals': 'the calls that wait have entries of their own',
  'GET /api/approvals/:id': 'the call has entries of its own',
  'POST /api/approvals/:id': ['approval-answered'],
  'GET /api/audit': 'searches would fill the log that they search',
  'GET /api/audit/verification': 'it changes nothing, and tells no content',

  'GET /api/keys': ADMIN_READ,
  'POST /api/keys': ['key-created'],
  'DELETE /api/keys/:id': 'there is no such key here; else key-revoked',
  'GET /api/changed-tools': ADMIN_READ,
  'POST /api/changed-tools/accept': 'no tool has changed here; else tool-accepted',
  'POST /api/servers/reload': ['servers-reloaded'],
  'POST /api/servers/:server/restart': ['server-restarted'],
  'GET /api/servers/:server/output': 'an admin reads lines that the log of the supervisor has too',
  'GET /api/connections': READ_OWN,
  'GET /api/servers/:server/users': 'an admin reads what the entries of logins in the log say, too',
  'DELETE /api/servers/:server/users/:principal/:label':
    'the supervisor that ends it has the entry',
  'GET /api/connections/:server/authorization': 'it tells what the server tells everybody',
  'PUT /api/connections/:server/:label': 'the supervisor that takes it has the entry',
  'PATCH /api/connections/:server/:label': 'it changes no access',
  'DELETE /api/connections/:server/:label': 'the supervisor that ends it has the entry',
  'GET /api/file-faults': ADMIN_READ,
  'POST /api/policy/explain': ADMIN_READ,
  'GET /api/limits': ADMIN_READ,
  'GET /api/maintenance': ADMIN_READ,
  'POST /api/maintenance': ['maintenance-begun'],
  'DELETE /api/maintenance': ['maintenance-ended'],
  'GET /api/accounts': ADMIN_READ,
  'POST /api/accounts': 'there are no accounts here; else account-created',
  'PATCH /api/accounts/:name': 'there are no accounts here; else account-changed',
  'POST /api/accounts/:name/invitation': 'there are no accounts here; else account-invited',
  'DELETE /api/accounts/:name/invitation': 'there are no accounts here; else account-changed',

  'GET /capabilities': READ_OWN,
  'POST /mcp/tools/list': READ_OWN,
  'POST /mcp/tools/call': 'the supervisor writes tool-started and tool-finished',
  'POST /mcp/prompts/list': READ_OWN,
  'POST /mcp/prompts/get': ['prompt-requested'],
  'POST /mcp/resources/list': READ_OWN,
  'POST /mcp/resources/templates/list': READ_OWN,
  'POST /mcp/resources/read': ['resource-read'],
  'GET /mcp/ws': IN_SOCKETS,
  'GET /mcp/servers/:server/ws': IN_SOCKETS,
  'GET /mcp/bundles/:bundle/ws': IN_SOCKETS,
}

const records: AuditRecord[] = []
const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
let gateway: FakeGateway
/** Path parameters by their names. */
let values: Record<string, string>

async function open(): Promise<void> {
  gateway = await startFakeGateway({
    auth: callersDoor(),
    record: (entry) => records.push(entry),
  })
  gateway.bus.replies
    .set('session.get', RECORD)
    .set('session.update', RECORD)
    .set('session.list', { sessions: [RECORD] })
    .set('session.history', { messages: [] })
    .set('login.list', { servers: [] })
    .set('login.users', { logins: [] })
    .set('login.keys', { keys: [{ kty: 'EC' }], inbox: publicKey.export({ format: 'jwk' }) })
    .set('login.describe', { issuer: 'https://login.example' })
    .set('login.bring', {})
    .set('login.change', {})
    .set('login.end', {})
}

/** Creates a session of the owner and the other resources that the route needs. */
async function prepare(route: string): Promise<void> {
  const { bus, queue } = gateway
  bus.entries.length = 0
  bus.envelopes.length = 0
  bus.forgetIds()
  bus.store(SESSION, { kind: 'input', fact: { id: 'm1', text: 'hello' } })
  for (const entry of bus.entries) entry.envelope.principal = 'user:ann'
  values = { id: SESSION, server: 'a', name: 'ann', bundle: 'all' }
  const make = async (by: string, caller: CallerName) =>
    Made.parse(await (await send(by, caller)).json())
  if (/shares\/|shared\//.test(route)) {
    const { id = '', url = '' } = await make(`POST ${session}/shares`, 'owner')
    Object.assign(values, { share: id, token: url.split('/').at(-1) })
  }
  if (route.includes('/file/')) {
    values['key'] = (await make(`POST ${session}/file`, 'owner')).key ?? ''
  }
  if (route.includes('/keys/')) values['id'] = (await make('POST /api/keys', 'admin')).id ?? ''
  if (route.includes('/approvals/')) {
    const call = { server: 'a', tool: 'add', arguments: {} }
    values['id'] = (await queue.ask({ id: 'user:ann', roles: [], scopes: [] }, call)).id
  }
}

const Made = z.object({
  id: z.string().optional(),
  url: z.string().optional(),
  key: z.string().optional(),
})

const pathOf = (route: string): string => route.split(' ')[1] ?? ''

function send(route: string, caller: CallerName): Promise<Response> {
  const [method = ''] = route.split(' ')
  const path = pathOf(route)
    .replace('*', '/mcp')
    .replaceAll(/:(\w+)/g, (_, name: string) => values[name] ?? 'x')
  const hasBody = method === 'POST' || method === 'PUT' || method === 'PATCH'
  return fetch(gateway.url + path, {
    method,
    headers: { ...headersOf(caller), ...(hasBody ? { 'content-type': 'application/json' } : {}) },
    ...(hasBody ? { body: JSON.stringify(ROWS[route]?.body ?? {}) } : {}),
  })
}

describe('the matrix', () => {
  beforeAll(open)
  afterAll(() => gateway[Symbol.asyncDispose]())

  test('has a row for each route', () => {
    const routes = gateway.routes.map(
      ({ method, url }) => `${method.replace('HEAD', 'GET')} ${url}`,
    )
    expect(Object.keys(ROWS).toSorted()).toEqual(Array.from(new Set(routes)).toSorted())
  })

  test('has the audit entry of each route, or why there is none', () => {
    expect(Object.keys(AUDITED).toSorted()).toEqual(Object.keys(ROWS).toSorted())
  })
})

describe.each(Object.entries(ROWS))('%s', (route, { isOwned, isAsked }) => {
  beforeAll(open)
  afterAll(() => gateway[Symbol.asyncDispose]())

  test('has its entries in the audit log', async () => {
    await prepare(route)
    records.length = 0
    const answer = await send(route, 'admin')
    const written = AUDITED[route]
    const expected = typeof written === 'string' ? [] : written
    const actions = (): string[] => records.map(({ action }) => action)
    await vi.waitFor(() => expect(actions()).toEqual(expect.arrayContaining([...(expected ?? [])])))
    expect(actions()).toHaveLength(expected?.length ?? NaN)
    await answer.body?.cancel()
  })

  test.each(callerNames)('answers %s as the table of access wants', async (caller) => {
    await prepare(route)
    const stored = gateway.bus.entries.length
    const answer = await send(route, caller)
    const expected = expectedOf(route, caller)
    expect(answer.status).toBe(expected)
    const isKept = expected < 400 && KEPT[route] !== undefined
    expect(answer.headers.get('cache-control')).toBe(isKept ? KEPT[route] : 'no-store')
    expect(answer.headers.get('content-security-policy')).toMatch(/default-src 'none'/)
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    const head = route.replace('GET', 'HEAD')
    if (head !== route && gateway.routes.some(({ method, url }) => head === `${method} ${url}`)) {
      expect((await send(head, caller)).status).toBe(expected)
    }
    const isOutsider = expected === 404 && (OUTSIDERS as readonly string[]).includes(caller)
    if (isOwned && isOutsider) {
      expect(await answer.text()).toMatch(/there is no (session \\"sessions|such approval)/)
      expect(gateway.bus.entries).toHaveLength(stored)
    } else {
      await answer.body?.cancel()
    }
    if (isAsked && expected === 200) {
      expect(gateway.bus.envelopes.at(-1)).toMatchObject({ principal: CALLERS[caller]?.id })
    }
    if (expected === 401) {
      expect(answer.headers.get('www-authenticate')).toContain(
        'resource_metadata="http://127.0.0.1:3000/.well-known/oauth-protected-resource/',
      )
    }
  })
})

describe('two Host headers', () => {
  beforeAll(open)
  afterAll(() => gateway[Symbol.asyncDispose]())

  test.each(['/', '/api/me', '/mcp', '/mcp/tools/list', '/nowhere'])(
    'are refused at %s',
    async (path) => {
      const { port } = new URL(gateway.url)
      const socket = connect(Number(port), '127.0.0.1')
      socket.end(
        `POST ${path} HTTP/1.1\r\nHost: localhost\r\nhOST: evil.example\r\ncontent-length: 0\r\n\r\n`,
      )
      expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 [^]*Host: is sent twice/)
    },
  )
})

test('the log has no secret of a share link', async () => {
  await open()
  await using _ = gateway
  for (const route of [`GET ${shared}`, `GET ${shared}/messages`]) {
    await prepare(route)
    gateway.bus.fault = new BusError('internal', 'a fault')
    await (await send(route, 'nobody')).text()
    gateway.bus.fault = undefined
    expect(JSON.stringify(gateway.errors)).not.toContain(values['token'])
  }
  expect(gateway.errors).not.toEqual([])
})
