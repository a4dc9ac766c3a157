import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { digest } from './digest.ts'

test('the digest of a value is the SHA-256 of its JSON with sorted fields', async () => {
  const sorted = '{"a":[{"c":1,"d":"é"}],"b":null}'
  const expected = createHash('sha256').update(sorted).digest('hex')
  expect(await digest({ b: null, a: [{ d: 'é', c: 1 }] })).toBe(expected)
  expect(await digest({ a: [{ c: 1, d: 'é' }], b: null })).toBe(expected)
  expect(await digest({ a: [{ c: 2, d: 'é' }], b: null })).not.toBe(expected)
})
