import { describe, expect, test } from 'vitest'

import { excessOf } from './json-limits.ts'

const text = (value: string): Uint8Array => Buffer.from(value)
const names = (count: number): string =>
  `{${Array.from({ length: count }, (_, index) => `"${index}":1`).join()}}`

describe('a text of a client', () => {
  test.each([
    ['empty objects', `[${'{},'.repeat(300_000)}{}]`, 'has more than 500000 values and names'],
    ['numbers', `[${'1,'.repeat(500_001)}1]`, 'has more than 500000 values and names'],
    ['levels', '['.repeat(600_000), 'has more than 500000 values and names'],
    ['names', names(200_001), 'has more than 200000 names in objects'],
    ['equal names', `[${'{"a":1},'.repeat(200_001)}1]`, 'has more than 500000 values and names'],
  ])('is not parsed with very many %s', (_, json, reason) => {
    expect(excessOf(text(json))).toBe(reason)
  })

  test.each([
    ['a long text', JSON.stringify({ text: '{[:,'.repeat(1_000_000) })],
    ['100,000 names', names(100_000)],
    ['400,000 numbers', `[${'1,'.repeat(400_000)}1]`],
    ['few values', '{}'],
  ])('is parsed with %s', (_, json) => {
    expect(excessOf(text(json))).toBeUndefined()
  })
})
