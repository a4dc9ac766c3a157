import type { CatalogEntry, ServerEntry, ServerName } from '@mcp-host/contracts'
import { expect, test } from 'vitest'
import { formatTable, serverRows } from './server-table.ts'

const runs = (name: string, supervisor: string, more: Partial<ServerEntry> = {}): ServerEntry => ({
  kind: 'server',
  server: name as ServerName,
  supervisor,
  state: 'ready',
  type: 'stdio',
  restarts: 0,
  tools: [{ name: 'echo', inputSchema: { type: 'object' } }],
  ...more,
})
const present = (
  id: string,
  more: Partial<Extract<CatalogEntry, { kind: 'supervisor' }>> = {},
): CatalogEntry => ({ kind: 'supervisor', id, startedAt: 0, servers: {}, ...more })
const figures = { calls: 12, errors: 1, inFlight: 2, p50Ms: 1.234, p95Ms: 99.6 }

test('a server that runs is one line with its process and figures', () => {
  const entries = [
    runs('a', 's1', { pid: 71, sandbox: 'bwrap', restarts: 3, era: 'modern' }),
    present('s1', { servers: { a: figures } }),
  ]
  const [head = '', line = '', ...rest] = formatTable(entries).split('\n')
  expect(head.split(/\s{2,}/).join('|')).toBe(
    'NAME|STATE|TYPE|SUPERVISOR|SANDBOX|PID|RESTARTS|TOOLS|CALLS|ERRORS|P50|P95',
  )
  expect(line.split(/\s{2,}/).join('|')).toBe(
    'a|ready|stdio modern|s1|bwrap|71|3|1|12 (+2)|1|1.2 ms|100 ms',
  )
  expect(rest).toEqual([])
})

test('of a server with instances it says how many are ready, and of the others why not', () => {
  const instances: ServerEntry['instances'] = [
    { state: 'ready', restarts: 0, weight: 1, pid: 71 },
    { state: 'unavailable', restarts: 4, weight: 1, error: 'it ended' },
  ]
  const lines = formatTable([runs('a', 's1', { instances, restarts: 4 }), present('s1')]).split(
    '\n',
  )
  expect(lines[1]).toMatch(/^a +ready +stdio +s1 +- +1 of 2 +4 /)
  expect(lines.at(-1)).toBe('a, instance 2: it ended')
})

test('the reason why a server is unavailable, and its last output, stand below', () => {
  const output = ['the key is missing', 'bye']
  const text = formatTable([
    runs('a', 's1', { state: 'unavailable', error: 'it ended', output }),
    present('s1'),
  ])
  expect(text).toMatch(
    /\n\na: it ended: the key is missing\n {2}\| the key is missing\n {2}\| bye$/,
  )
})

test('a server whose program is being fetched is installing', () => {
  const starting = runs('a', 's1', { state: 'starting', phase: 'installing' })
  expect(formatTable([starting, present('s1')])).toMatch(/^a +installing +stdio/m)
})

test('columns stand below their heads, whatever they hold', () => {
  const lines = formatTable([
    runs('a-server-with-a-long-name', 's1'),
    runs('b', 's1', { pid: 5 }),
    present('s1'),
  ]).split('\n')
  const starts = lines.map((line) => line.search('STATE|ready'))
  expect(new Set(starts).size).toBe(1)
})

test('why a server is not ready, and what is wrong with a configuration, stands below, once', () => {
  const broken = { state: 'unavailable', error: 'it ended' } as const
  const text = formatTable([
    runs('a', 's1', broken),
    runs('a', 's2', broken),
    present('s1', { faults: 'mcp.json:1:2 is not JSON' }),
    present('s2'),
  ])
  expect(text.match(/a: it ended/g)).toHaveLength(1)
  expect(text).toContain(
    'mcp.json is not taken over, and its contents before stay in effect: mcp.json:1:2 is not JSON',
  )
})

test('a faulty file of settings stands below the table, once for all processes', () => {
  const fault = (setting: string, process: string): CatalogEntry => ({
    kind: 'file-fault',
    setting,
    process,
    file: 'policy.json',
    faults: 'policy.json:2:3: rules.0.effect: must be allow',
  })
  const text = formatTable([fault('POLICY_CONFIG', 'g1'), fault('POLICY_CONFIG', 'o1')])
  expect(text.match(/policy\.json is not taken over.*rules\.0\.effect/g)).toHaveLength(1)
})

test('sessions that another supervisor has processes for are a line of their own', () => {
  const entries = [
    runs('own', 's1', { scope: 'session' }),
    present('s1', { servers: { own: { ...figures, sessions: 0 } } }),
    present('s2', { servers: { own: { ...figures, sessions: 4 } } }),
    present('s3', { servers: { own: { calls: 0, errors: 0, inFlight: 0, sessions: 0 } } }),
  ]
  expect(serverRows(entries)).toMatchObject([
    { name: 'own', supervisor: 's1', sessions: 0, tools: 1 },
    { name: 'own', supervisor: 's2', sessions: 4, tools: 1, calls: 12 },
  ])
  expect(formatTable(entries)).toContain('4 sessions')
})

test('what servers and supervisors say does not steer the terminal', () => {
  const text = formatTable([
    runs('a', 's1', { state: 'unavailable', error: 'it\u001B[2J ended\r' }),
    present('s1', { faults: 'line one\nline\u0007 two' }),
  ])
  expect(text).toContain('a: it [2J ended ')
  expect(text).toContain('line one\nline  two')
})

test('a host without servers says so', () => {
  expect(formatTable([present('s1')])).toBe('No MCP server is running.')
})
