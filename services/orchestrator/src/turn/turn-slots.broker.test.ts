import type { Broker } from '@mcp-host/testkit'
import { eventually, startBroker } from '@mcp-host/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { TurnSlots } from './turn-slots.ts'

let broker: Broker
beforeAll(async () => {
  broker = await startBroker()
})
afterAll(() => broker[Symbol.asyncDispose]())

test('all processes together have the slots of a principal, also when they ask at once', async () => {
  const one = new TurnSlots(await broker.connect('orchestrator'), 3)
  const two = new TurnSlots(await broker.connect('orchestrator'), 3)
  const asked = Array.from({ length: 10 }, (_, at) =>
    (at % 2 === 0 ? one : two).acquire('user:ann'),
  )
  const held = (await Promise.all(asked)).filter((slot) => slot !== undefined)
  expect(held).toHaveLength(3)
  expect(await two.acquire('user:bob')).toBeDefined()
  await held[0]?.[Symbol.asyncDispose]()
  expect(await one.acquire('user:ann')).toBeDefined()
  expect(await two.acquire('user:ann')).toBeUndefined()
})

test('a turn that is taken over gets the slot of its dead orchestrator before others', async () => {
  const dead = await broker.connect('orchestrator')
  expect(await new TurnSlots(dead, 1).acquire('user:dora')).toBeDefined()
  const slots = new TurnSlots(await broker.connect('orchestrator'), 1)
  expect(await slots.acquire('user:dora', 'orchestrator-other')).toBeUndefined()
  expect(await slots.acquire('user:dora', dead.id)).toBeDefined()
})

test('the slot of a process that is gone is free after some seconds', async () => {
  const gone = await broker.connect('orchestrator')
  expect(await new TurnSlots(gone, 1).acquire('user:carl')).toBeDefined()
  const slots = new TurnSlots(await broker.connect('orchestrator'), 1)
  expect(await slots.acquire('user:carl')).toBeUndefined()
  await gone[Symbol.asyncDispose]()
  await eventually(async () => (await slots.acquire('user:carl')) !== undefined)
})
