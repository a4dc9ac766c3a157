import type { Broker } from '@mcp-host/testkit'
import { startBroker } from '@mcp-host/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Revocations } from '../session/revocations.ts'
import { ProviderStore } from './provider-store.ts'

let broker: Broker
let store: ProviderStore
let address: string

beforeAll(async () => {
  broker = await startBroker()
  const bus = await broker.connect()
  const counter = bus.counter()
  const revocations = await Revocations.open(bus)
  const deps = { bus, counter, revocations, currentAddress: () => address }
  store = await ProviderStore.open(deps, 60_000)
})
afterAll(() => broker[Symbol.asyncDispose]())

test.each(['Client', 'Interaction'])(
  'an address that stores too many records of the kind %s loses its oldest, and no other address does',
  async (model) => {
    const adapter = store.adapter(model)
    const add = (id: string) => adapter.upsert(id, { client_id: id }, 600)
    address = '192.0.2.1'
    await add('theirs')
    address = '192.0.2.2'
    for (let number = 0; number <= 1_000; number++) await add(`own ${number}`)
    expect(await adapter.find('own 0')).toBeUndefined()
    for (const id of ['own 1', 'own 1000', 'theirs']) expect(await adapter.find(id)).toBeDefined()
  },
)

test('a registration that a user has allowed is not evicted', async () => {
  const adapter = store.adapter('Client')
  address = '192.0.2.3'
  await adapter.upsert('allowed', { client_id: 'allowed' }, 600)
  await store.keepClient('allowed')
  for (let number = 0; number <= 1_000; number++) await adapter.upsert(`other ${number}`, {}, 600)
  expect(await adapter.find('allowed')).toEqual({ client_id: 'allowed' })
})
