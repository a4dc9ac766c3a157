import { expect, test } from 'vitest'
import { systemClock } from './clock.ts'

test('a delay ends with the reason of the abort', async () => {
  const controller = new AbortController()
  const delay = systemClock.delay(60_000, controller.signal)
  controller.abort('stop')
  await expect(delay).rejects.toBe('stop')
})

test('the time is that of the epoch', () => {
  expect(Math.abs(systemClock.now() - Date.now())).toBeLessThan(1000)
})
