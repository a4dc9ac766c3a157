import type { CatalogEntry, ServerEntry } from '@mcp-host/contracts'
import { ServerName } from '@mcp-host/contracts'
import { jetstreamManager } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import type { Broker } from '@mcp-host/testkit'
import { eventually, startBroker } from '@mcp-host/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Bus } from './bus.ts'
import { connectNats } from './connect.ts'

let broker: Broker
let bus: Bus

beforeEach(async () => {
  broker = await startBroker()
  bus = await broker.connect()
})
afterEach(() => broker[Symbol.asyncDispose]())

const server = (name: string, state: ServerEntry['state'] = 'ready'): ServerEntry => ({
  kind: 'server',
  server: ServerName.parse(name),
  supervisor: 's',
  state,
  tools: [{ name: 'echo', inputSchema: { type: 'object' } }],
})
const model: CatalogEntry = { kind: 'model', provider: 'demo', model: 'demo' }

test('a view of an empty catalog is complete at once', async () => {
  const view = await bus.catalog.watch()
  expect(view.entries.size).toBe(0)
}, 5_000)

test('a view begins with the last version of each entry, without removed entries', async () => {
  await bus.catalog.put(server('a', 'starting'))
  await bus.catalog.put(server('a'))
  await bus.catalog.put(server('b'))
  await bus.catalog.put(model)
  await bus.catalog.remove(server('b'))
  const { entries } = await (await broker.connect()).catalog.watch()
  expect(Object.fromEntries(entries)).toEqual({
    'server.a.s': { ...server('a'), revision: 2 },
    'model.default': model,
  })
})

test('a view of a catalog with only removed entries is complete at once', async () => {
  await bus.catalog.put(server('a'))
  await bus.catalog.remove(server('a'))
  const { entries } = await bus.catalog.watch()
  expect(entries.size).toBe(0)
}, 5_000)

test('the marker of a removed entry expires', async () => {
  await bus.catalog.put(server('a'))
  await bus.catalog.remove(server('a'))
  await using connection = await connectNats(broker.url, 'reader')
  const { streams } = await jetstreamManager(connection)
  const marker = await streams.getMessage('KV_CATALOG', { last_by_subj: '$KV.CATALOG.server.a.s' })
  expect(marker?.data).toHaveLength(0)
  expect(marker?.header.get('Nats-TTL')).toBe('3600s')
})

test('a view follows entries that other processes add, change and remove', async () => {
  const { entries } = await (await broker.connect()).catalog.watch()
  await bus.catalog.put(server('a', 'starting'))
  await eventually(() => entries.has('server.a.s'))
  await bus.catalog.put(server('a'))
  const state = () => {
    const entry = entries.get('server.a.s')
    return entry?.kind === 'server' ? entry.state : undefined
  }
  await eventually(() => state() === 'ready')
  await bus.catalog.remove(server('a'))
  await eventually(() => entries.size === 0)
})

test('a listener of a view is called after each change, until it is disposed', async () => {
  const { entries, onChange } = await (await broker.connect()).catalog.watch()
  const seen: number[] = []
  const listener = onChange(() => seen.push(entries.size))
  await bus.catalog.put(server('a'))
  await bus.catalog.put(server('b'))
  await eventually(() => seen.length === 2)
  listener[Symbol.dispose]()
  await bus.catalog.put(server('c'))
  await eventually(() => entries.size === 3)
  expect(seen).toEqual([1, 2])
})

test('an entry that is not renewed in time leaves every view', async () => {
  const { entries } = await (await broker.connect()).catalog.watch()
  const supervisor = { kind: 'supervisor', id: 's', startedAt: 0, servers: {} } as const
  await bus.catalog.put(supervisor, { ttlMs: 1_000 })
  await bus.catalog.put(server('a'))
  await eventually(() => entries.size === 2)
  await eventually(() => !entries.has('supervisor.s'), { what: 'the expiry of the supervisor' })
  expect(Array.from(entries.keys())).toEqual(['server.a.s'])
})

test('a bucket without expiry of values is updated', async () => {
  const connection = await connectNats(broker.url, 'earlier')
  const manager = await jetstreamManager(connection)
  await manager.streams.delete('KV_CATALOG')
  await new Kvm(connection).create('CATALOG', { history: 1 })
  await connection.close()
  const next = await broker.connect()
  await next.catalog.put(model, { ttlMs: 1_000 })
  const { entries } = await next.catalog.watch()
  await eventually(() => entries.size === 0)
})

test('a view survives a kill and restart of the broker', async () => {
  await bus.catalog.put(server('a'))
  const { entries } = await (await broker.connect()).catalog.watch()
  await broker.kill()
  await broker.start()
  await eventually(() =>
    bus.catalog.put(server('b')).then(
      () => true,
      () => false,
    ),
  )
  await eventually(() => entries.has('server.b.s'), { what: 'the added entry' })
  expect(Array.from(entries.keys())).toEqual(['server.a.s', 'server.b.s'])
})

test('an invalid entry is refused with its field', async () => {
  // Callers without types may send what the types forbid.
  const invalid = { ...server('a'), tools: [{ name: 5 }] } as unknown as CatalogEntry
  await expect(bus.catalog.put(invalid)).rejects.toMatchObject({
    code: 'invalid',
    field: 'tools.0.name',
  })
})
