// Every kind of item that the policy denies, at every entrance.
import type { CatalogEntry, ServerName } from '@mcp-host/contracts'
import { PolicyFile } from '@mcp-host/policy'
import { AccessPolicy } from '@mcp-host/mcp-endpoint'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { callersDoor, headersOf } from './__fixtures__/callers.ts'
import type { FakeGateway } from './__fixtures__/start-fake-gateway.ts'
import { startFakeGateway } from './__fixtures__/start-fake-gateway.ts'

const MODERN = '2026-07-28'
const META = 'io.modelcontextprotocol'
const inputSchema = { type: 'object' }
const capabilities = { resources: { subscribe: true }, completions: {} }
const common = { kind: 'server', supervisor: 's', state: 'ready', capabilities } as const

/** `hr` is denied as a whole; of `a`, the items named `secret` are. */
const CATALOG: readonly CatalogEntry[] = [
  { kind: 'supervisor', id: 's', startedAt: 0, servers: {}, configured: ['a', 'hr', 'hr-late'] },
  {
    ...common,
    server: 'a' as ServerName,
    tools: ['add', 'secret'].map((name) => ({ name, inputSchema })),
    prompts: [{ name: 'greet' }, { name: 'secret' }],
    resources: ['mem://one', 'mem://secret/1'].map((uri) => ({ uri, name: uri })),
    resourceTemplates: ['mem://{id}', 'mem://secret/{id}'].map((uriTemplate) => ({
      uriTemplate,
      name: uriTemplate,
    })),
  },
  {
    ...common,
    server: 'hr-late' as ServerName,
    state: 'unavailable',
    error: 'it ended',
    tools: [],
  },
  {
    ...common,
    server: 'hr' as ServerName,
    instructions: 'pay well',
    tools: [{ name: 'pay', inputSchema }],
    prompts: [{ name: 'plan' }],
    resources: [{ uri: 'hr://one', name: 'one' }],
    resourceTemplates: [{ uriTemplate: 'hr://{id}/x', name: 'x' }],
  },
]

let gateway: FakeGateway

beforeAll(async () => {
  const policy = new AccessPolicy()
  policy.set(
    PolicyFile.parse({
      rules: [
        { users: 'user:ann', effect: 'allow' },
        { server: 'hr*', effect: 'deny' },
        { server: 'a', tool: 'secret', effect: 'deny' },
        { server: 'a', prompt: 'secret', effect: 'deny' },
        { server: 'a', resource: 'mem://secret/*', effect: 'deny' },
      ],
    }),
  )
  gateway = await startFakeGateway({ auth: callersDoor(), policy, catalog: CATALOG })
})
afterAll(() => gateway[Symbol.asyncDispose]())

beforeEach(() => {
  gateway.bus.forwarded.length = 0
  gateway.bus.servers.length = 0
  gateway.bus.calls.length = 0
})

type Caller = 'owner' | 'other'
type Params = Readonly<Record<string, unknown>>

/** Sends a message to an entrance, and returns the text of the answer. */
type Ask = (caller: Caller, method: string, params: Params, server?: string) => Promise<string>

const initialize = { protocolVersion: '2025-11-25', capabilities: {} }
const modernMeta = { [`${META}/protocolVersion`]: MODERN, [`${META}/clientCapabilities`]: {} }

async function post(path: string, caller: Caller, body: object, headers: object = {}) {
  return fetch(gateway.url + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headersOf(caller),
      ...headers,
    },
    body: JSON.stringify(body),
  })
}

const rpc = (method: string, params: Params, id = 7): object => {
  return { jsonrpc: '2.0', id, method, params }
}

const addressOf = (server?: string): string =>
  server === undefined ? '/mcp' : `/mcp/servers/${server}`

const legacy: Ask = async (caller, method, params, server) => {
  const path = addressOf(server)
  const begun = await post(path, caller, rpc('initialize', initialize))
  const session = begun.headers.get('mcp-session-id')
  if (session === null) return begun.text()
  const response = await post(path, caller, rpc(method, params), { 'mcp-session-id': session })
  return response.text()
}

const modern: Ask = async (caller, method, params, server) => {
  const { name = params['uri'] } = params
  const response = await post(
    addressOf(server),
    caller,
    rpc(method, { ...params, _meta: modernMeta }),
    {
      'mcp-protocol-version': MODERN,
      'mcp-method': method,
      ...(typeof name === 'string' && { 'mcp-name': name }),
    },
  )
  if (response.headers.get('content-type') !== 'text/event-stream') return response.text()
  const reader = response.body?.getReader()
  const piece = await reader?.read()
  await reader?.cancel()
  return new TextDecoder().decode(piece?.value)
}

const socket: Ask = async (caller, method, params, server) => {
  // Node takes options in this place, which the type of browsers lacks.
  const options = { headers: headersOf(caller), protocols: ['mcp'] } as unknown as string[]
  const url = `${gateway.url.replace('http', 'ws')}${addressOf(server)}/ws`
  const opened = new WebSocket(url, options)
  const texts: string[] = []
  opened.addEventListener('message', ({ data }) => texts.push(String(data)))
  opened.addEventListener('close', ({ reason }) => texts.push(`"id":7 ${reason}`))
  opened.addEventListener('open', () => {
    opened.send(JSON.stringify(rpc('initialize', initialize, 0)))
    opened.send(JSON.stringify(rpc(method, params)))
  })
  const answer = await vi.waitFor(
    () => texts.find((text) => text.includes('"id":7')) ?? expect.unreachable('no answer'),
  )
  opened.close()
  return answer
}

const rest: Ask = async (caller, method, params, server) => {
  const response = await post(`/mcp/${method}`, caller, { ...params, ...(server && { server }) })
  return response.text()
}

const LEGACY_ALONE = ['resources/subscribe']
const NOT_BY_REST = [...LEGACY_ALONE, 'completion/complete']
const ENTRANCES: readonly { name: string; ask: Ask; lacks: readonly string[] }[] = [
  { name: '/mcp of the legacy era', ask: legacy, lacks: [] },
  { name: '/mcp of the modern era', ask: modern, lacks: LEGACY_ALONE },
  { name: '/mcp/ws', ask: socket, lacks: [] },
  { name: 'the REST facade', ask: rest, lacks: NOT_BY_REST },
]

const promptRef = (name: string): Params => ({
  ref: { type: 'ref/prompt', name },
  argument: { name: 'x', value: '' },
})
const resourceRef = (uri: string): Params => ({
  ref: { type: 'ref/resource', uri },
  argument: { name: 'x', value: '' },
})

/** The uses of each kind, with the parameters for a name. */
const USES: readonly { method: string; kind: Kind; params: (name: string) => Params }[] = [
  { method: 'tools/call', kind: 'tool', params: (name) => ({ name, arguments: {} }) },
  { method: 'prompts/get', kind: 'prompt', params: (name) => ({ name }) },
  { method: 'completion/complete', kind: 'prompt', params: promptRef },
  { method: 'resources/read', kind: 'resource', params: (uri) => ({ uri }) },
  { method: 'resources/subscribe', kind: 'resource', params: (uri) => ({ uri }) },
  { method: 'completion/complete', kind: 'template', params: resourceRef },
]
type Kind = 'tool' | 'prompt' | 'resource' | 'template'

/** Names of allowed, denied and missing items of each kind. Servers may have unlisted resources, so none is missing. */
const NAMES: Readonly<Record<Kind, Record<'allowed' | 'denied' | 'ofHr', string>>> = {
  tool: { allowed: 'a__add', denied: 'a__secret', ofHr: 'hr__pay' },
  prompt: { allowed: 'a__greet', denied: 'a__secret', ofHr: 'hr__plan' },
  resource: { allowed: 'mem://one', denied: 'mem://secret/1', ofHr: 'hr://one' },
  template: { allowed: 'mem://{id}', denied: 'mem://secret/{id}', ofHr: 'hr://{id}/x' },
}
const LISTS = ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list']

describe.each(ENTRANCES)('at $name', ({ ask, lacks }) => {
  const uses = USES.filter(({ method }) => !lacks.includes(method))

  test.each(LISTS)('%s has no denied items', async (method) => {
    const seen = await ask('other', method, {})
    expect(seen).not.toMatch(/hr|secret/)
    expect(seen).toMatch(/add|greet|mem:/)
    const whole = await ask('owner', method, {})
    expect(whole).toContain('hr')
    expect(whole).toContain('secret')
  })

  describe.each(uses)('$method of a $kind', ({ method, kind, params }) => {
    const { allowed, denied, ofHr } = NAMES[kind]

    test('passes where it is allowed', async () => {
      await ask('other', method, params(allowed))
      expect(gateway.bus.servers).toEqual(['a'])
    })

    test('that is denied reads as unknown, and reaches no server', async () => {
      const answer = await ask('other', method, params(denied))
      expect(answer).toMatch(/there is no (tool|prompt|resource)/)
      expect(answer).not.toMatch(/denied|policy|not allowed/)
      expect(gateway.bus.servers).toEqual([])
      await ask('owner', method, params(denied))
      expect(gateway.bus.servers).toEqual(['a'])
    })

    test('of a denied server does not reach it', async () => {
      for (const name of [ofHr, `mcp://hr/${encodeURIComponent(ofHr)}`, `hr.${ofHr}`]) {
        await ask('other', method, params(name))
      }
      expect(gateway.bus.servers).not.toContain('hr')
      await ask('owner', method, params(ofHr))
      expect(gateway.bus.servers).toContain('hr')
    })

    test('at the address of a denied server reads as that of an unknown one', async () => {
      const answer = await ask('other', method, params(ofHr), 'hr')
      const unknown = await ask('other', method, params(ofHr), 'xx')
      expect(answer.replaceAll(/\bhr\b/g, 'xx')).toBe(unknown)
      expect(unknown).toContain('there is no')
      expect(gateway.bus.servers).toEqual([])
    })
  })

  test('a name of a denied server that is not ready reads as unknown', async () => {
    const answer = await ask('other', 'prompts/get', { name: 'hr-late__x' })
    expect(answer).toContain('there is no prompt')
    expect(answer).not.toContain('it ended')
    expect(await ask('owner', 'prompts/get', { name: 'hr-late__x' })).toContain('it ended')
  })
})

test.each([
  ['mem://one', ['mem://one']],
  ['mem://secret/1', []],
  // Another server may have a resource of this name. The hidden one would be asked for `hr://one`.
  ['mcp://hr/hr%3A%2F%2Fone', ['mcp://hr/hr%3A%2F%2Fone']],
])('a subscription to %s watches %j', async (uri, watched) => {
  await modern('other', 'subscriptions/listen', { notifications: { resourceSubscriptions: [uri] } })
  const requests = gateway.bus.calls.map(({ request }) => request as { readonly uris: string[] })
  expect(requests.flatMap(({ uris }) => uris)).toEqual(watched)
})

test('initialize and discovery do not quote the instructions of a denied server', async () => {
  const begun = await post('/mcp', 'other', rpc('initialize', initialize))
  expect(await begun.text()).not.toMatch(/hr|pay well/)
  expect(await modern('other', 'server/discover', {})).not.toMatch(/hr|pay well/)
  expect(await modern('owner', 'server/discover', {})).toContain('pay well')
})

test('/capabilities names no denied server or item, and counts none', async () => {
  const read = async (caller: Caller): Promise<string> => {
    const response = await fetch(`${gateway.url}/capabilities`, { headers: headersOf(caller) })
    return response.text()
  }
  const seen = await read('other')
  expect(seen).not.toMatch(/hr|secret/)
  const counts = { tools: 1, prompts: 1, resources: 1, resourceTemplates: 1 }
  expect(JSON.parse(seen)).toMatchObject({ servers: [{ server: 'a', ...counts }] })
  expect(await read('owner')).toMatch(/"server":"hr".*"server":"hr-late"/)
})
