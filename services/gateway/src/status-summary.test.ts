import type { CatalogEntry, ServerEntry, ServerName } from '@mcp-host/contracts'
import { catalogKey, LOCAL, NOBODY } from '@mcp-host/contracts'
import { expect, test } from 'vitest'
import { capabilities } from './status-summary.ts'

const present: CatalogEntry = { kind: 'supervisor', id: 's', startedAt: 0, servers: {} }
const model: CatalogEntry = { kind: 'model', provider: 'demo', model: 'demo' }

function capabilitiesOf(entries: readonly CatalogEntry[]): ReturnType<typeof capabilities> {
  const all = new Map(entries.map((entry) => [catalogKey(entry), entry]))
  return capabilities({
    entries: all,
    onChange: () => ({ [Symbol.dispose]: () => undefined }),
  })
}

const summary = (...entries: CatalogEntry[]): Record<string, unknown> =>
  capabilitiesOf(entries).summary(LOCAL, () => undefined)

function server(
  name: string,
  state: 'ready' | 'starting' | 'unavailable',
  more: Partial<ServerEntry> = {},
): CatalogEntry {
  return { kind: 'server', server: name as ServerName, supervisor: 's', state, tools: [], ...more }
}

test('a provider of earlier settings is not listed, though its entry has not expired', () => {
  const provider = (name: string): CatalogEntry => ({
    kind: 'provider',
    provider: name,
    state: 'ready',
    models: [{ id: 'm' }],
  })
  const entries = [provider('demo'), provider('removed')]
  const listed = (...more: CatalogEntry[]) =>
    capabilitiesOf([...entries, ...more])
      .models()
      .providers.map((each) => each.provider)
  expect(listed({ ...model, providers: ['demo', 'starting'] })).toEqual(['demo'])
  expect(listed(model)).toEqual(['demo', 'removed'])
  expect(listed(provider('a'), model)).toEqual(['a', 'demo', 'removed'])
})

test('the default model is listed without the faults of settings', () => {
  const shown = capabilitiesOf([{ ...model, faults: 'no key' }])
  expect(shown.models()).toEqual({ default: { provider: 'demo', model: 'demo' }, providers: [] })
  expect(capabilitiesOf([]).models()).toEqual({ providers: [] })
})

test('health is degraded while a server is not ready', () => {
  expect(summary(present, model, server('a', 'ready'))).not.toHaveProperty('status')
  for (const state of ['starting', 'unavailable'] as const) {
    const degraded = summary(present, model, server('a', 'ready'), server('b', state))
    expect(degraded).toMatchObject({ status: 'degraded' })
  }
})

test('health names no server to a client that has not authenticated', () => {
  const tools = [{ name: 'one', inputSchema: {} }]
  const away = server('b', 'unavailable', { tools })
  const entries = [present, model, server('a', 'ready', { tools }), away]
  expect(capabilitiesOf(entries).summary(NOBODY, () => undefined)).toEqual({
    status: 'degraded',
    counts: { models: 1, servers: 2, ready: 1, tools: 1 },
  })
})

test('health names servers whose tools a principal may use, and output to admins alone', () => {
  const tools = [{ name: 'one', inputSchema: {} }]
  const entries = [
    present,
    server('a', 'ready', { tools }),
    server('b', 'ready', { tools }),
    server('c', 'unavailable', { error: 'it ended', output: ['secret'] }),
  ]
  const user = { ...LOCAL, id: 'user:ann', roles: ['user'] }
  const seen = capabilitiesOf(entries).summary(user, (name) => (name === 'a' ? 0 : undefined))
  expect(seen).toMatchObject({ servers: [{ server: 'b' }, { server: 'c', error: 'it ended' }] })
  expect(JSON.stringify(seen)).not.toContain('secret')
  const all = capabilitiesOf(entries)
  const isHidden = (name: string): boolean => name !== 'a'
  expect(all.summary(user, () => 1, isHidden)['servers']).toMatchObject([{ server: 'a' }])
  expect(all.summary(LOCAL, () => 1, isHidden)['servers']).toHaveLength(3)
  expect(JSON.stringify(summary(...entries))).toContain('secret')
})

test('health is degraded while no model answers', () => {
  expect(summary(present, server('a', 'ready'))).toMatchObject({ status: 'degraded' })
})

const AT = Date.UTC(2026, 10, 23, 12)
const NOON = '2026-11-23T12:00:00.000Z'

test('health shows the phase of a starting server and its begin', () => {
  const installing = server('a', 'starting', { phase: 'installing', since: AT })
  expect(summary(present, installing)).toMatchObject({
    servers: [{ server: 'a', state: 'starting', phase: 'installing', since: NOON }],
  })
})

test('health tells an unavailable server that is started again from one that is not', () => {
  const [again, not] = [
    server('a', 'unavailable', { isRestartPlanned: true }),
    server('b', 'unavailable'),
  ]
  const { servers } = summary(present, again, not)
  expect(servers).toMatchObject([{ isRestartPlanned: true }, { isRestartPlanned: undefined }])
})

test('health shows admins the reason and output of an unavailable server', () => {
  const output = ['the key is missing', 'bye']
  expect(summary(present, server('a', 'unavailable', { error: 'it ended', output }))).toMatchObject(
    {
      servers: [{ server: 'a', error: 'it ended: the key is missing', output, healthScore: 0 }],
    },
  )
})

test('health shows the model, and the sandbox and restarts of each server', () => {
  const about = server('a', 'ready', { sandbox: 'bwrap', restarts: 2 })
  expect(summary(present, model, about)).toMatchObject({
    model,
    servers: [{ sandbox: 'bwrap', instances: [{ supervisor: 's', state: 'ready', restarts: 2 }] }],
  })
})

test('health shows the score and the last check of each server', () => {
  const stats = { calls: 2, errors: 1, inFlight: 0, healthScore: 0.7, checkedAt: AT }
  const supervisor: CatalogEntry = { ...present, servers: { a: stats } }
  expect(summary(supervisor, server('a', 'ready'))).toMatchObject({
    servers: [{ server: 'a', healthScore: 0.7, lastCheck: NOON }],
  })
})

test('health shows the calls of each server at all supervisors, and the latency at the busiest', () => {
  const supervisor = (id: string, calls: number, errors: number, p50Ms: number): CatalogEntry => {
    const a = { calls, errors, inFlight: 0, p50Ms, p95Ms: 2 * p50Ms }
    return { kind: 'supervisor', id, startedAt: 0, servers: { a } }
  }
  const both = [supervisor('s', 2, 1, 9), supervisor('t', 5, 0, 4)]
  expect(summary(...both, server('a', 'ready'), server('b', 'ready'))).toMatchObject({
    servers: [
      { server: 'a', calls: 7, failures: 1, p50Ms: 4, p95Ms: 8 },
      { server: 'b', calls: 0, failures: 0 },
    ],
  })
})

test('every tool is listed with the state of its server and its use', () => {
  const tools = ['read', 'write'].map((name) => ({ name, inputSchema: {} }))
  const read = { calls: 2, failures: 1, averageMs: 3, lastUsedAt: AT }
  const figures = { calls: 2, errors: 1, inFlight: 0, toolUse: { read } }
  const used: CatalogEntry = { ...present, servers: { a: figures } }
  const away = server('b', 'unavailable', { tools: tools.slice(0, 1) })
  expect(capabilitiesOf([used, server('a', 'ready', { tools }), away]).tools()).toEqual([
    { server: 'a', tool: 'read', state: 'ready', use: read },
    { server: 'a', tool: 'write', state: 'ready' },
    { server: 'b', tool: 'read', state: 'unavailable' },
  ])
  const seen = capabilitiesOf([present, server('a', 'ready', { tools })]).tools(
    (name, tool) => name === 'a' && tool.name === 'read',
  )
  expect(seen).toEqual([{ server: 'a', tool: 'write', state: 'ready' }])
})

test('health names all servers to admins, also one whose tools are all in quarantine', () => {
  const tools = [{ name: 'one', inputSchema: {} }]
  const all = capabilitiesOf([present, server('a', 'ready', { tools })])
  expect(all.summary(LOCAL, () => 0)).toMatchObject({ servers: [{ server: 'a', tools: 0 }] })
})

test('damage to sessions is a warning about the storage', () => {
  expect(capabilitiesOf([present, model]).storageWarnings()).toEqual([])
  const damaged = capabilitiesOf([present, model, { kind: 'damage', sessions: 3 }])
  expect(damaged.storageWarnings()).toEqual([
    expect.stringContaining('3 sessions have lost entries'),
  ])
})
