import type { Catalog } from '@mcp-host/bus'
import type { CatalogEntry, ServerName } from '@mcp-host/contracts'
import { BusError, catalogKey, ServerEntry } from '@mcp-host/contracts'
import { type ServerConfig, type ServerSnapshot, ServerUnavailableError } from '@mcp-host/upstream'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { CatalogPublisher } from './catalog-publisher.ts'
import { toEntry } from './to-entry.ts'

const name = 'test' as ServerName
const entry = (state: ServerEntry['state'], supervisor = 'us'): ServerEntry => ({
  kind: 'server',
  server: name,
  supervisor,
  state,
  tools: [],
})

/** The catalog as the broker stores it. */
let entries: Map<string, CatalogEntry>
/** Entries of servers that were stored, in order. */
let stored: ServerEntry[]
let isBrokerDown: boolean
/** Servers whose entries the broker refuses. */
let refused: Set<string>
/** Servers whose lists are too large for the broker. */
let tooLarge: Set<string>
let failedAt: number[]
let removed: string[]
/** Delays the storing of presence. */
let presenceGate: Promise<void> | undefined
let warnings: unknown[]
/** Supervisors that do not answer. */
let dead: Set<string>
let publisher: CatalogPublisher

beforeEach(() => {
  vi.useFakeTimers()
  entries = new Map()
  stored = []
  isBrokerDown = false
  refused = new Set()
  tooLarge = new Set()
  failedAt = []
  removed = []
  presenceGate = undefined
  warnings = []
  dead = new Set()
  const fail = (): void => {
    if (isBrokerDown) throw new Error('the broker is away')
  }
  const catalog: Catalog = {
    async put(each) {
      fail()
      if (each.kind === 'server' && refused.has(each.server)) {
        failedAt.push(Date.now())
        throw new Error('refused')
      }
      if (each.kind === 'server' && each.state === 'ready' && tooLarge.has(each.server)) {
        failedAt.push(Date.now())
        throw new BusError('invalid', `the lists of "${each.server}" are too large`)
      }
      if (each.kind === 'server') stored.push(each)
      else await presenceGate
      entries.set(catalogKey(each), each)
    },
    async remove(each) {
      fail()
      removed.push(catalogKey(each))
      await Promise.resolve()
      entries.delete(catalogKey(each))
    },
    watch: () => Promise.reject(new Error('not used')),
  }
  publisher = new CatalogPublisher({
    bus: { id: 'us', catalog },
    view: { entries, onChange: () => ({ [Symbol.dispose]: () => undefined }) },
    isGone: async (supervisor) => dead.has(supervisor),
    stats: () => ({}),
    configured: () => ['test'],
    faults: () => undefined,
    warnings: () => [],
    warn: (error) => warnings.push(error),
  })
})
afterEach(() => void vi.useRealTimers())

test('a supervisor is in the catalog as soon as it has started', async () => {
  await publisher.start()
  expect(entries.get('supervisor.us')).toMatchObject({ kind: 'supervisor', id: 'us', servers: {} })
})

test('the latest state of a server is published last', async () => {
  await publisher.start()
  publisher.set(entry('starting'))
  publisher.set(entry('unavailable'))
  publisher.set(entry('ready'))
  await vi.advanceTimersByTimeAsync(0)
  expect(entries.get('server.test.us')).toMatchObject({ state: 'ready' })
  expect(stored.at(-1)).toMatchObject({ state: 'ready' })
})

test('a change at the end of a write is published before the next heartbeat', async () => {
  await publisher.start()
  // One of these is between the look for more changes and the end of the write.
  for (let microtasks = 0; microtasks < 30; microtasks++) {
    publisher.set(entry('starting'))
    for (let passed = 0; passed < microtasks; passed++) await Promise.resolve()
    publisher.set(entry('ready'))
    await vi.advanceTimersByTimeAsync(0)
    expect(entries.get('server.test.us')).toMatchObject({ state: 'ready' })
  }
})

test('a removed server leaves the catalog', async () => {
  await publisher.start()
  publisher.set(entry('ready'))
  await vi.advanceTimersByTimeAsync(0)
  publisher.remove(name)
  await vi.advanceTimersByTimeAsync(0)
  expect(entries.has('server.test.us')).toBe(false)
})

test('changes during an outage of the broker are published after it', async () => {
  await publisher.start()
  isBrokerDown = true
  publisher.set(entry('starting'))
  await vi.advanceTimersByTimeAsync(5_000)
  publisher.set(entry('ready'))
  await vi.advanceTimersByTimeAsync(5_000)
  expect(entries.has('server.test.us')).toBe(false)
  expect(warnings.length).toBeGreaterThan(2)
  isBrokerDown = false
  // Sooner than the next heartbeat.
  await vi.advanceTimersByTimeAsync(500)
  expect(entries.get('server.test.us')).toMatchObject({ state: 'ready' })
})

test('entries that a peer removed by mistake are published again', async () => {
  await publisher.start()
  publisher.set(entry('ready'))
  await vi.advanceTimersByTimeAsync(0)
  entries.clear()
  await vi.advanceTimersByTimeAsync(2_000)
  expect(Array.from(entries.keys()).toSorted()).toEqual(['server.test.us', 'supervisor.us'])
})

test('an entry that is stored is not published again', async () => {
  await publisher.start()
  publisher.set(entry('ready'))
  await vi.advanceTimersByTimeAsync(20_000)
  expect(stored).toHaveLength(1)
})

test('entries of an absent supervisor are removed after a grace period', async () => {
  entries.set('server.test.dead', entry('ready', 'dead'))
  entries.set('server.test.other', entry('ready', 'other'))
  const other: CatalogEntry = { kind: 'supervisor', id: 'other', startedAt: 0, servers: {} }
  entries.set('supervisor.other', other)
  entries.set('model.default', { kind: 'model', provider: 'demo', model: 'demo-1' })
  await publisher.start()
  expect(entries.has('server.test.dead')).toBe(true)
  await vi.advanceTimersByTimeAsync(10_000)
  expect(Array.from(entries.keys()).toSorted()).toEqual([
    'model.default',
    'server.test.other',
    'supervisor.other',
    'supervisor.us',
  ])
})

test('entries of a dead supervisor are removed at the next heartbeat, those of live ones stay', async () => {
  for (const id of ['dead', 'other']) {
    entries.set(`server.test.${id}`, entry('ready', id))
    entries.set(`supervisor.${id}`, { kind: 'supervisor', id, startedAt: 0, servers: {} })
  }
  dead.add('dead').add('us')
  await publisher.start()
  await vi.advanceTimersByTimeAsync(2_000)
  expect(Array.from(entries.keys())).toEqual([
    'server.test.other',
    'supervisor.other',
    'supervisor.us',
  ])
})

test('a stopped supervisor has removed its entries and publishes nothing more', async () => {
  await publisher.start()
  publisher.set(entry('ready'))
  await vi.advanceTimersByTimeAsync(0)
  await publisher[Symbol.asyncDispose]()
  publisher.set(entry('shutdown'))
  await vi.advanceTimersByTimeAsync(10_000)
  expect(entries.size).toBe(0)
})

test('an outage of the broker does not delay the stop of a supervisor', async () => {
  await publisher.start()
  isBrokerDown = true
  publisher.set(entry('ready'))
  await expect(publisher[Symbol.asyncDispose]()).resolves.toBeUndefined()
})

test('a server whose lists cannot be stored is published as unavailable with the reason', async () => {
  await publisher.start()
  tooLarge.add('test')
  publisher.set({ ...entry('ready'), tools: [{ name: 'echo', inputSchema: {} }], prompts: [] })
  publisher.set({ ...entry('ready'), server: 'other' as ServerName })
  await vi.advanceTimersByTimeAsync(20_000)
  expect(entries.get('server.test.us')).toEqual({
    ...entry('unavailable'),
    error: 'the lists of "test" are too large',
  })
  expect(entries.get('server.other.us')).toMatchObject({ state: 'ready' })
  expect([stored.length, failedAt.length]).toEqual([2, 1])
})

test('entries are published again before their stored lists expire', async () => {
  await publisher.start()
  publisher.set(entry('ready'))
  await vi.advanceTimersByTimeAsync(2_000)
  vi.setSystemTime(Date.now() + 11 * 86_400_000)
  await vi.advanceTimersByTimeAsync(4_000)
  expect(stored).toHaveLength(2)
})

test('an entry that the broker refuses is retried with backoff and delays no other', async () => {
  const entryOf = (server: string): ServerEntry => ({
    ...entry('ready'),
    server: server as ServerName,
  })
  await publisher.start()
  publisher.set(entryOf('gone'))
  await vi.advanceTimersByTimeAsync(0)
  refused.add('bad')
  publisher.set(entryOf('bad'))
  publisher.set(entryOf('good'))
  publisher.remove('gone' as ServerName)
  await vi.advanceTimersByTimeAsync(10_000)
  expect(Array.from(entries.keys()).toSorted()).toEqual(['server.good.us', 'supervisor.us'])
  const pauses = failedAt.slice(1).map((at, index) => at - (failedAt[index] ?? 0))
  expect(pauses.filter((ms) => ms > 0)).toEqual([250, 500, 1_000, 2_000, 2_000, 2_000, 2_000])
  refused.clear()
  await vi.advanceTimersByTimeAsync(2_000)
  expect(entries.has('server.bad.us')).toBe(true)
})

test('concurrent removals of a dead supervisor are coalesced', async () => {
  entries.set('server.test.dead', entry('ready', 'dead'))
  await Promise.all([publisher.forget('dead'), publisher.forget('dead')])
  expect(removed).toEqual(['server.test.dead'])
})

test('the stop of a supervisor waits for a heartbeat in flight and removes its entry', async () => {
  await publisher.start()
  const gate = Promise.withResolvers<void>()
  presenceGate = gate.promise
  await vi.advanceTimersByTimeAsync(2_000)
  const stopped = publisher[Symbol.asyncDispose]()
  await vi.advanceTimersByTimeAsync(0)
  gate.resolve()
  await stopped
  await vi.advanceTimersByTimeAsync(10_000)
  expect(entries.size).toBe(0)
})

test('an entry lists each instance with its error', () => {
  const config: ServerConfig = { type: 'http', url: 'http://a', headers: {}, instances: [{}, {}] }
  const output = ['Error: no key']
  const error = new ServerUnavailableError('it ended', { server: 'test', output })
  const snapshot: ServerSnapshot = {
    name: 'test',
    type: 'http',
    state: 'ready',
    since: 5,
    restarts: 2,
    instances: [
      { state: 'ready', restarts: 0, weight: 2, pid: 7 },
      { state: 'unavailable', restarts: 2, weight: 1, error },
    ],
    tools: [],
    prompts: [],
    resources: [],
    resourceTemplates: [],
  }
  const { instances } = ServerEntry.parse(toEntry('us', config, snapshot))
  expect(instances).toEqual([
    { state: 'ready', restarts: 0, weight: 2, pid: 7 },
    { state: 'unavailable', restarts: 2, weight: 1, error: 'it ended', output },
  ])
})

test('an entry has the state, lists and settings of its server', () => {
  const config: ServerConfig = { type: 'http', url: 'http://localhost', headers: {} }
  const inputSchema = { type: 'object' as const }
  const annotations = { readOnlyHint: true, openWorldHint: false, title: 'as it says' }
  const echo = { name: 'echo', description: 'Says it.', inputSchema, annotations }
  const caching = { tools: { ttlMs: 5, cacheScope: 'public', listedAt: 1 } } as const
  const snapshot: ServerSnapshot = {
    name: 'test',
    type: 'http',
    state: 'ready',
    since: 5,
    era: 'modern',
    restarts: 2,
    tools: [echo],
    prompts: [],
    resources: [],
    resourceTemplates: [],
    caching,
    announcedAt: { tools: 2 },
  }
  expect(toEntry('us', config, snapshot)).toEqual({
    kind: 'server',
    server: 'test',
    supervisor: 'us',
    state: 'ready',
    since: 5,
    type: 'http',
    scope: 'shared',
    placement: 'every',
    restarts: 2,
    era: 'modern',
    tools: [echo],
    prompts: [],
    resources: [],
    resourceTemplates: [],
    caching,
    announcedAt: { tools: 2 },
  })
})
