import { AuthError } from '@mcp-host/auth'
import type { LogFact, Principal, Scope, SessionId } from '@mcp-host/contracts'
import type { Logger } from '@mcp-host/service'
import { InFlight } from '@mcp-host/async'
import { AccessPolicy, type ClientVirtualServers } from '@mcp-host/mcp-endpoint'
import { noClients } from '@mcp-host/mcp-endpoint/testing'
import type { FastifyInstance } from 'fastify'
import { Registry } from 'prom-client'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { accessOf, isScope } from '../auth/access.ts'
import { openDoor } from '../auth/authenticator.ts'
import { gatewayEvents } from '../events.ts'
import { ApprovalQueue } from '../approvals/approval-queue.ts'
import { GatewayAudit } from '../gateway-audit.ts'
import { NO_PINS } from '../auth/no-pins.ts'
import { UNLIMITED } from '../limits/unlimited.ts'
import { MaintenanceState } from '../maintenance-state.ts'
import { VirtualServers } from '../mcp/virtual-servers.ts'
import { FakeBus } from './__fixtures__/fake-bus.ts'
import { buildApp } from './app.ts'

const SESSION = 'sessionsessionse'.repeat(2) as SessionId
const PUBLIC_URL = 'https://host.example'

const user = (id: string, more: Partial<Principal> = {}): Principal => ({
  id,
  issuer: 'host',
  method: 'key',
  roles: ['user'],
  scopes: ['mcp', 'chat'],
  ...more,
})

/** What each kind of caller may do. */
const CALLERS = {
  nobody: undefined,
  revoked: undefined,
  owner: user('user:ann'),
  mcpOnly: user('key:tools', { scopes: ['mcp'] }),
} satisfies Record<string, Principal | undefined>
type CallerName = keyof typeof CALLERS

let app: FastifyInstance
let bus: FakeBus
let caller: CallerName
let routes: { method: string; url: string }[]
let metrics: Registry

beforeEach(async () => {
  bus = new FakeBus()
  bus.entries.push(inputOf('user:ann'))
  routes = []
  metrics = new Registry()
  const quiet = () => undefined
  const catalog = {
    entries: new Map(),
    onChange: () => ({ [Symbol.dispose]: () => undefined }),
  }
  const auth = {
    ...openDoor(PUBLIC_URL),
    isOn: true,
    authorizationServers: () => ['https://idp.example'],
    authenticate() {
      const principal = CALLERS[caller]
      if (principal !== undefined) return principal
      throw caller === 'nobody'
        ? new AuthError('missing', 'authenticate first')
        : new AuthError('invalid_token', 'this API key is not valid')
    },
  }
  app = await buildApp(
    {
      bus: bus.asBus(),
      // Only what the routes use.
      logger: { info: quiet, warn: quiet, error: quiet } as unknown as Logger,
      events: gatewayEvents(metrics),
      draining: new AbortController().signal,
      refusing: new AbortController().signal,
      operations: { service: 'gateway', metrics, ready: async () => undefined },
      auth,
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
      clientVirtualServers: {} as ClientVirtualServers,
      signSession: (random) => random,
      catalog,
      virtualServers: new VirtualServers(catalog),
      models: () => ({ providers: [] }),
      tools: () => [],
      live: { of: async () => [] },
    },
    { allowedOrigins: [], heartbeatMs: 30_000, mcpStreamMs: 0 },
    (route) => routes.push(route),
  )
  await app.ready()
})
afterEach(() => app.close())

function inputOf(principal: string) {
  const fact: LogFact = { kind: 'input', fact: { id: 'm1', text: 'hello' } }
  const envelope = {
    requestId: 'r',
    traceparent: `00-${'0'.repeat(32)}-${'0'.repeat(16)}-01`,
    principal,
  }
  return { ...fact, session: SESSION, seq: 1, time: 1, envelope }
}

async function ask(method: string, url: string, as: CallerName) {
  caller = as
  const address = url.replace(':id', SESSION).replace(/:\w+/g, 'x').replace('*', '')
  return app.inject({
    method: method as 'GET',
    url: address,
    headers: { host: 'host.example', authorization: 'Bearer x' },
    ...(method === 'GET' || method === 'HEAD' ? {} : { payload: {} }),
  })
}

/** The scope that a route demands; `undefined` where none is needed. */
function demandOf(url: string): Scope | undefined {
  const access = accessOf(url)
  return isScope(access) ? access : undefined
}

test('every route has a line in the table of access', () => {
  expect(routes.length).toBeGreaterThan(30)
  expect(routes.filter(({ url }) => accessOf(url) === undefined)).toEqual([])
})

test('every route answers 403 where the scope lacks, and names it', async () => {
  for (const { method, url } of routes) {
    const demand = demandOf(url)
    if (demand === undefined || demand === 'mcp') continue
    const { statusCode, headers } = await ask(method, url, 'mcpOnly')
    expect([method, url, statusCode]).toEqual([method, url, 403])
    expect(headers['www-authenticate']).toContain(`error="insufficient_scope"`)
    expect(headers['www-authenticate']).toContain(`scope="${demand}"`)
  }
})

test('the access table reserves these routes for admins', () => {
  const forAdmins = routes.filter(({ url }) => accessOf(url) === 'admin')
  const folders = new Set(forAdmins.map(({ url }) => url.split('/').slice(0, 3).join('/')))
  expect(Array.from(folders).toSorted()).toEqual([
    '/api/accounts',
    '/api/changed-tools',
    '/api/file-faults',
    '/api/keys',
    '/api/limits',
    '/api/maintenance',
    '/api/policy',
    '/api/servers',
    '/metrics',
  ])
})

test('these routes alone need no credential, or no certain scope', () => {
  const foldersOf = (...kinds: unknown[]) => {
    const urls = routes.flatMap(({ url }) => (kinds.includes(accessOf(url)) ? [url] : []))
    return Array.from(new Set(urls.map((url) => url.split('/').slice(0, 3).join('/')))).toSorted()
  }
  expect(foldersOf('public', 'link')).toEqual([
    '/',
    '/.well-known/oauth-protected-resource*',
    '/api/shared',
    '/app-sandbox',
    '/connect/:server',
    '/health',
    '/openapi.json',
    '/ready',
    '/users/.well-known',
    '/users/jwks',
  ])
  expect(foldersOf('any')).toEqual(['/api/audit', '/api/connections', '/api/me', '/api/tickets'])
  expect(foldersOf('mcp').filter((url) => !url.startsWith('/mcp/'))).toEqual(['/capabilities'])
})

test('what became of credentials is counted, but not at public routes', async () => {
  for (const as of ['owner', 'owner', 'mcpOnly', 'nobody', 'revoked'] as const) {
    await ask('GET', '/api/chat/session/:id/messages', as)
    await ask('GET', '/health', as)
  }
  const found = await metrics.getSingleMetric('mcp_host_authentications_total')?.get()
  const counts = found?.values.map(({ labels, value }) => [labels['outcome'], value])
  expect(Object.fromEntries(counts ?? [])).toEqual({
    accepted: 2,
    denied: 1,
    missing: 1,
    refused: 1,
  })
})

test('the public address is served, and other hosts are refused', async () => {
  caller = 'owner'
  const of = (host: string) => app.inject({ method: 'GET', url: '/api/me', headers: { host } })
  expect((await of('host.example')).statusCode).toBe(200)
  expect((await of('evil.example')).statusCode).toBe(403)
})

test('public routes answer without a credential, and metadata names the provider', async () => {
  expect((await ask('GET', '/health', 'nobody')).statusCode).toBe(200)
  const { body } = await ask('GET', '/.well-known/oauth-protected-resource/mcp', 'nobody')
  expect(JSON.parse(body)).toMatchObject({
    resource: `${PUBLIC_URL}/mcp`,
    authorization_servers: ['https://idp.example'],
  })
  const other = await ask('GET', '/.well-known/oauth-protected-resource/api', 'nobody')
  expect(other.statusCode).toBe(404)
})
