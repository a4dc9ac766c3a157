import { setImmediate as immediate } from 'node:timers/promises'
import { beforeEach, expect, test } from 'vitest'
import { FairBroadcaster } from './fair-broadcaster.ts'

let listeners: Set<number>
/** The messages that each listener received. */
let received: Map<number, string[]>
let broadcaster: FairBroadcaster<number>
beforeEach(() => {
  listeners = new Set()
  received = new Map()
  broadcaster = new FairBroadcaster(listeners)
})

function addListeners(count: number): void {
  for (let index = 0; index < count; index++) listeners.add(listeners.size)
}

const tell = (message: string): void =>
  broadcaster.tell((listener) => {
    received.set(listener, [...(received.get(listener) ?? []), message])
  })

async function ticks(count: number): Promise<void> {
  for (let index = 0; index < count; index++) await immediate()
}

test('a few listeners are called at once', () => {
  addListeners(50)
  tell('a')
  tell('b')
  expect(received.size).toBe(50)
  expect(new Set(Array.from(received.values(), String))).toEqual(new Set(['a,b']))
})

test('many listeners are called in batches, each in order', async () => {
  addListeners(120)
  tell('a')
  tell('b')
  expect(received.size).toBe(50)
  await immediate()
  expect(received.size).toBe(100)
  await ticks(5)
  expect(received.size).toBe(120)
  expect(new Set(Array.from(received.values(), String))).toEqual(new Set(['a,b']))
  tell('c')
  await ticks(3)
  expect(new Set(Array.from(received.values(), String))).toEqual(new Set(['a,b,c']))
})

test('a message that is sent during another is delivered after it to all listeners', async () => {
  addListeners(60)
  tell('a')
  broadcaster.tell((listener) => {
    if (listener === 0) tell('c')
    received.get(listener)?.push('b')
  })
  await ticks(6)
  expect(new Set(Array.from(received.values(), String))).toEqual(new Set(['a,b,c']))
})

test('a removed listener is not called', async () => {
  addListeners(60)
  tell('a')
  listeners.delete(55)
  await ticks(3)
  expect([received.size, received.has(55)]).toEqual([59, false])
})

test('a pending message is not delivered after disposal', async () => {
  addListeners(60)
  tell('a')
  tell('b')
  broadcaster[Symbol.dispose]()
  await ticks(5)
  expect(new Set(Array.from(received.values(), String))).toEqual(new Set(['a']))
})
