import { parseTree } from 'jsonc-parser'
import { describe, expect, test } from 'vitest'

import { openWorkspace } from '@mcp-host/mcp-testkit'
import { FaultList } from './fault-list.ts'
import { loadMcpConfig } from '../load-mcp-config.ts'
import { parseMcpConfig } from '../parse-mcp-config.ts'
import { parseYaml } from './parse-yaml.ts'

const variables = { TOKEN: 'secret' }

/** The faults of a text, as `line:column path: message`. */
function faultsOf(text: string): readonly string[] {
  const faults = new FaultList(text, { hasLines: true, isStrict: false })
  parseYaml(text, faults)
  for (const { remedy } of faults.sorted()) expect(remedy).toMatch(/\w.*\.$/)
  return faults.sorted().map((fault) => {
    return `${fault.line}:${fault.column} ${fault.path}: ${fault.message}`
  })
}

/** A tree without its places and parents. */
function shapeOf(text: string, tree: typeof parseYaml | typeof parseTree): unknown {
  const faults = new FaultList(text, { hasLines: true, isStrict: false })
  const root = tree === parseYaml ? parseYaml(text, faults) : parseTree(text)
  return JSON.parse(
    JSON.stringify(root, (key, value: unknown) => {
      return ['offset', 'length', 'colonOffset', 'parent'].includes(key) ? undefined : value
    }),
  )
}

test('a text that is JSON and YAML has the tree of jsonc-parser', () => {
  const text = '{"a": [1, true, null, "x", {}], "b": {"c": -2.5, "d": []}}'
  expect(shapeOf(text, parseYaml)).toEqual(shapeOf(text, parseTree))
})

test('nodes have the places and parents that jsonc-parser gives them', () => {
  const text = '{"a": ["x", 12]}'
  const faults = new FaultList(text, { hasLines: true, isStrict: false })
  const [property] = parseYaml(text, faults)?.children ?? []
  const [expected] = parseTree(text)?.children ?? []
  const { colonOffset: _, ...places } = Object(expected)
  expect(property).toMatchObject({ offset: places.offset, length: places.length })
  const item = property?.children?.[1]?.children?.[1]
  expect(item).toMatchObject({ offset: 12, length: 2, value: 12 })
  expect(item?.parent?.parent).toBe(property)
})

test.each(['yaml', 'yml', 'YAML'])('a .%s file in the own form is read', async (ending) => {
  const workspace = await openWorkspace()
  const text = [
    '# Servers',
    'mcpServers:',
    '  notes:',
    '    command: node',
    '    args: [notes.js, 8080]',
    '    env: { TOKEN: "${TOKEN}", TEXT: "a # b" }',
    '    cwd:',
    '  web:',
    '    url: https://a.example/mcp',
  ].join('\n')
  const file = await workspace.write(`servers.${ending}`, text)
  const { servers, faulty } = await loadMcpConfig(file, variables)
  expect(faulty).toBeUndefined()
  expect(servers).toMatchObject({
    notes: {
      command: 'node',
      args: ['notes.js', '8080'],
      env: { TOKEN: 'secret', TEXT: 'a # b' },
      secrets: variables,
    },
    web: { type: 'http', url: 'https://a.example/mcp' },
  })
})

test('a fault in a YAML file has its line and column, and belongs to its server', () => {
  const text = [
    'servers:',
    '  good: { command: node }',
    '  bad:',
    '    command: node',
    '    env:',
    '      A: ${MISSING}',
    '  empty:',
    'x: 1',
  ].join('\r\n')
  const { servers, faulty } = parseMcpConfig(text, { file: '/etc/host/mcp.yaml', variables })
  expect(Object.keys(servers)).toEqual(['good'])
  expect(faulty).toMatchObject({
    bad: [{ file: '/etc/host/mcp.yaml', line: 6, column: 10, path: 'servers.bad.env.A' }],
    empty: [{ line: 7, path: 'servers.empty', message: 'must be an object' }],
  })
})

test('a question of a YAML file is asked', async () => {
  const workspace = await openWorkspace()
  const text = 'servers: { a: { command: x, args: ["${input:key}"] } }'
  const file = await workspace.write('mcp.yml', text)
  const { servers } = await loadMcpConfig(file, {}, { askInput: ({ id }) => `the ${id}` })
  expect(servers['a']).toMatchObject({ args: ['the key'] })
})

test('an alias stands for its anchor, and its faults are at the alias', () => {
  const text = [
    'servers:',
    '  a: &base { command: x, env: &env { A: "1" } }',
    '  b: { command: y, env: *env }',
    '  c: *base',
    '  d: { command: z, env: *env, cwd: 7 }',
    '  e: { command: z, tools: *env }',
    '  f: { command: z, env: &bad { B: "${MISSING}" } }',
    '  g: { command: z, env: *bad }',
  ].join('\n')
  const { servers, faulty } = parseMcpConfig(text, { file: '/etc/host/mcp.yaml' })
  expect(servers).toMatchObject({
    a: { command: 'x', env: { A: '1' } },
    b: { command: 'y', env: { A: '1' } },
    c: { command: 'x', env: { A: '1' } },
  })
  expect(faulty).toMatchObject({
    d: [{ line: 5, column: 36, path: 'servers.d.cwd' }],
    e: [{ line: 6, column: 27, path: 'servers.e.tools.A' }],
    f: [{ line: 7, column: 35, path: 'servers.f.env.B' }],
    g: [{ line: 8, column: 25, path: 'servers.g.env.B' }],
  })
})

test('an anchor that is set again counts from there on', () => {
  const text = [
    'servers:',
    '  a: { command: &c x, args: &list [*c] }',
    '  b: { command: *c, args: [&c y, *c] }',
    '  c: { command: *c, args: *list }',
  ].join('\n')
  const { servers } = parseMcpConfig(text, { file: 'mcp.yaml' })
  expect(servers).toMatchObject({
    b: { command: 'x', args: ['y', 'y'] },
    c: { command: 'y', args: ['x'] },
  })
})

/** Nine levels of lists, each with the one before nine times: 9^9 texts. */
const bomb = Array.from({ length: 9 }, (_, level) => {
  const inner = level === 0 ? '"lol"' : `*l${level - 1}`
  return `l${level}: &l${level} [${Array.from({ length: 9 }, () => inner).join(', ')}]`
}).join('\n')

describe('a YAML file is refused', () => {
  test.each([
    ['with a bomb of aliases', bomb, '5:10 : repeats more than 10000 values by aliases'],
    ['with an alias in itself', 'servers: &a\n  x: [*a]', '2:7 : is an alias that contains itself'],
    [
      'with an alias without its anchor',
      'servers: *b',
      '1:10 : is an alias (*name) without its anchor (&name) above it',
    ],
    [
      'with too many levels',
      `a:\n  ${'['.repeat(101)}${']'.repeat(101)}`,
      '2:102 : is nested more than 100 levels deep',
    ],
    ['with several documents', 'a: 1\n---\nb: 2', '2:1 : has several YAML documents'],
    ['with a tag', 'a: !secret x', '1:4 : has a tag that is not known here'],
    ['with a number as key', 'a:\n  8080: x', '2:3 : is a key that is no text'],
    ['with a list as key', '? [a, b]\n: x', '1:3 : is a key that is no text'],
    [
      'with a date of YAML 1.1',
      '%YAML 1.1\n---\na: 2001-12-14',
      '3:4 : is a value that JSON does not have',
    ],
    [
      'with a mapping in a mapping of one line',
      'a: b: c',
      '1:4 : is not valid YAML: nested mappings are not allowed in compact mappings',
    ],
    [
      'with tabs as indentation',
      'a:\n\tb: 1',
      '2:1 : is not valid YAML: tabs are not allowed as indentation',
    ],
  ])('%s', (_, text, expected) => {
    const startedAt = performance.now()
    expect(faultsOf(text)[0]).toBe(expected)
    expect(performance.now() - startedAt).toBeLessThan(2_000)
  })

  test('with levels that overflow the stack', () => {
    const faults = faultsOf('['.repeat(100_000))
    expect(faults).toEqual([expect.stringMatching(/^1:\d+ : is nested too deeply$/)])
  })

  test.each(['a: |hunter2\n x', '[a]\n} hunter2', 'a: b\n}hunter2: x'])(
    'without its text in the message, which may be secret: %o',
    (text) => {
      const faults = faultsOf(text)
      expect(faults[0]).toMatch(/is not valid YAML/)
      expect(faults.join()).not.toMatch(/hunter2/)
    },
  )
})

test('a repeated key is a fault of its server', () => {
  const text = 'servers:\n  a:\n    command: x\n    command: y\n  b: { command: z }'
  const { servers, faulty } = parseMcpConfig(text, { file: '/mcp.yaml' })
  expect(Object.keys(servers)).toEqual(['b'])
  expect(faulty).toMatchObject({
    a: [{ line: 4, column: 5, path: 'servers.a.command', message: 'is there twice' }],
  })
})

test('an empty YAML file has no servers, which is a fault', () => {
  expect(() => parseMcpConfig('# nothing\n', { file: '/mcp.yaml' })).toThrow('must be an object')
})
