import type { CatalogEntry, ServerEntry } from '@mcp-host/contracts'
import { ServerName } from '@mcp-host/contracts'
import type { Broker } from '@mcp-host/testkit'
import { eventually, startBroker } from '@mcp-host/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Bus } from './bus.ts'

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
  expect(Object.fromEntries(entries)).toEqual({ 'server.a': server('a'), 'model.default': model })
})

test('a catalog of which everything was removed is empty, and known at once', async () => {
  await bus.catalog.put(server('a'))
  await bus.catalog.remove(server('a'))
  const { entries } = await bus.catalog.watch()
  expect(entries.size).toBe(0)
}, 5_000)

test('a view follows entries that are added, changed and removed by others', async () => {
  const { entries } = await (await broker.connect()).catalog.watch()
  await bus.catalog.put(server('a', 'starting'))
  await eventually(() => entries.has('server.a'))
  await bus.catalog.put(server('a'))
  const state = () => {
    const entry = entries.get('server.a')
    return entry?.kind === 'server' ? entry.state : undefined
  }
  await eventually(() => state() === 'ready')
  await bus.catalog.remove(server('a'))
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
  await eventually(() => entries.has('server.b'), { what: 'the new entry' })
  expect(Array.from(entries.keys())).toEqual(['server.a', 'server.b'])
})

test('an entry that is not valid is refused', async () => {
  // What the types forbid, as a caller without types may send it.
  const wrong = { ...server('a'), tools: [{ name: 5 }] } as unknown as CatalogEntry
  await expect(bus.catalog.put(wrong)).rejects.toMatchObject({
    code: 'invalid',
    field: 'tools.0.name',
  })
})
