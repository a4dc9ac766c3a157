import { expect, test } from 'vitest'
import { findVersion, isAtLeast } from './version.mjs'

test('parts of a version are compared as numbers, not as text', () => {
  expect(isAtLeast('2.9.10', '2.11')).toBe(false)
  expect(isAtLeast('2.11.0', '2.11')).toBe(true)
  expect(isAtLeast('2.15.1', '2.11')).toBe(true)
  expect(isAtLeast('3.0.0', '2.11')).toBe(true)
})

test('a version is found inside the line a program prints', () => {
  expect(findVersion('nats-server: v2.12.15')).toBe('2.12.15')
  expect(findVersion('Segmentation fault')).toBeUndefined()
})
