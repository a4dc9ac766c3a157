import { expect, test } from 'vitest'
import { Attempts } from './attempts.ts'

const rightClock = { now: () => Date.now() }

function newAttempts(clock = rightClock): Attempts {
  const sums = new Map<string, number>()
  const add = async (name: string, amount: number, { window = 0 } = {}): Promise<number> => {
    const key = `${window} ${name}`
    const sum = (sums.get(key) ?? 0) + amount
    sums.set(key, sum)
    return sum
  }
  return new Attempts(Promise.resolve({ add }), clock)
}

const fulfilled = (results: readonly PromiseSettledResult<unknown>[]): number =>
  results.filter(({ status }) => status === 'fulfilled').length

test('of many logins that come at once, as many as the limit has are tried', async () => {
  const attempts = newAttempts()
  const logins = () => Array.from({ length: 60 }, () => attempts.begin('10.0.0.1', 'ann'))
  expect(fulfilled(await Promise.allSettled(logins()))).toBe(5)
  expect(fulfilled(await Promise.allSettled(logins()))).toBe(0)
})

test('right passwords and refused logins use up no limit', async () => {
  const attempts = newAttempts()
  for (let round = 0; round < 60; round++) await (await attempts.begin('10.0.0.1', 'ann'))()
  for (let round = 0; round < 5; round++) await attempts.begin('10.0.0.1', 'ann')
  const refused = Array.from({ length: 60 }, () => attempts.begin('10.0.0.1', 'ann'))
  expect(fulfilled(await Promise.allSettled(refused))).toBe(0)
  await expect(attempts.begin('10.0.0.2', 'ann')).resolves.toBeTypeOf('function')
})

test('windows of attempts follow the clock of the broker', async () => {
  const clock = { now: () => 0 }
  const attempts = newAttempts(clock)
  for (let round = 0; round < 5; round++) await attempts.begin('10.0.0.1', 'ann')
  await expect(attempts.begin('10.0.0.1', 'ann')).rejects.toThrow('Try again in 15 minutes.')
  clock.now = () => 15 * 60_000
  await expect(attempts.begin('10.0.0.1', 'ann')).resolves.toBeTypeOf('function')
})
