import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { Secret, withoutSecrets } from './secret.ts'

test('a secret is seen only by who opens it', () => {
  const secret = new Secret('hunter2')
  expect(secret.open()).toBe('hunter2')
  for (const shown of [
    String(secret),
    JSON.stringify({ secret }),
    inspect({ secret }, { depth: 5, showHidden: true }),
    Object.values(secret).join(''),
  ]) {
    expect(shown).not.toContain('hunter2')
  }
  expect(JSON.stringify({ secret })).toBe('{"secret":"[secret]"}')
  expect(inspect(secret)).toBe('[secret]')
})

test('a secret that somebody repeats is taken out of a text, also an old one', () => {
  for (const key of ['first-key-of-all', 'second-key']) new Secret(key).open()
  const text = 'no: first-key-of-all, second-key and first-key-of-all'
  expect(withoutSecrets(text)).toBe('no: [secret], [secret] and [secret]')
})

test('a secret that is part of ordinary words stays in them', () => {
  new Secret('key').open()
  new Secret('').open()
  expect(withoutSecrets('a key')).toBe('a key')
})
