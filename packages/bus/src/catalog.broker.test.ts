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

test('watching an empty catalog answers at once', async () => {
  const view = await bus.catalog.watch()
  expect(view.entries.size).toBe(0)
}, 5_000)

test('watching begins with what is there, in its last version, without what was removed', async () => {
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

test('a catalog of which everything was removed is empty, and known at once', async () => {
  await bus.catalog.put(server('a'))
  await bus.catalog.remove(server('a'))
  const { entries } = await bus.catalog.watch()
  expect(entries.size).toBe(0)
}, 5_000)

test('the mark of a removal goes away some time too', async () => {
  await bus.catalog.put(server('a'))
  await bus.catalog.remove(server('a'))
  await using connection = await connectNats(broker.url, 'reader')
  const { streams } = await jetstreamManager(connection)
  const mark = await streams.getMessage('KV_CATALOG', { last_by_subj: '$KV.CATALOG.server.a.s' })
  expect(mark?.data).toHaveLength(0)
  expect(mark?.header.get('Nats-TTL')).toBe('3600s')
})

test('a view follows entries that are added, changed and removed by others', async () => {
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

test('who follows a view is called after each change, until they no longer want to be', async () => {
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

test('an entry that is not put again in time leaves every view', async () => {
  const { entries } = await (await broker.connect()).catalog.watch()
  const here = { kind: 'supervisor', id: 's', startedAt: 0, servers: {} } as const
  await bus.catalog.put(here, { ttlMs: 1_000 })
  await bus.catalog.put(server('a'))
  await eventually(() => entries.size === 2)
  await eventually(() => !entries.has('supervisor.s'), { what: 'the end of its time' })
  expect(Array.from(entries.keys())).toEqual(['server.a.s'])
})

test('a bucket of an earlier version, whose values could not expire, is brought up to date', async () => {
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

test('a view goes on when the broker was killed and started again', async () => {
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
  await eventually(() => entries.has('server.b.s'), { what: 'the new entry' })
  expect(Array.from(entries.keys())).toEqual(['server.a.s', 'server.b.s'])
})

test('an entry that is not valid is refused', async () => {
  // What the types forbid, as a caller without types may send it.
  const wrong = { ...server('a'), tools: [{ name: 5 }] } as unknown as CatalogEntry
  await expect(bus.catalog.put(wrong)).rejects.toMatchObject({
    code: 'invalid',
    field: 'tools.0.name',
  })
})
