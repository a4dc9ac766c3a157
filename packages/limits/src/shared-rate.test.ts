import { beforeEach, describe, expect, test } from 'vitest'
import { parseRate } from './parse-rate.ts'
import type { SharedCounter, Verdict } from './shared-rate.ts'
import { SharedRate } from './shared-rate.ts'

let now = 0
let sums: Map<string, number>
let calls: number
let isBroken: boolean

beforeEach(() => {
  now = 1_000_000
  sums = new Map()
  calls = 0
  isBroken = false
})

const counter: SharedCounter = {
  async add(key, amount, { window }) {
    calls += 1
    if (isBroken) throw new Error('the counter is away')
    const sum = (sums.get(`${key} ${window}`) ?? 0) + amount
    sums.set(`${key} ${window}`, sum)
    return sum
  },
}

const faults: unknown[] = []
const rate = (permits: number, windowMs = 1_000) =>
  new SharedRate(
    { counter, now: () => now, onFault: (error) => faults.push(error) },
    { permits, windowMs },
    'calls',
  )

async function allowed(limit: SharedRate, times: number, key = 'ann'): Promise<number> {
  const verdicts: Verdict[] = []
  for (let count = 0; count < times; count++) verdicts.push(await limit.take(key))
  return verdicts.filter(({ isAllowed }) => isAllowed).length
}

describe('a rate', () => {
  test('gives its permits in each window, and says when the next one begins', async () => {
    const limit = rate(100)
    now += 250
    expect(await allowed(limit, 1_000)).toBe(100)
    expect(await limit.take('ann')).toEqual({ isAllowed: false, retryAfterMs: 750 })
    now += 750
    expect(await allowed(limit, 1_000)).toBe(100)
  })

  test('tells what a key has used, without taking any', async () => {
    const [one, two] = [rate(100), rate(100)]
    expect(await one.used('ann')).toBe(0)
    await allowed(one, 7)
    expect(await one.used('ann')).toBe(7)
    // The allotment that the other replica holds counts as used.
    expect(await two.used('ann')).toBe(10)
    expect(await allowed(one, 1_000)).toBe(93)
    expect(await one.used('ann')).toBe(100)
    now += 1_000
    expect(await one.used('ann')).toBe(0)
  })

  test('is shared by replicas, with at most one allotment wasted by each', async () => {
    const [one, two] = [rate(100), rate(100)]
    let sum = 0
    for (let round = 0; round < 500; round++)
      sum += (await allowed(one, 1)) + (await allowed(two, 1))
    expect(sum).toBe(100)
    const left = [rate(1_000), rate(1_000)] as const
    await allowed(left[0], 1, 'bob')
    expect(await allowed(left[1], 2_000, 'bob')).toBe(950)
  })

  test('asks the shared counter once for each allotment', async () => {
    await allowed(rate(1_000), 1_000)
    expect(calls).toBe(20)
  })

  test('is the same for requests at the same time', async () => {
    const limit = rate(10)
    const verdicts = await Promise.all(Array.from({ length: 50 }, async () => limit.take('ann')))
    expect(verdicts.filter(({ isAllowed }) => isAllowed)).toHaveLength(10)
  })

  test('counts each key by itself', async () => {
    const limit = rate(5)
    expect(await allowed(limit, 10, 'ann')).toBe(5)
    expect(await allowed(limit, 10, 'bob')).toBe(5)
  })

  test('takes several permits at once, all or none', async () => {
    const limit = rate(10)
    expect(await limit.take('ann', 7)).toEqual({ isAllowed: true })
    expect(await limit.take('ann', 7)).toMatchObject({ isAllowed: false })
  })

  test('refuses what follows once more was charged than it gives', async () => {
    const limit = rate(1_000, 86_400_000)
    await limit.charge('ann', 400)
    expect(await limit.take('ann')).toEqual({ isAllowed: true })
    await limit.charge('ann', 900)
    expect(await allowed(limit, 100)).toBeLessThan(100)
    expect(await limit.take('ann')).toMatchObject({ isAllowed: false })
    expect(await rate(1_000, 86_400_000).take('ann')).toMatchObject({ isAllowed: false })
  })

  test('refuses nothing while the counter is away, and reports that once for each window', async () => {
    isBroken = true
    faults.length = 0
    const limit = rate(10)
    expect(await allowed(limit, 50)).toBe(50)
    expect(faults).toHaveLength(1)
    now += 1_000
    isBroken = false
    expect(await allowed(limit, 50)).toBe(10)
  })
})

test.each([
  ['100/s', { permits: 100, windowMs: 1_000 }],
  ['1/m', { permits: 1, windowMs: 60_000 }],
  ['1000000/d', { permits: 1_000_000, windowMs: 86_400_000 }],
  ['0/s', undefined],
  ['100', undefined],
  ['1.5/s', undefined],
  ['10/w', undefined],
  ['', undefined],
])('the rate %j is %o', (text, expected) => {
  expect(parseRate(text)).toEqual(expected)
})

test('a key that others charged is used up at every replica, within a second', async () => {
  const [one, two] = [rate(100, 86_400_000), rate(100, 86_400_000)]
  expect(await two.check('ann')).toEqual({ isAllowed: true })
  await one.charge('ann', 150)
  expect(await two.check('ann')).toEqual({ isAllowed: true })
  expect(calls).toBe(2)
  now += 1_000
  expect(await two.check('ann')).toMatchObject({ isAllowed: false })
  expect(await one.check('bob')).toEqual({ isAllowed: true })
})
