import { expect, test } from 'vitest'
import { InFlight } from './in-flight.ts'

test('idle resolves when all work has ended, including work that began meanwhile', async () => {
  const work = new InFlight()
  await work.idle()
  const one = work.begin()
  const other = work.begin()
  let isIdle = false
  const idle = work.idle().then(() => (isIdle = true))
  one[Symbol.dispose]()
  await Promise.resolve()
  expect([work.count, isIdle]).toEqual([1, false])
  other[Symbol.dispose]()
  const late = work.begin()
  await new Promise(setImmediate)
  expect([work.count, isIdle]).toEqual([1, false])
  late[Symbol.dispose]()
  await idle
  expect(work.count).toBe(0)
})
