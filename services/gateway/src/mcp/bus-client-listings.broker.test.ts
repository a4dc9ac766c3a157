import type { Bus } from '@mcp-host/bus'
import { storeLists } from '@mcp-host/bus'
import type { ServerEntry, ServerName } from '@mcp-host/contracts'
import { readClientLists } from '@mcp-host/contracts'
import type { Broker } from '@mcp-host/testkit'
import { eventually, startBroker } from '@mcp-host/testkit'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { BusClientListings } from './bus-client-listings.ts'

let broker: Broker
let gateway: Bus
let supervisor: Bus
beforeAll(async () => {
  broker = await startBroker()
  gateway = await broker.connect()
  supervisor = await broker.connect()
})
afterAll(() => broker[Symbol.asyncDispose]())

const presence = () => ({
  kind: 'supervisor' as const,
  id: supervisor.id,
  startedAt: 0,
  servers: {},
})

let lists: BusClientListings
let changes: number
let client: string
beforeEach(async () => {
  await supervisor.catalog.put(presence())
  const [clients, catalog] = await Promise.all([
    gateway.mcpClients.watch(),
    gateway.catalog.watch(),
  ])
  lists = new BusClientListings({ bus: gateway, clients, catalog })
  changes = 0
  lists.onChange(() => void changes++)
  client = crypto.randomUUID()
  await clients.read(client)
})
afterEach(() => lists[Symbol.dispose]())

const announce = (change: number): Promise<void> =>
  supervisor.mcpClients.change(client, () => ({
    ownLists: { own: { supervisor: supervisor.id, process: 'p', change } },
  }))
const version = (): string | undefined => lists.versions(client)?.get('own')

test('each change of own lists has a version, and a client without own lists has none', async () => {
  expect(lists.versions(client)).toBeUndefined()
  await announce(1)
  const first = await eventually(version)
  await announce(2)
  await eventually(() => version() !== first)
  expect(changes).toBe(2)
  expect(lists.versions('another')).toBeUndefined()
})

test('own lists are ignored while their supervisor is absent', async () => {
  await announce(1)
  await eventually(version)
  await supervisor.catalog.remove(presence())
  await eventually(() => lists.versions(client) === undefined)
  expect(changes).toBe(2)
  await supervisor.catalog.put(presence())
  await eventually(version)
  // Other changes of the presence are not changes of own lists.
  await supervisor.catalog.put({ ...presence(), startedAt: 1 })
  await supervisor.catalog.put({ ...presence(), startedAt: 2 })
  await announce(2)
  await eventually(() => version()?.endsWith('2'))
  expect(changes).toBe(4)
})

test('own lists are read from their process while it runs', async () => {
  const entry: ServerEntry = {
    kind: 'server',
    server: 'own' as ServerName,
    supervisor: supervisor.id,
    state: 'ready',
    scope: 'session',
    tools: [{ name: 'secret', inputSchema: {}, 'x-unknown': 1 }],
  }
  let answer = entry
  const served = supervisor.serve(readClientLists, { server: 'own', client }, () => answer)
  await supervisor.ping()
  expect(await lists.read('own', client)).toMatchObject({
    server: 'own',
    isOwn: true,
    tools: entry.tools,
  })
  const tools = [{ name: 'x'.repeat(2_000_000), inputSchema: {} }]
  answer = await storeLists(supervisor.blobs, { ...entry, tools })
  expect(await lists.read('own', client)).toMatchObject({ tools })
  const { key = '' } = answer.stored ?? {}
  await eventually(async () => (await supervisor.blobs.find(key)) === undefined)
  answer = { ...entry, state: 'unavailable', error: 'too much', tools: [] }
  expect(await lists.read('own', client)).toBeUndefined()
  served[Symbol.dispose]()
  expect(await eventually(async () => (await lists.read('own', client)) === undefined)).toBe(true)
})
