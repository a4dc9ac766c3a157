import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { EventQueue } from './event-queue.ts'

const bytes = new TextEncoder()
const text = new TextDecoder()

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

async function rest(queue: EventQueue): Promise<string[]> {
  return Array.fromAsync(queue, (event) => text.decode(event))
}

test('events are read in order up to the end', async () => {
  const queue = new EventQueue()
  queue.put(bytes.encode('a'))
  const all = rest(queue)
  await vi.advanceTimersByTimeAsync(1)
  queue.put(bytes.encode('b'))
  queue.put(bytes.encode('c'))
  queue.end()
  queue.put(bytes.encode('late'))
  expect(await all).toEqual(['a', 'b', 'c'])
})

test('a silent queue sends a heartbeat comment', async () => {
  const events = new EventQueue()[Symbol.asyncIterator]()
  const next = events.next()
  await vi.advanceTimersByTimeAsync(15_000)
  expect(text.decode((await next).value)).toBe(': here\n\n')
  await events.return?.(undefined)
  expect(vi.getTimerCount()).toBe(0)
})

test('a queue beyond its limit ends with the events so far', async () => {
  const queue = new EventQueue()
  const large = bytes.encode('x'.repeat(5 * 1024 * 1024))
  queue.put(large)
  queue.put(large)
  queue.put(bytes.encode('lost'))
  expect((await rest(queue)).map(({ length }) => length)).toEqual([large.length, large.length])
})

test('a single event may exceed the limit', async () => {
  const queue = new EventQueue()
  queue.put(new Uint8Array(20 * 1024 * 1024))
  queue.end()
  expect(await rest(queue)).toHaveLength(1)
})

test('only the latest mentioned events are kept, and all others', async () => {
  const queue = new EventQueue()
  queue.put(bytes.encode('first'))
  for (let index = 0; index < 1_000; index++) queue.putReplaceable(bytes.encode(`${index}`))
  queue.put(bytes.encode('last'))
  queue.end()
  const latest = Array.from({ length: 100 }, (_, index) => `${index + 900}`)
  expect(await rest(queue)).toEqual(['first', ...latest, 'last'])
})
