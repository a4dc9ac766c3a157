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

test('what a client has told at one gateway is known at all', async () => {
  const view = await other.mcpClients.watch()
  let changes = 0
  view.onChange(() => void changes++)
  await one.mcpClients.change('client-1', (record) => ({ ...record, logLevel: 'error' }))
  await eventually(() => view.records.get('client-1')?.logLevel === 'error')
  expect(changes).toBe(1)
  const later = await one.mcpClients.watch()
  expect(later.records.get('client-1')).toEqual({ logLevel: 'error' })
})

test('who has changed something sees it at once, and hears of it once', async () => {
  const view = await one.mcpClients.watch()
  const seen: unknown[] = []
  view.onChange(() => seen.push(view.records.get('client-3')))
  for (const logLevel of ['info', 'error'] as const) {
    await one.mcpClients.change('client-3', () => ({ logLevel }))
    expect(view.records.get('client-3')).toEqual({ logLevel })
  }
  await other.mcpClients.change('client-4', () => ({ isOver: true }))
  await eventually(() => view.records.has('client-4'))
  expect(seen).toEqual([{ logLevel: 'info' }, { logLevel: 'error' }, { logLevel: 'error' }])
})

test('of changes at the same time none is lost', async () => {
  const names = Array.from({ length: 8 }, (_, index) => `mem://${index}`)
  await Promise.all(
    names.map((name, index) =>
      (index % 2 === 0 ? one : other).mcpClients.change('client-2', (record) => ({
        subscriptions: [...(record.subscriptions ?? []), name],
      })),
    ),
  )
  const { records } = await one.mcpClients.watch()
  expect(records.get('client-2')?.subscriptions?.toSorted()).toEqual(names)
})
