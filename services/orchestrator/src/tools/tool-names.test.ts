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

test('a safe name joins the names of server and tool', () => {
  expect(names(server('files', ['read-text_2']))).toEqual(['files__read-text_2'])
})

test('a safe name satisfies every provider, for any name of a tool', () => {
  for (const name of names(server('test', hostile), server('1-2', ['3']), server('-', ['-']))) {
    expect(name).toMatch(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/)
  }
})

test('safe names of tools are unique', () => {
  const all = names(
    server('test', hostile),
    server('a', ['b__c', 'b.c', 'b c']),
    server('a__b', ['c']),
    server('x'.repeat(64), ['y', 'z', 'y'.repeat(64)]),
  )
  expect(new Set(all).size).toBe(all.length)
})

test('a tool whose name equals the safe name of another gets a different one', () => {
  const [derived = ''] = names(server('test', ['a.tool']))
  const pair = names(server('test', [derived.replace('test__', ''), 'a.tool']))
  expect(pair[0]).toBe(derived)
  expect(pair[1]).not.toBe(derived)
})

test('equal joined names of two servers are made distinct', () => {
  const offered = offeredTools([server('a', ['b__c']), server('a__b', ['c'])])
  expect(offered).toMatchObject([
    { server: 'a', tool: 'b__c' },
    { server: 'a__b', tool: 'c' },
  ])
  // Whichever comes first.
  for (const { safeName } of offered) expect(safeName).toMatch(/^a__b__c_\w{6}$/)
  expect(offered[0]?.safeName).not.toBe(offered[1]?.safeName)
})

test('tools are ordered by server name, then as their server lists them', () => {
  const [one, two] = [server('one', ['z', 'a']), server('two', ['b'])]
  expect(names(two, one)).toEqual(['one__z', 'one__a', 'two__b'])
  expect(names(one, two)).toEqual(names(two, one))
})

test('the safe name of a tool does not depend on other servers', () => {
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

test('schemas and descriptions are not changed', () => {
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
])('a tool with the _meta %j is offered to models: %s', (_meta, isOffered) => {
  const { tools, ...rest } = server('app', ['refresh'])
  const view = { ...rest, tools: tools.map((tool) => ({ ...tool, _meta })) }
  expect(names(view, server('b', ['c']))).toEqual([...(isOffered ? ['app__refresh'] : []), 'b__c'])
})
