import { expect, test } from 'vitest'
import { findException } from './exceptions.ts'

const exceptions = [
  { servers: ['one'], sdk: 'v2', path: ['tools', '*', 'title'], why: 'titles of one' },
  { path: ['instructions'], why: 'instructions' },
] as const

const find = (server: string, sdk: 'v1' | 'v2', ...path: string[]): string | undefined =>
  findException({ server, sdk, path }, exceptions)?.why

test('an exception applies to its servers, its SDK, its path and everything below', () => {
  expect(find('one', 'v2', 'tools', 'echo', 'title')).toBe('titles of one')
  expect(find('one', 'v2', 'tools', 'echo', 'title', 'below')).toBe('titles of one')
  expect(find('one', 'v1', 'tools', 'echo', 'title')).toBeUndefined()
  expect(find('two', 'v2', 'tools', 'echo', 'title')).toBeUndefined()
  expect(find('one', 'v2', 'tools', 'echo')).toBeUndefined()
  expect(find('one', 'v2', 'tools', 'echo', 'description')).toBeUndefined()
})

test('an exception without servers or SDK applies to all', () => {
  expect(find('two', 'v1', 'instructions')).toBe('instructions')
})
