import type { Catalog } from '@mcp-host/bus'
import type { CatalogEntry, ServerName } from '@mcp-host/contracts'
import type { MCPHost, ServerSnapshot } from 'mcp-host'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { publishCatalog, removeStale } from './publish-catalog.ts'

let catalog: Catalog
let put: CatalogEntry[]
let failures: number
const removed: string[] = []
beforeEach(() => {
  vi.useFakeTimers()
  put = []
  failures = 0
  removed.length = 0
  catalog = {
    async put(entry) {
      if (failures-- > 0) throw new Error('the broker is away')
      put.push(entry)
    },
    remove: async (entry) => void removed.push(entry.kind === 'server' ? entry.server : 'model'),
    watch: async () => ({
      entries: new Map<string, CatalogEntry>([
        ['model', { kind: 'model', provider: 'demo', model: 'demo-1' }],
        ['a', { kind: 'server', server: 'kept' as ServerName, state: 'ready', tools: [] }],
        ['b', { kind: 'server', server: 'gone' as ServerName, state: 'ready', tools: [] }],
      ]),
    }),
  }
})
afterEach(() => void vi.useRealTimers())

function hostWith(...snapshots: Partial<ServerSnapshot>[]): MCPHost {
  return {
    async *serverChanges() {
      for (const each of snapshots) yield { name: 'test', state: 'ready', tools: [], ...each }
    },
  } as unknown as MCPHost
}

const quiet = {
  signal: AbortSignal.any([]),
  warn: (): void => undefined,
  onPublished: (): void => undefined,
}

test('every change of a server is published, with what others need of its tools', async () => {
  const inputSchema = { type: 'object' as const }
  const annotations = { readOnlyHint: true, title: 'shown nowhere' }
  const echo = { name: 'echo', description: 'Says it.', inputSchema, annotations }
  await publishCatalog(catalog, hostWith({ state: 'starting' }, { tools: [echo] }), quiet)
  expect(put).toEqual([
    { kind: 'server', server: 'test', state: 'starting', tools: [] },
    {
      kind: 'server',
      server: 'test',
      state: 'ready',
      tools: [{ ...echo, annotations: { readOnlyHint: true, idempotentHint: false } }],
    },
  ])
})

test('an outage of the broker delays a change and loses none', async () => {
  failures = 3
  const warnings: unknown[] = []
  const host = hostWith({ state: 'starting' }, { state: 'ready' })
  const end = publishCatalog(catalog, host, { ...quiet, warn: (error) => warnings.push(error) })
  await vi.runAllTimersAsync()
  await end
  expect(put).toMatchObject([{ state: 'starting' }, { state: 'ready' }])
  expect(warnings).toHaveLength(3)
})

test('an outage does not hold up the shutdown', async () => {
  failures = Infinity
  const stop = new AbortController()
  const end = publishCatalog(catalog, hostWith({}), { ...quiet, signal: stop.signal })
  stop.abort()
  await vi.runAllTimersAsync()
  await expect(end).resolves.toBeUndefined()
})

test('servers that are no longer configured are forgotten, models are not', async () => {
  await removeStale(catalog, ['kept'])
  expect(removed).toEqual(['gone'])
})
