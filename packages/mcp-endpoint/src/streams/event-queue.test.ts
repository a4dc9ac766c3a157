import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { EventQueue } from './event-queue.ts'
import { EventQueues } from './event-queues.ts'

const MIB = 1024 * 1024

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

test('of large events that may be replaced, the latest megabyte is kept, and the latest at any rate', async () => {
  const queue = new EventQueue()
  queue.put(bytes.encode('first'))
  for (let index = 0; index < 100; index++) queue.putReplaceable(new Uint8Array(300_000 + index))
  expect(queue.bytes).toBeLessThan(MIB)
  queue.putReplaceable(new Uint8Array(2 * MIB))
  queue.end()
  expect((await rest(queue)).map(({ length }) => length)).toEqual([5, 2 * MIB])
})

test('beyond the limit of all unread events of one principal, its fullest queue is abandoned', async () => {
  const queues = new EventQueues()
  const put = (owner: string, size: number): EventQueue => {
    const queue = queues.open(owner)
    queue.put(new Uint8Array(size * MIB))
    return queue
  }
  const bob = put('bob', 8)
  const ann = [6, 7, 6, 6, 6, 1].map((size) => put('ann', size))
  expect(ann.map(({ bytes: unread }) => unread / MIB)).toEqual([6, 7, 6, 6, 6, 1])
  put('ann', 2)
  expect(ann.map(({ bytes: unread }) => unread / MIB)).toEqual([6, 0, 6, 6, 6, 1])
  expect(await rest(ann[1] ?? bob)).toEqual([])
  expect(bob.bytes).toBe(8 * MIB)
})

test('events that are read, or that their reader leaves, count no more', async () => {
  const queues = new EventQueues()
  const large = new Uint8Array(7 * MIB)
  for (let index = 0; index < 10; index++) {
    const read = queues.open('ann')
    read.put(large)
    read.end()
    expect(await rest(read)).toHaveLength(1)
    const left = queues.open('ann')
    left.put(large)
    // As a response does that has closed before.
    await left[Symbol.asyncIterator]().return?.()
    expect(left.bytes).toBe(0)
  }
  const [one, other] = [queues.open('ann'), queues.open('ann')]
  for (const queue of [one, other]) queue.put(large)
  expect([one.bytes, other.bytes]).toEqual([large.length, large.length])
})
