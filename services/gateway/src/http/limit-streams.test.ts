// Streams count among the sockets of their principal, those of a share link among those of its address.
import type { SessionId } from '@mcp-host/contracts'
import type { RateLimits } from '@mcp-host/service'
import { eventually } from '@mcp-host/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { GatewayLimits } from '../limits/gateway-limits.ts'
import { callersDoor, headersOf } from './__fixtures__/callers.ts'
import { FakeBus } from './__fixtures__/fake-bus.ts'
import type { FakeGateway } from './__fixtures__/start-fake-gateway.ts'
import { startFakeGateway } from './__fixtures__/start-fake-gateway.ts'

const SESSION = 'sessionsessionse'.repeat(2) as SessionId
const VERSION = '2026-07-28'
const EVENTS = { accept: 'application/json, text/event-stream' }
const META = 'io.modelcontextprotocol'
const owner = headersOf('owner')

let gateway: FakeGateway
let limits: GatewayLimits
let mcpSession = ''
let shared = ''
beforeAll(async () => {
  // No rate is set, so only these methods are used.
  const rates = { take: () => undefined, used: async () => undefined } as unknown as RateLimits
  limits = new GatewayLimits(rates, {
    limitAddress: undefined,
    limitRequests: undefined,
    limitMessages: undefined,
    limitSessionMessages: undefined,
    limitToolCalls: undefined,
    limitTokens: undefined,
    limitSockets: 2,
    trustedProxies: [],
  })
  gateway = await startFakeGateway({ auth: callersDoor(), limits })
  const { entries } = gateway.bus
  gateway.bus.store(SESSION, { kind: 'input', fact: { id: 'm1', text: 'hello' } })
  // A message whose turn goes on.
  FakeBus.prototype.store.call(gateway.bus, SESSION, {
    kind: 'input',
    fact: { id: 'm2', text: 'hello' },
  })
  for (const { envelope } of entries) envelope.principal = 'user:ann'
  const begun = await post('/mcp', {
    method: 'initialize',
    params: {
      protocolVersion: '2025-11-25',
      capabilities: { elicitation: {}, sampling: {}, roots: {} },
      clientInfo: { name: 'c', version: '1' },
    },
  })
  mcpSession = begun.headers.get('mcp-session-id') ?? ''
  await begun.body?.cancel()
  const made = await post(`/api/chat/session/${SESSION}/shares`, {})
  shared = new URL(((await made.json()) as { readonly url: string }).url).pathname
})
afterAll(() => gateway[Symbol.asyncDispose]())

function post(path: string, message: object, headers = {}, signal?: AbortSignal) {
  return fetch(gateway.url + path, {
    method: 'POST',
    headers: { ...owner, ...EVENTS, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(path === '/mcp' ? { jsonrpc: '2.0', id: 1, ...message } : message),
    ...(signal && { signal }),
  })
}

const get = (path: string, headers: object, signal: AbortSignal) =>
  fetch(gateway.url + path, { headers: { ...EVENTS, ...headers }, signal })

test.each<[string, (signal: AbortSignal) => Promise<Response>]>([
  ['events of a session', (signal) => get(`/api/chat/session/${SESSION}/events`, owner, signal)],
  [
    'the turn of a message',
    (signal) => {
      const path = `/api/chat/session/${SESSION}/message`
      return post(path, { id: 'm2', message: 'hello' }, {}, signal)
    },
  ],
  ['events of a share link', (signal) => get(`${shared}/events`, {}, signal)],
  [
    'notices of an MCP session',
    (signal) => get('/mcp', { ...owner, 'mcp-session-id': mcpSession }, signal),
  ],
  [
    'changes of MCP servers',
    (signal) => {
      const _meta = {
        [`${META}/protocolVersion`]: VERSION,
        [`${META}/clientInfo`]: { name: 'c', version: '1' },
        [`${META}/clientCapabilities`]: {},
      }
      const method = 'subscriptions/listen'
      const params = { notifications: { toolsListChanged: true }, _meta }
      const headers = { 'mcp-protocol-version': VERSION, 'mcp-method': method }
      return post('/mcp', { method, params }, headers, signal)
    },
  ],
])('a stream of %s is refused beyond LIMIT_SOCKETS, until another one ends', async (_, open) => {
  const leaving = [new AbortController(), new AbortController(), new AbortController()] as const
  for (const { signal } of leaving.slice(0, 2)) expect((await open(signal)).status).toBe(200)
  expect(await (await open(leaving[2].signal)).text()).toContain('2 open sockets and streams')
  leaving[0].abort()
  await eventually(async () => (await open(leaving[2].signal)).status === 200)
  for (const each of leaving) each.abort()
  // The next row begins without any.
  await eventually(async () => (await limits.list('user:ann')).at(-1)?.used === 0)
})
