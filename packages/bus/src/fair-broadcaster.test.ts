import { setImmediate as turn } from 'node:timers/promises'
import { beforeEach, expect, test } from 'vitest'
import { FairBroadcaster } from './fair-broadcaster.ts'

let listeners: Set<number>
/** What each listener was told. */
let told: Map<number, string[]>
let announcer: FairBroadcaster<number>
beforeEach(() => {
  listeners = new Set()
  told = new Map()
  announcer = new FairBroadcaster(listeners)
})

function come(count: number): void {
  for (let index = 0; index < count; index++) listeners.add(listeners.size)
}

const tell = (news: string): void =>
  announcer.tell((listener) => {
    told.set(listener, [...(told.get(listener) ?? []), news])
  })

async function turns(count: number): Promise<void> {
  for (let index = 0; index < count; index++) await turn()
}

test('a few are told at once', () => {
  come(50)
  tell('a')
  tell('b')
  expect(told.size).toBe(50)
  expect(new Set(Array.from(told.values(), String))).toEqual(new Set(['a,b']))
})

test('a crowd is told in parts, and each of it all in order', async () => {
  come(120)
  tell('a')
  tell('b')
  expect(told.size).toBe(50)
  await turn()
  expect(told.size).toBe(100)
  await turns(5)
  expect(told.size).toBe(120)
  expect(new Set(Array.from(told.values(), String))).toEqual(new Set(['a,b']))
  tell('c')
  await turns(3)
  expect(new Set(Array.from(told.values(), String))).toEqual(new Set(['a,b,c']))
})

test('what is told meanwhile comes after it, also to those who were told already', async () => {
  come(60)
  tell('a')
  announcer.tell((listener) => {
    if (listener === 0) tell('c')
    told.get(listener)?.push('b')
  })
  await turns(6)
  expect(new Set(Array.from(told.values(), String))).toEqual(new Set(['a,b,c']))
})

test('who has left is told no more', async () => {
  come(60)
  tell('a')
  listeners.delete(55)
  await turns(3)
  expect([told.size, told.has(55)]).toEqual([59, false])
})

test('nothing new is told once it is over', async () => {
  come(60)
  tell('a')
  tell('b')
  announcer[Symbol.dispose]()
  await turns(5)
  expect(new Set(Array.from(told.values(), String))).toEqual(new Set(['a']))
})
