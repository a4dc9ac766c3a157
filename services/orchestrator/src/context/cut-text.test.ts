import { expect, test } from 'vitest'
import { charStart, cutText } from './cut-text.ts'
import { estimateTokens } from './estimate-tokens.ts'

const dense = Array.from({ length: 3_000 }, (_, index) => (index * 7919).toString(36)).join('Q')

test.each([
  ['evenly dense', 'word '.repeat(5_000)],
  ['dense at its beginning', dense + ' '.repeat(500_000)],
  ['dense at its end', ' '.repeat(500_000) + dense],
  ['a single repeated letter', 'a'.repeat(1_000_000)],
])('a text that is %s is cut to its beginning and end', (_, text) => {
  const { head = '', tail = '' } = cutText(text, 500) ?? {}
  expect(text.startsWith(head)).toBe(true)
  expect(text.endsWith(tail)).toBe(true)
  const tokens = estimateTokens(head) + estimateTokens(tail)
  expect(tokens).toBeLessThanOrEqual(505)
  expect(tokens).toBeGreaterThan(20)
  expect(head.length).toBeGreaterThan(tail.length)
})

test('a text that fits is not cut', () => {
  expect(cutText('word '.repeat(100), 150)).toBeUndefined()
  expect(cutText('', 0)).toBeUndefined()
})

test('a cut does not split a character', () => {
  for (let maxTokens = 50; maxTokens < 60; maxTokens++) {
    const { head = '', tail = '' } = cutText('👋'.repeat(1_000), maxTokens) ?? {}
    expect([head.isWellFormed(), tail.isWellFormed()]).toEqual([true, true])
  }
  expect(['a👋b'].map((text) => [1, 2, 3, 4].map((at) => charStart(text, at)))).toEqual([
    [1, 1, 3, 4],
  ])
})
