import type { CatalogEntry, ServerEntry, ServerName } from '@mcp-host/contracts'
import { beforeEach, expect, test } from 'vitest'
import { StatusLines } from './status-lines.ts'

let now: number
let lines: string[]
beforeEach(() => {
  now = 0
  lines = []
})

const begin = (...configured: string[]): StatusLines =>
  new StatusLines({
    say: (about, what) => void lines.push(`${about} ${what}`.trim()),
    configured,
    now: () => now,
  })
const tool = (name: string) => ({ name, inputSchema: {} })
const server = (name: string, more: Partial<ServerEntry> = {}): ServerEntry => ({
  kind: 'server',
  server: name as ServerName,
  supervisor: 's1',
  state: 'ready',
  restarts: 0,
  pid: 1,
  tools: [tool('echo')],
  ...more,
})
const starting = { state: 'starting' } as const
const ended = { state: 'unavailable', error: 'it ended' } as const
const model: CatalogEntry = { kind: 'model', provider: 'demo', model: 'demo-1', notice: 'No key.' }

function supervisor(
  names: readonly string[],
  faults?: string,
  id = 's1',
  warnings: readonly string[] = [],
): CatalogEntry {
  const figures = { calls: 0, errors: 0, inFlight: 0 }
  const servers = Object.fromEntries(names.map((name) => [name, figures]))
  return {
    kind: 'supervisor',
    id,
    startedAt: 0,
    servers,
    warnings: [...warnings],
    ...(faults && { faults }),
  }
}

/** The lines since the last call. */
const printed = (): string[] => lines.splice(0)

test('the model and every server that starts quickly get one line', () => {
  const status = begin('a', 'b')
  const present = supervisor(['a', 'b'])
  status.update([present, model, server('a', starting)])
  expect(status.isComplete).toBe(false)
  status.update([present, model, server('a'), server('b', ended)])
  expect(status.isComplete).toBe(true)
  status.update([present, model, server('a'), server('b', ended)])
  expect(printed()).toEqual([
    'model demo-1 (demo)',
    'No key.',
    'server a 1 tool',
    'server b unavailable: it ended',
  ])
})

test('a server that hangs holds nothing up: it is called still starting, then ready', () => {
  const status = begin('a', 'unseen')
  const present = supervisor(['a'])
  status.update([present, model, server('a', starting)])
  now = 2_100
  status.update([present, model, server('a', starting)])
  expect(status.isComplete).toBe(true)
  now = 9_000
  status.update([present, model, server('a', starting)])
  status.update([present, model, server('a')])
  expect(printed().slice(2)).toEqual([
    'server a still starting after 2.1 s',
    'server unseen still starting after 2.1 s',
    'server a ready: 1 tool, after 9.0 s',
  ])
})

test('servers that are added, changed and removed are named', () => {
  const status = begin('a')
  status.update([supervisor(['a']), model, server('a')])
  expect(status.isComplete).toBe(true)
  printed()
  status.update([supervisor(['a', 'b']), model, server('a'), server('b', starting)])
  status.update([supervisor(['a', 'b']), model, server('a'), server('b')])
  status.update([
    supervisor(['a', 'b']),
    server('a', { tools: [tool('sing'), tool('dance')] }),
    server('b', { pid: 2 }),
  ])
  status.update([supervisor(['b']), server('b', { pid: 2 })])
  expect(printed()).toEqual([
    'server b added: 1 tool',
    'server a 2 tools, changed: +sing, +dance, -echo',
    'server b started again: 1 tool',
    'server a removed',
  ])
})

test('a server that crashes and recovers is told, the same failure only once', () => {
  const status = begin('a')
  const show = (more: Partial<ServerEntry>): void =>
    status.update([supervisor(['a']), server('a', more)])
  show({})
  printed()
  show({ restarts: 1, pid: 2 })
  expect(printed()).toEqual(['server a ended and was started again: 1 tool'])
  show(ended)
  show(starting)
  show(ended)
  show({ ...ended, error: 'no such file' })
  show({ restarts: 4 })
  expect(printed()).toEqual([
    'server a unavailable: it ended',
    'server a unavailable: no such file',
    'server a ready again: 1 tool',
  ])
})

test('a supervisor that dies takes no server away', () => {
  const status = begin('a')
  status.update([supervisor(['a']), server('a')])
  printed()
  status.update([])
  status.update([supervisor([], undefined, 's2')])
  status.update([
    supervisor(['a'], undefined, 's2'),
    server('a', { ...starting, supervisor: 's2' }),
  ])
  status.update([supervisor(['a'], undefined, 's2'), server('a', { supervisor: 's2', pid: 2 })])
  expect(printed()).toEqual(['server a ready again: 1 tool'])
})

test('faults of a changed mcp.json are printed with line and remedy, and their end', () => {
  const status = begin()
  status.update([supervisor([])])
  const faults =
    'mcp.json:3:5 servers.a: unknown. Remove it\nmcp.json:4:5 servers.b: unknown. Remove it'
  status.update([supervisor([], faults)])
  status.update([supervisor([], faults)])
  status.update([supervisor([])])
  expect(printed()).toEqual([
    `mcp.json not taken over: ${faults.replace('\n', '\n  ')}`,
    'mcp.json taken over',
  ])
})

test('warnings about a changed mcp.json are printed, those of the start and of before are not', () => {
  const status = begin()
  const unknown = 'mcp.json:3:5 servers.a.comand: is not a known field and is ignored. Remove it.'
  const more = 'mcp.json:4:5 servers.a.sandbx: is not a known field and is ignored. Remove it.'
  const warned = (...warnings: string[]): void =>
    status.update([supervisor([], undefined, 's1', warnings)])
  status.update([])
  warned(unknown)
  expect(printed()).toEqual([])
  warned(unknown, more)
  status.update([])
  warned(unknown, more)
  expect(printed()).toEqual([`warning ${more}`])
  warned()
  warned(unknown)
  expect(printed()).toEqual([`warning ${unknown}`])
})

test('a reason whose output differs in its times alone is printed once, whatever its restarts take', () => {
  const status = begin('a')
  const present = supervisor(['a'])
  for (const second of ['01', '02']) {
    const failure = {
      error: 'it ended',
      output: [`10:00:${second} Error: no disk`, `run ${second}`],
    }
    status.update([present, server('a', { state: 'unavailable', ...failure })])
    status.update([present, server('a', { ...starting, ...failure })])
    now += 3_000
    status.update([present, server('a', { ...starting, ...failure })])
  }
  expect(printed()).toEqual([
    'server a unavailable: it ended: 10:00:01 Error: no disk\n  | 10:00:01 Error: no disk\n  | run 01',
  ])
})

test('the reason why a server is unavailable is in its line, and its last output below', () => {
  begin().update([
    supervisor(['a']),
    server('a', { ...ended, output: ['TOKEN is missing', 'bye'] }),
  ])
  expect(printed()).toEqual([
    'server a unavailable: it ended: TOKEN is missing\n  | TOKEN is missing\n  | bye',
  ])
})

test('a server whose program is fetched first is called installing', () => {
  const status = begin('a')
  const installing = server('a', { ...starting, phase: 'installing' })
  status.update([installing, supervisor(['a'])])
  now = 2_000
  status.update([installing, supervisor(['a'])])
  expect(printed()).toEqual(['server a still installing after 2.0 s'])
})

test('a server that is late after a failed attempt has the reason in its line', () => {
  const status = begin('a')
  const retried = server('a', { ...starting, error: 'it ended', output: ['no such network'] })
  status.update([retried, supervisor(['a'])])
  now = 2_000
  status.update([retried, supervisor(['a'])])
  expect(printed()).toEqual([
    'server a still starting after 2.0 s; an attempt failed: it ended: no such network',
  ])
})

test('faults of a changed policy.json are printed once for all processes, until all are without them', () => {
  const status = begin()
  const fault = (process: string): CatalogEntry => ({
    kind: 'file-fault',
    setting: 'POLICY_CONFIG',
    process,
    file: 'policy.json',
    faults: 'policy.json:2:3: rules.0.effect: must be allow',
  })
  status.update([fault('g1')])
  status.update([fault('g1'), fault('o1')])
  status.update([fault('o1')])
  status.update([])
  expect(printed()).toEqual([
    'policy.json not taken over: policy.json:2:3: rules.0.effect: must be allow',
    'policy.json taken over',
  ])
})

test('a policy.json that is created or changed is told once for all processes', () => {
  const status = begin()
  const entry = (process: string, faults: string): CatalogEntry => ({
    kind: 'file-fault',
    setting: 'POLICY_CONFIG',
    process,
    file: 'policy.json',
    faults,
  })
  status.update([entry('g1', '')])
  status.update([entry('g1', ''), entry('o1', '')])
  status.update([])
  expect(printed()).toEqual(['policy.json taken over'])
  status.update([entry('g1', 'is gone')])
  status.update([entry('g1', ''), entry('o1', 'is gone')])
  status.update([entry('o1', '')])
  status.update([])
  expect(printed()).toEqual(['policy.json not taken over: is gone', 'policy.json taken over'])
})

test('faults of a changed llm.json are printed, and their end', () => {
  const status = begin()
  status.update([model])
  printed()
  status.update([{ ...model, faults: 'llm.json:3:1: is unknown' }])
  status.update([model])
  expect(printed()).toEqual([
    'llm.json not taken over: llm.json:3:1: is unknown',
    'llm.json taken over',
  ])
})

test('another default model is told', () => {
  const status = begin()
  status.update([model])
  printed()
  status.update([{ kind: 'model', provider: 'xai', model: 'grok-latest' }])
  expect(printed()).toEqual(['model grok-latest (xai) answers from now on'])
})

test('text of servers does not steer the terminal', () => {
  begin().update([supervisor(['a']), server('a', { ...ended, error: 'it\u001B[2J ended' })])
  expect(printed()).toEqual(['server a unavailable: it [2J ended'])
})

test('damage to sessions is printed once, and again when there is more', () => {
  const status = begin()
  const damage = (sessions: number): CatalogEntry => ({ kind: 'damage', sessions })
  status.update([damage(1)])
  status.update([damage(1)])
  expect(printed()).toEqual([expect.stringMatching(/^storage 1 session has lost entries.*doctor$/)])
  status.update([damage(2)])
  status.update([])
  expect(printed()).toEqual([expect.stringMatching(/^storage 2 sessions have lost entries/)])
})

test('a server at which nobody has logged in says where', () => {
  const status = begin('a')
  const waiting: Partial<ServerEntry> = { scope: 'user', tools: [tool('connect')] }
  status.update([supervisor(['a']), model, server('a', waiting)])
  expect(printed().join()).toContain('server a nobody has logged in there yet')
  status.update([supervisor(['a']), model, server('a', { scope: 'user' })])
  expect(printed()).toEqual(['server a 1 tool, changed: +echo, -connect'])
})
