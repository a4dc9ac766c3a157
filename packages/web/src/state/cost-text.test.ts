import { expect, test } from 'vitest'
import { costText } from './cost-text.ts'

test.each([
  [0, '0.0'],
  [0.000_000_75, '0.00000075'],
  [0.0308, '0.031'],
  [0.996, '1.0'],
  [12.345, '12.35'],
  [123.4, '123.40'],
  [1_234_567, '1234567.00'],
])('a cost of %d is shown as %s', (cost, text) => {
  expect(costText(cost)).toBe(text)
})
