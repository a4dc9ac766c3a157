import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { Sealer } from './sealer.ts'

const [one, other] = [randomBytes(32), randomBytes(32)]
const sealer = new Sealer([one])

test('a sealed value is opened at its place, and shows nothing', () => {
  const sealed = sealer.seal('a token', 'ann/notes')
  expect(sealer.open(sealed, 'ann/notes')).toBe('a token')
  expect(Buffer.from(sealed, 'base64').toString('latin1')).not.toContain('token')
  expect(sealer.seal('a token', 'ann/notes')).not.toBe(sealed)
})

test('a value that is moved to another place is refused', () => {
  expect(() => sealer.open(sealer.seal('a token', 'ann/notes'), 'bob/notes')).toThrow()
})

test('every changed byte is noticed', () => {
  const bytes = Buffer.from(sealer.seal('a token', 'p'), 'base64')
  for (const index of bytes.keys()) {
    const changed = Buffer.from(bytes)
    changed[index] = (changed[index] ?? 0) ^ 1
    const open = (): unknown => sealer.open(changed.toString('base64'), 'p')
    // The bytes 1 to 4 are the id of the key: that of another one is unknown.
    if (index >= 1 && index <= 4) expect(open()).toBeUndefined()
    else expect(open).toThrow()
  }
  expect(() => sealer.open(bytes.subarray(0, -1).toString('base64'), 'p')).toThrow()
  expect(sealer.open('', 'p')).toBeUndefined()
})

test('a new key opens what the one before it sealed, and seals what comes', () => {
  const sealed = sealer.seal('a token', 'p')
  const rotated = new Sealer([other, one])
  expect(rotated.open(sealed, 'p')).toBe('a token')
  expect([rotated.isOld(sealed), rotated.isOld(rotated.seal('a', 'p'))]).toEqual([true, false])
  expect(new Sealer([other]).open(sealed, 'p')).toBeUndefined()
})

test.each([[[]], [[randomBytes(16)]], [[one, randomBytes(33)]]])(
  'keys must have 32 bytes',
  (keys) => {
    expect(() => new Sealer(keys)).toThrow('32 bytes')
  },
)
