import { expect, test } from 'vitest'
import type { ServerName } from '../ids.ts'
import type { CatalogEntry, CatalogTool, ServerEntry, ServerStats } from './catalog-entry.ts'
import { isConfigured, viewServers } from './view-servers.ts'

const stats: ServerStats = { calls: 3, errors: 1, inFlight: 0, p50Ms: 2, p95Ms: 9 }
const present = (id: string, servers: Record<string, ServerStats> = {}): CatalogEntry => ({
  kind: 'supervisor',
  id,
  startedAt: 0,
  servers,
})
const tool = (name: string): CatalogTool => ({ name, inputSchema: { type: 'object' } })
const runs = (name: string, supervisor: string, more: Partial<ServerEntry> = {}): ServerEntry => ({
  kind: 'server',
  server: name as ServerName,
  supervisor,
  state: 'ready',
  tools: [tool('echo')],
  ...more,
})

test('a server that two supervisors run is one row with two instances, each with its statistics', () => {
  const one = runs('a', 's1')
  const other = runs('a', 's2')
  const rows = viewServers([other, present('s2'), one, present('s1', { a: stats })])
  expect(rows).toEqual([
    {
      server: 'a',
      state: 'ready',
      entry: other,
      tools: [tool('echo')],
      instances: [{ entry: one, stats }, { entry: other }],
    },
  ])
})

test('rows are ordered by name', () => {
  const rows = viewServers([runs('b', 's'), runs('c', 's'), runs('a', 's'), present('s')])
  expect(rows.map(({ server }) => server)).toEqual(['a', 'b', 'c'])
})

test('entries of an absent supervisor are ignored', () => {
  expect(viewServers([runs('a', 'dead'), runs('b', 's'), present('s')])).toMatchObject([
    { server: 'b' },
  ])
})

test('a server with one ready instance is ready, with its tools and without the error of the other', () => {
  const broken = runs('a', 's1', { state: 'unavailable', error: 'it ended', tools: [] })
  const [row] = viewServers([present('s1'), present('s2'), broken, runs('a', 's2')])
  expect(row).toMatchObject({ state: 'ready', tools: [tool('echo')] })
  expect(row).not.toHaveProperty('error')
})

test('a server that is taken over is starting', () => {
  const broken = runs('a', 's1', { state: 'unavailable', error: 'it ended', tools: [] })
  const next = runs('a', 's2', { state: 'starting', tools: [] })
  expect(viewServers([present('s1'), present('s2'), next, broken])).toMatchObject([
    { state: 'starting' },
  ])
})

test('a server with two ready instances has the tools of the latest entry', () => {
  const older = runs('a', 's1', { revision: 5, tools: [tool('old')] })
  const newer = runs('a', 's2', { revision: 6, tools: [tool('new')] })
  for (const both of [
    [newer, older],
    [older, newer],
  ]) {
    const rows = viewServers([present('s1'), present('s2'), ...both])
    expect(rows).toMatchObject([{ tools: [tool('new')] }])
  }
})

const configures = (id: string, ...configured: string[]): CatalogEntry => ({
  kind: 'supervisor',
  id,
  startedAt: 0,
  servers: {},
  configured,
})

test('a running server that its supervisor no longer configures is ignored', () => {
  const entries = [runs('a', 's'), runs('b', 's'), configures('s', 'b')]
  expect(viewServers(entries)).toMatchObject([{ server: 'b' }])
})

test.each<[string, boolean, CatalogEntry[]]>([
  ['some supervisor configures', true, [configures('s1'), configures('s2', 'a')]],
  ['no supervisor configures', false, [configures('s1', 'b'), configures('s2'), runs('a', 's1')]],
  ['a supervisor of an earlier version may configure', true, [configures('s1'), present('s2')]],
  ['an unknown supervisor runs', true, [runs('a', 's1')]],
])('a server that %s is configured: %s', (_, expected, entries) => {
  expect(isConfigured(entries, 'a')).toBe(expected)
})
