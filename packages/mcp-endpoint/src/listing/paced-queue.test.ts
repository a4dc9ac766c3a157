import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { PacedQueue } from './paced-queue.ts'

test('work runs in order, and other tasks run between two pieces of it', async () => {
  const queue = new PacedQueue(10)
  const log: string[] = []
  const work = ['a', 'b', 'c'].map((name) => queue.run(() => log.push(name)))
  await setImmediate()
  expect(log).toEqual(['a'])
  const other = (async () => {
    while (log.at(-1) !== 'c') {
      if (log.at(-1) !== '-') log.push('-')
      await setImmediate()
    }
  })()
  await Promise.all([...work, other])
  expect(log).toEqual(['a', '-', 'b', '-', 'c'])
})

test('work that throws rejects, and the next work runs', async () => {
  const queue = new PacedQueue(10)
  const failed = queue.run(() => {
    throw new Error('broken')
  })
  const next = queue.run(() => 'next')
  await expect(failed).rejects.toThrow('broken')
  expect(await next).toBe('next')
})

test('a queue is full at its limit of waiting work', async () => {
  const queue = new PacedQueue(1)
  const first = queue.run(() => 1)
  expect(queue.isFull).toBe(false)
  const second = queue.run(() => 2)
  expect(queue.isFull).toBe(true)
  expect(await Promise.all([first, second])).toEqual([1, 2])
  expect(queue.isFull).toBe(false)
})
