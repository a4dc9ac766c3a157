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
