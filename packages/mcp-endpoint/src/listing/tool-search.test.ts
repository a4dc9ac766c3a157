import { expect, test } from 'vitest'
import { bundleListing } from './bundle.ts'
import { answerLocally } from '../route/answer-locally.ts'
import { routeRequest } from '../route/route-request.ts'
import type { JsonRpcRequest } from '../messages/classify.ts'

const schema = (...properties: string[]) => ({
  type: 'object',
  properties: Object.fromEntries(properties.map((name) => [name, { type: 'string' }])),
})
const tools = [
  { name: 'create_issue', description: 'Opens an issue.', inputSchema: schema('title', 'body') },
  { name: 'listPullRequests', description: 'All that are open.', inputSchema: schema('repo') },
  { name: 'merge', description: 'Merges a pull request.', inputSchema: schema('number') },
  { name: 'weather', description: 'The forecast of a city.', inputSchema: schema('city') },
  { name: 'deleteFile', title: 'Remove', description: 'Gone.', inputSchema: schema('path') },
]
const listing = bundleListing({ names: 'never', toolSearch: true }, [
  { server: 'git', tools, prompts: [], resources: [], resourceTemplates: [] },
])
const info = { name: 'us', version: '1' }

const call = (
  name: string,
  args: unknown,
  era: JsonRpcRequest['era'] = 'legacy',
): JsonRpcRequest => ({
  kind: 'request',
  era,
  id: 1,
  method: 'tools/call',
  params: { name, arguments: args, _meta: { progressToken: 1 } },
})

interface Result {
  readonly isError?: boolean
  readonly resultType?: string
  readonly content: readonly { readonly text: string }[]
}

async function resultOf(request: JsonRpcRequest): Promise<Result> {
  expect(routeRequest(request, listing)).toBeUndefined()
  return JSON.parse(await answerLocally(request, listing, info))
}

async function found(query: string, more: object = {}): Promise<string[]> {
  const { content } = await resultOf(call('search_tools', { query, ...more }))
  return JSON.parse(content[0]?.text ?? '').map(({ name }: { name: string }) => name)
}

test('all tools are replaced by one that searches them and one that calls them', () => {
  const page = JSON.parse(`{${listing.page('tools', undefined)}}`)
  expect(page.tools.map(({ name }: { name: string }) => name)).toEqual([
    'search_tools',
    'call_tool',
  ])
})

test('a found tool has its name, description and schema', async () => {
  const { content } = await resultOf(call('search_tools', { query: 'forecast' }))
  const { name, description, inputSchema } = tools[3] ?? {}
  expect(JSON.parse(content[0]?.text ?? '')).toEqual([{ name, description, inputSchema }])
})

test('a search returns at most as many tools as its limit', async () => {
  expect(await found('pull request issue file city')).toHaveLength(5)
  expect(await found('pull request issue file city', { limit: 2 })).toHaveLength(2)
})

test('a modern client gets a result with a resultType', async () => {
  const result = await resultOf(call('search_tools', { query: 'forecast' }, 'modern'))
  expect(result.resultType).toBe('complete')
})

test.each<[string, unknown, string]>([
  ['search_tools', {}, 'query:'],
  ['search_tools', { query: ' ' }, 'query:'],
  ['search_tools', { query: 'x'.repeat(1_001) }, 'query: must have at most 1000 characters'],
  ['search_tools', { query: 'x', limit: 0 }, 'limit:'],
  ['search_tools', { query: 'x', limit: 51 }, 'limit:'],
  ['search_tools', undefined, 'query:'],
  ['call_tool', { name: 'none' }, 'There is no tool "none"'],
  ['call_tool', {}, 'name:'],
])('a call of %s with %j is answered with an error', async (name, args, reason) => {
  const result = await resultOf(call(name, args))
  expect(result.isError).toBe(true)
  expect(result.content[0]?.text).toContain(reason)
})

test('a search without matches is answered with the number of tools', async () => {
  const result = await resultOf(call('search_tools', { query: 'zzzz' }))
  expect(result.isError).toBeUndefined()
  expect(result.content[0]?.text).toContain('there are 5 tools')
})

test('call_tool is routed as a call of its tool', () => {
  const params = { name: 'merge', arguments: { number: '1' } }
  const route = {
    place: { server: 'git', name: 'merge' },
    params: { ...params, _meta: { progressToken: 1 } },
    isReadOnly: false,
    isOutputWrapped: false,
  }
  expect(routeRequest(call('call_tool', params), listing)).toEqual(route)
  expect(routeRequest(call('merge', { number: '1' }), listing)).toEqual(route)
  expect(routeRequest(call('call_tool', { name: 'merge' }), listing)?.params['arguments']).toEqual(
    {},
  )
})
