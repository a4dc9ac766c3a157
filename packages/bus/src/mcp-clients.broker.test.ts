import type { Broker } from '@mcp-host/testkit'
import { eventually, startBroker } from '@mcp-host/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Bus } from './bus.ts'

let broker: Broker
let one: Bus
let other: Bus
beforeAll(async () => {
  broker = await startBroker()
  one = await broker.connect()
  other = await broker.connect()
})
afterAll(() => broker[Symbol.asyncDispose]())

test('a record is read on demand, and kept up to date from then on', async () => {
  await one.mcpClients.change('client-1', () => ({ logLevel: 'error' }))
  const view = await other.mcpClients.watch()
  expect(view.get('client-1')).toBeUndefined()
  await view.read('client-1')
  expect(view.get('client-1')).toEqual({ logLevel: 'error' })
  expect(view.read('client-1')).toBeUndefined()
  let changes = 0
  view.onChange(() => void changes++)
  await view.read('client-5')
  expect(view.get('client-5')).toEqual({})
  // This view has not read the record of this client.
  await one.mcpClients.change('client-6', () => ({ logLevel: 'debug' }))
  await one.mcpClients.change('client-5', () => ({ logLevel: 'debug' }))
  await eventually(() => view.get('client-5')?.logLevel === 'debug')
  expect([view.get('client-6'), changes]).toEqual([undefined, 1])
})

test('a change is visible to its own process at once, and announced once', async () => {
  const view = await one.mcpClients.watch()
  const seen: unknown[] = []
  view.onChange(() => seen.push(view.get('client-3')))
  for (const logLevel of ['info', 'error'] as const) {
    await one.mcpClients.change('client-3', () => ({ logLevel }))
    expect(view.get('client-3')).toEqual({ logLevel })
  }
  await view.read('client-4')
  await other.mcpClients.change('client-4', () => ({ isOver: true }))
  await eventually(() => view.get('client-4')?.isOver)
  expect(seen).toEqual([{ logLevel: 'info' }, { logLevel: 'error' }, { logLevel: 'error' }])
})

test('concurrent changes of a record are all applied', async () => {
  const names = Array.from({ length: 8 }, (_, index) => `mem://${index}`)
  await Promise.all(
    names.map((name, index) =>
      (index % 2 === 0 ? one : other).mcpClients.change('client-2', (record) => ({
        subscriptions: [...(record.subscriptions ?? []), name],
      })),
    ),
  )
  const view = await one.mcpClients.watch()
  await view.read('client-2')
  expect(view.get('client-2')?.subscriptions?.toSorted()).toEqual(names)
})
