import { WATCH_MS } from '@mcp-host/contracts'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { WatchedResources } from './watched-resources.ts'

/** What the server was asked. */
let asked: unknown[]
let refusal: Error | undefined
/** What the server's answers wait for. */
let hold: Promise<void> | undefined
let watched: WatchedResources

beforeEach(() => {
  vi.useFakeTimers()
  asked = []
  refusal = undefined
  hold = undefined
  const ask = (action: string) => async (resource: unknown) => {
    asked.push([action, resource])
    await hold
    if (refusal !== undefined) throw refusal
  }
  const host = { subscribe: ask('subscribe'), unsubscribe: ask('unsubscribe') }
  watched = new WatchedResources(host, 's')
})
afterEach(() => {
  watched[Symbol.dispose]()
  vi.useRealTimers()
})

const subscribe = (uri: string): unknown => ['subscribe', { server: 's', uri }]
const unsubscribe = (uri: string): unknown => ['unsubscribe', { server: 's', uri }]

test('what many watch is asked of the server once', async () => {
  const answered = Promise.withResolvers<void>()
  hold = answered.promise
  const all = [watched.watch(['a:1', 'a:2']), watched.watch(['a:1'])]
  answered.resolve()
  await Promise.all(all)
  await watched.watch(['a:2'])
  expect(asked).toEqual([subscribe('a:1'), subscribe('a:2')])
  expect(watched.size).toBe(2)
})

test('what nobody watches any more is forgotten, what is watched again is kept', async () => {
  await watched.watch(['a:1', 'a:2'])
  await vi.advanceTimersByTimeAsync(WATCH_MS - 1)
  await watched.watch(['a:2'])
  expect(asked).toHaveLength(2)
  await vi.advanceTimersByTimeAsync(WATCH_MS)
  expect(asked.slice(2)).toEqual([unsubscribe('a:1')])
  expect(watched.size).toBe(1)
  await watched.watch(['a:1'])
  expect(asked.at(-1)).toEqual(subscribe('a:1'))
})

test('what nobody watches is forgotten also where the server does not want to hear of it', async () => {
  await watched.watch(['a:1'])
  refusal = new Error('no')
  await vi.advanceTimersByTimeAsync(WATCH_MS * 2)
  expect(asked.at(-1)).toEqual(unsubscribe('a:1'))
  expect(watched.size).toBe(0)
})

test('a refusal is thrown, and the next who watches asks again', async () => {
  refusal = new Error('no')
  await expect(watched.watch(['a:1'])).rejects.toBe(refusal)
  expect(watched.size).toBe(0)
  refusal = undefined
  await watched.watch(['a:1'])
  expect(asked).toEqual([subscribe('a:1'), subscribe('a:1')])
})

test('after its end the server is asked nothing more', async () => {
  await watched.watch(['a:1'])
  watched[Symbol.dispose]()
  await vi.advanceTimersByTimeAsync(WATCH_MS * 2)
  expect(asked).toEqual([subscribe('a:1')])
})
