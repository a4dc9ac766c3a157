import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { Secret, withoutSecrets } from './secret.ts'

test('a secret is only revealed by opening it', () => {
  const secret = new Secret('hunter2')
  expect(secret.open()).toBe('hunter2')
  for (const text of [
    String(secret),
    JSON.stringify({ secret }),
    inspect({ secret }, { depth: 5, showHidden: true }),
    Object.values(secret).join(''),
  ]) {
    expect(text).not.toContain('hunter2')
  }
  expect(JSON.stringify({ secret })).toBe('{"secret":"[secret]"}')
  expect(inspect(secret)).toBe('[secret]')
})

test('secrets that were opened are masked in text', () => {
  for (const key of ['first-key-of-all', 'second-key']) new Secret(key).open()
  const message = 'no: first-key-of-all, second-key and first-key-of-all'
  expect(withoutSecrets(message)).toBe('no: [secret], [secret] and [secret]')
})

test('a short secret is not masked in text', () => {
  new Secret('key').open()
  new Secret('').open()
  expect(withoutSecrets('a key')).toBe('a key')
})
