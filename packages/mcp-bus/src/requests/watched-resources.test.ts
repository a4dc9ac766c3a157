import { WATCH_MS } from '@mcp-host/contracts'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { WatchedResources } from './watched-resources.ts'

/** Requests that reached the server. */
let requests: unknown[]
let refusal: Error | undefined
/** Delays the answers of the server. */
let gate: Promise<void> | undefined
let watched: WatchedResources

beforeEach(() => {
  vi.useFakeTimers()
  requests = []
  refusal = undefined
  gate = undefined
  const ask = (action: string) => async (resource: unknown) => {
    requests.push([action, resource])
    await gate
    if (refusal !== undefined) throw refusal
  }
  const upstream = { subscribe: ask('subscribe'), unsubscribe: ask('unsubscribe') }
  watched = new WatchedResources(upstream)
})
afterEach(() => {
  watched[Symbol.dispose]()
  vi.useRealTimers()
})

const subscribe = (uri: string): unknown => ['subscribe', uri]
const unsubscribe = (uri: string): unknown => ['unsubscribe', uri]

test('concurrent watches of one resource are coalesced into one subscription', async () => {
  const answer = Promise.withResolvers<void>()
  gate = answer.promise
  const all = [watched.watch(['a:1', 'a:2']), watched.watch(['a:1'])]
  answer.resolve()
  await Promise.all(all)
  await watched.watch(['a:2'])
  expect(requests).toEqual([subscribe('a:1'), subscribe('a:2')])
  expect(watched.size).toBe(2)
})

test('a resource without a renewed watch is unsubscribed, a renewed one stays', async () => {
  await watched.watch(['a:1', 'a:2'])
  await vi.advanceTimersByTimeAsync(WATCH_MS - 1)
  await watched.watch(['a:2'])
  expect(requests).toHaveLength(2)
  await vi.advanceTimersByTimeAsync(WATCH_MS)
  expect(requests.slice(2)).toEqual([unsubscribe('a:1')])
  expect(watched.size).toBe(1)
  await watched.watch(['a:1'])
  expect(requests.at(-1)).toEqual(subscribe('a:1'))
})

test('an expired watch is removed although the server refuses to unsubscribe', async () => {
  await watched.watch(['a:1'])
  refusal = new Error('no')
  await vi.advanceTimersByTimeAsync(WATCH_MS * 2)
  expect(requests.at(-1)).toEqual(unsubscribe('a:1'))
  expect(watched.size).toBe(0)
})

test('a refused subscription is thrown, and the next watch subscribes again', async () => {
  refusal = new Error('no')
  await expect(watched.watch(['a:1'])).rejects.toBe(refusal)
  expect(watched.size).toBe(0)
  refusal = undefined
  await watched.watch(['a:1'])
  expect(requests).toEqual([subscribe('a:1'), subscribe('a:1')])
})

test('disposed watches send no more requests to the server', async () => {
  await watched.watch(['a:1'])
  watched[Symbol.dispose]()
  await vi.advanceTimersByTimeAsync(WATCH_MS * 2)
  expect(requests).toEqual([subscribe('a:1')])
})

const many = (count: number): string[] => Array.from({ length: count }, (_, index) => `a:${index}`)

test('a server is asked for few subscriptions at a time, also after a refusal', async () => {
  const answer = Promise.withResolvers<void>()
  gate = answer.promise
  const all = watched.watch(many(100)).catch(() => undefined)
  await vi.advanceTimersByTimeAsync(0)
  expect(requests).toHaveLength(16)
  refusal = new Error('no')
  answer.resolve()
  await all
  await vi.advanceTimersByTimeAsync(0)
  expect(requests).toHaveLength(100)
})

test('the watched resources of a server are limited, and known ones are renewed', async () => {
  await watched.watch(many(5_000))
  await watched.watch(many(5_000))
  await expect(watched.watch(['b:1'])).rejects.toMatchObject({ code: 'exhausted' })
  await expect(watched.watch(many(5_001))).rejects.toMatchObject({ code: 'exhausted' })
  expect(requests).toHaveLength(5_000)
  await vi.advanceTimersByTimeAsync(WATCH_MS * 2)
  await watched.watch(['b:1'])
  expect(watched.size).toBe(1)
})
