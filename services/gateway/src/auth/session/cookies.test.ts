import { expect, test } from 'vitest'
import { readCookie, setCookie } from './cookies.ts'

test('a cookie is read by no script, sent by no other site, and needs TLS where the host has it', () => {
  const cookie = setCookie('__Host-a', 'v', { isSecure: true, maxAgeMs: 60_000 })
  expect(cookie).toBe('__Host-a=v; Path=/; Max-Age=60; HttpOnly; SameSite=Lax; Secure')
  expect(setCookie('a', 'v', { isSecure: false, maxAgeMs: 0 })).not.toContain('Secure')
})

test('a cookie is found by its whole name', () => {
  const cookie = 'xa=1; a=2=3;b = 4'
  expect(['a', 'b', 'xa', 'c'].map((name) => readCookie({ cookie }, name))).toEqual([
    '2=3',
    '4',
    '1',
    undefined,
  ])
})
