import { expect, test } from 'vitest'
import { parseOptions } from './options.ts'
import { SERVERS } from './servers.ts'

const namesOf = (...args: string[]): string[] | undefined =>
  parseOptions(args)?.servers.map(({ name }) => name)

test('all servers are compared, or those that --only names', () => {
  expect(namesOf()).toHaveLength(SERVERS.length)
  expect(namesOf('--only', 'memory', '--only', 'everything')).toEqual(['everything', 'memory'])
})

test('unknown servers and unknown options are refused', () => {
  const unknown = 'there is no server "nope"; --list prints all names'
  expect(() => namesOf('--only', 'nope')).toThrow(unknown)
  expect(() => namesOf('--fast')).toThrow("Unknown option '--fast'")
})

test('there are at least 40 servers with distinct names, each pinned to one version', () => {
  expect(SERVERS.length).toBeGreaterThanOrEqual(40)
  expect(SERVERS.filter(({ version }) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([])
  expect(new Set(SERVERS.map(({ name }) => name)).size).toBe(SERVERS.length)
})
