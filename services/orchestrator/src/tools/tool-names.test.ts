import type { ServerName, ServerView } from '@mcp-host/contracts'
import { expect, test } from 'vitest'
import { offeredTools } from './tool-names.ts'

type Listing = Pick<ServerView, 'server' | 'state' | 'tools'>

function server(name: string, tools: string[], state: ServerView['state'] = 'ready'): Listing {
  return {
    server: name as ServerName,
    state,
    tools: tools.map((each) => ({ name: each, inputSchema: { type: 'object' } })),
  }
}

function names(...views: Listing[]): string[] {
  return offeredTools(views).map(({ safeName }) => safeName)
}

const hostile = [
  'a tool',
  'a.tool',
  'a-tool',
  'a_tool',
  'Ünïcödé',
  '工具',
  '工兵',
  '👋',
  '',
  ' ',
  '../../etc/passwd',
  '"};drop',
  'new\nline',
  '__proto__',
  'x'.repeat(200),
  `${'x'.repeat(200)}y`,
]

test('a plain tool is named by its server and itself', () => {
  expect(names(server('files', ['read-text_2']))).toEqual(['files__read-text_2'])
})

test('whatever a tool is called, its name is one every provider accepts', () => {
  for (const name of names(server('test', hostile), server('1-2', ['3']), server('-', ['-']))) {
    expect(name).toMatch(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/)
  }
})

test('no two tools share a name', () => {
  const all = names(
    server('test', hostile),
    server('a', ['b__c', 'b.c', 'b c']),
    server('a__b', ['c']),
    server('x'.repeat(64), ['y', 'z', 'y'.repeat(64)]),
  )
  expect(new Set(all).size).toBe(all.length)
})

test('a tool that is called as another is named gets another name', () => {
  const [made = ''] = names(server('test', ['a.tool']))
  const pair = names(server('test', [made.replace('test__', ''), 'a.tool']))
  expect(pair[0]).toBe(made)
  expect(pair[1]).not.toBe(made)
})

test('a name leads to one server and tool, where two would have the same', () => {
  const offered = offeredTools([server('a', ['b__c']), server('a__b', ['c'])])
  expect(offered[0]).toMatchObject({ safeName: 'a__b__c', server: 'a', tool: 'b__c' })
  expect(offered[1]).toMatchObject({ server: 'a__b', tool: 'c' })
  expect(offered[1]?.safeName).toMatch(/^a__b__c_\w{6}$/)
})

test('the order is that of the server names, then as each server lists its tools', () => {
  const [one, two] = [server('one', ['z', 'a']), server('two', ['b'])]
  expect(names(two, one)).toEqual(['one__z', 'one__a', 'two__b'])
  expect(names(one, two)).toEqual(names(two, one))
})

test('a tool keeps its name when others come and go', () => {
  const before = names(server('test', hostile))
  expect(names(server('other', ['x']), server('test', hostile)).slice(1)).toEqual(before)
  const [last] = names(server('test', ['a.tool']))
  expect(before).toContain(last)
})

test.each(['starting', 'unavailable', 'stopping', 'shutdown'] as const)(
  'tools of a server that is %s are not offered',
  (state) => {
    expect(names(server('test', ['echo'], state))).toEqual([])
  },
)

test('schema and description are passed on as they are', () => {
  const inputSchema = { type: 'object', properties: { a: { type: 'number' } }, $schema: 'x' }
  const tools = [
    { name: 'echo', description: 'Says it.', inputSchema },
    { name: 'b', inputSchema },
  ]
  const [echo, bare] = offeredTools([{ ...server('test', []), tools }])
  expect(echo).toMatchObject({ description: 'Says it.', inputSchema })
  expect(bare).not.toHaveProperty('description')
})

test.each<[unknown, boolean]>([
  [{ ui: { visibility: ['app'] } }, false],
  [{ ui: { visibility: ['app', 'model'] } }, true],
  [{ ui: { visibility: [] } }, true],
  [{ ui: null }, true],
  [{ ui: { resourceUri: 'ui://x' } }, true],
  [undefined, true],
])('whether a tool with the _meta %j is offered to models: %s', (_meta, isOffered) => {
  const { tools, ...rest } = server('app', ['refresh'])
  const view = { ...rest, tools: tools.map((tool) => ({ ...tool, _meta })) }
  expect(names(view, server('b', ['c']))).toEqual([...(isOffered ? ['app__refresh'] : []), 'b__c'])
})
