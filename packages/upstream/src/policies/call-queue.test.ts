import { beforeEach, expect, test } from 'vitest'

import { type CallPriority, CallQueue, QueueFullError } from './call-queue.ts'

let queue: CallQueue
/** The names of the calls that waited and were admitted, in order. */
let admitted: string[]

beforeEach(() => {
  queue = new CallQueue({ limit: 1, maxWaiting: 1_000 })
  admitted = []
})

/** Takes a free slot. */
function occupy(): void {
  expect(queue.enter('normal')).toBeUndefined()
}

/** Enters under a name; resolves once the call is admitted. */
async function wait(name: string, priority: CallPriority, signal?: AbortSignal): Promise<void> {
  await queue.enter(priority, signal)
  admitted.push(name)
}

/** Ends running calls one after another, until `times` slots were handed over. */
async function handOver(times: number): Promise<void> {
  for (let i = 0; i < times; i += 1) {
    queue.leave()
    await Promise.resolve()
  }
}

test('calls up to the limit run at once', () => {
  queue = new CallQueue({ limit: 3 })
  const entries = [queue.enter('low'), queue.enter('normal'), queue.enter('high')]
  expect(entries).toEqual([undefined, undefined, undefined])
  expect([queue.running, queue.waiting]).toEqual([3, 0])
})

test('a call beyond the limit runs when another has left', async () => {
  occupy()
  const second = wait('second', 'normal')
  expect([queue.running, queue.waiting]).toEqual([1, 1])
  queue.leave()
  await second
  expect([queue.running, queue.waiting]).toEqual([1, 0])
  queue.leave()
  expect([queue.running, queue.waiting]).toEqual([0, 0])
  expect(queue.enter('normal')).toBeUndefined()
})

test('a slot that is handed over cannot be taken by a call that enters in between', async () => {
  occupy()
  const second = wait('second', 'low')
  queue.leave()
  const third = wait('third', 'high')
  await second
  expect([queue.running, queue.waiting]).toEqual([1, 1])
  queue.leave()
  await third
  expect(admitted).toEqual(['second', 'third'])
})

test('calls of a higher priority go first, and calls of one priority in order', async () => {
  occupy()
  const names: [string, CallPriority][] = [
    ['low 1', 'low'],
    ['normal 1', 'normal'],
    ['high 1', 'high'],
    ['normal 2', 'normal'],
    ['high 2', 'high'],
  ]
  const waits = names.map(([name, priority]) => wait(name, priority))
  await handOver(5)
  await Promise.all(waits)
  expect(admitted).toEqual(['high 1', 'high 2', 'normal 1', 'normal 2', 'low 1'])
})

test('every eighth slot goes to the call that has waited longest, so that none starves', async () => {
  occupy()
  const waits = [wait('low', 'low'), wait('normal', 'normal')]
  for (let i = 1; i <= 30; i += 1) waits.push(wait(`high ${i}`, 'high'))
  await handOver(32)
  await Promise.all(waits)
  expect(admitted.indexOf('low')).toBe(7)
  expect(admitted.indexOf('normal')).toBe(15)
  expect(admitted.filter((name) => name.startsWith('high'))).toHaveLength(30)
})

test('an aborted call leaves the queue at once, with the reason of its signal', async () => {
  occupy()
  const controller = new AbortController()
  const waits = [
    wait('first', 'normal'),
    wait('second', 'normal', controller.signal),
    wait('third', 'normal'),
  ]
  const reason = new Error('the user closed the chat')
  controller.abort(reason)
  expect(queue.waiting).toBe(2)
  await expect(waits[1]).rejects.toBe(reason)
  await handOver(2)
  await Promise.all([waits[0], waits[2]])
  expect(admitted).toEqual(['first', 'third'])
  expect([queue.running, queue.waiting]).toEqual([1, 0])
})

test('an abort after a call was admitted changes nothing', async () => {
  occupy()
  const controller = new AbortController()
  const second = wait('second', 'normal', controller.signal)
  const third = wait('third', 'normal')
  queue.leave()
  controller.abort()
  await second
  expect([queue.running, queue.waiting]).toEqual([1, 1])
  queue.leave()
  await third
})

test('a call that was aborted before does not enter', () => {
  const reason = new Error('too late')
  expect(() => queue.enter('normal', AbortSignal.abort(reason))).toThrow(reason)
  expect([queue.running, queue.waiting]).toEqual([0, 0])
})

test('a full queue refuses calls, and accepts them again when one has left', async () => {
  queue = new CallQueue({ limit: 1, maxWaiting: 2 })
  occupy()
  const controller = new AbortController()
  const first = wait('first', 'normal')
  const second = wait('second', 'normal', controller.signal)
  expect(() => queue.enter('high')).toThrow(QueueFullError)
  expect(() => queue.enter('high')).toThrow('2 calls are waiting already; try again later')
  controller.abort(new Error('gone'))
  await expect(second).rejects.toThrow('gone')
  const third = wait('third', 'high')
  await handOver(2)
  await Promise.all([first, third])
  expect(admitted).toEqual(['third', 'first'])
})

test('10,000 calls that wait and abort in any order leave the queue empty', async () => {
  queue = new CallQueue({ limit: 1 })
  occupy()
  const gone = new Error('gone')
  const controllers = Array.from({ length: 10_000 }, () => new AbortController())
  const waits = controllers.map(({ signal }) => wait('any', 'low', signal))
  expect(queue.waiting).toBe(10_000)
  for (let i = 0; i < 10_000; i += 1) controllers[(i * 7_919) % 10_000]?.abort(gone)
  expect(queue.waiting).toBe(0)
  const ends = await Promise.allSettled(waits)
  expect(ends.filter(({ status }) => status === 'rejected')).toHaveLength(10_000)
  queue.leave()
  expect(queue.running).toBe(0)
})
