import { expect, onTestFinished, test, vi } from 'vitest'

import { JoinedParts } from './joined-parts.ts'

test('many parts are the bytes that they were', () => {
  const parts = new JoinedParts()
  for (let count = 0; count < 10_000; count += 1) parts.push(Buffer.from([count % 251]))
  expect(parts.bytes).toBe(10_000)
  expect(parts.whole().length).toBe(10_000)
  parts.push(Buffer.alloc(0))
  parts.push(Buffer.from('end'))
  const whole = parts.take()
  expect(whole.length).toBe(10_003)
  expect(whole[9_999]).toBe(9_999 % 251)
  expect(whole.subarray(-3).toString()).toBe('end')
  expect(parts.bytes).toBe(0)
  expect(parts.take().length).toBe(0)
})

test('small parts do not stay apart, which would cost more memory than they hold', () => {
  const joined = vi.spyOn(Buffer, 'concat')
  onTestFinished(() => joined.mockRestore())
  const parts = new JoinedParts()
  for (let count = 0; count < 20_000; count += 1) parts.push(Buffer.from('x'))
  expect(joined).toHaveBeenCalledTimes(4)
})

test('no byte is copied again and again while small parts arrive', () => {
  const joined = vi.spyOn(Buffer, 'concat')
  onTestFinished(() => joined.mockRestore())
  const parts = new JoinedParts()
  const count = 200_000
  for (let each = 0; each < count; each += 1) parts.push(Buffer.from('x'))
  expect(parts.take().length).toBe(count)
  const copied = joined.mock.results.reduce((sum, { value }) => sum + (value as Buffer).length, 0)
  expect(copied).toBeLessThanOrEqual(2 * count)
})
