import { expect, test } from 'vitest'
import { parseOptions } from './options.ts'
import { SERVERS } from './servers.ts'

function namesOf(...args: string[]): string[] | string {
  const options = parseOptions(args)
  return 'problem' in options ? options.problem : options.servers.map(({ name }) => name)
}

test('all servers are compared, or those that are named', () => {
  expect(namesOf()).toHaveLength(SERVERS.length)
  expect(namesOf('--only', 'memory', '--only', 'everything')).toEqual(['everything', 'memory'])
})

test('a server that is not listed and an unknown option are faults', () => {
  expect(namesOf('--only', 'nope')).toBe('there is no server "nope"; --list prints all names')
  expect(namesOf('--fast')).toContain("Unknown option '--fast'")
})

test('there are at least 40 servers, each pinned to one version and named once', () => {
  expect(SERVERS.length).toBeGreaterThanOrEqual(40)
  expect(SERVERS.filter(({ version }) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([])
  expect(new Set(SERVERS.map(({ name }) => name)).size).toBe(SERVERS.length)
})
