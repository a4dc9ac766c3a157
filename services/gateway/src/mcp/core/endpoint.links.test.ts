import { beforeEach, expect, test } from 'vitest'
import { noClients, nothing } from './__fixtures__/no-clients.ts'
import { bundleListing } from './bundle.ts'
import { McpEndpoint } from './endpoint.ts'
import type { ServerListing } from './server-listing.ts'
import { MergedListing } from './merged-listing.ts'
import type { Params } from './json-rpc.ts'
import { JsonRpcError } from './json-rpc.ts'
import type { ForwardedReply, ForwardedRequest } from './upstream.ts'

const inputSchema = { type: 'object' }
const serverListing = (server: string, more: Partial<ServerListing> = {}): ServerListing => ({
  server,
  tools: [],
  prompts: [],
  resources: [],
  resourceTemplates: [],
  ...more,
})
const both = {
  tools: [{ name: 'show', inputSchema, _meta: { ui: { resourceUri: 'ui://page', more: 1 } } }],
  resources: [{ uri: 'mem://both', name: 'both' }],
  resourceTemplates: [{ uriTemplate: 'mem://{id}/x', name: 'x' }],
}
const serverListings = [
  serverListing('a', { ...both, resources: [...both.resources, { uri: 'mem://a', name: 'a' }] }),
  serverListing('b', both),
]
const named = ({ server, name }: { server: string; name: string }): string => `${server}__${name}`

const text = new TextDecoder()
const bytes = new TextEncoder()
const result = (value: object, more: Partial<ForwardedReply> = {}): ForwardedReply => ({
  type: 'result',
  json: bytes.encode(JSON.stringify(value)),
  ...more,
})
const failure = (code: number): ForwardedReply => ({
  type: 'error',
  code,
  json: bytes.encode(JSON.stringify({ code, message: 'its own words' })),
})

let asked: [string, Params][]
let answer: (server: string, request: ForwardedRequest) => ForwardedReply
let listing: MergedListing
let endpoint: McpEndpoint
beforeEach(() => {
  asked = []
  answer = () => result({ contents: [] })
  listing = new MergedListing(serverListings, named)
  endpoint = new McpEndpoint({
    signSession: (random) => random,
    serverInfo: { name: 'us', version: '1' },
    clients: noClients,
    upstream: {
      resume: () => Promise.reject(new Error('nothing is kept')),
      answer: () => undefined,
      tell: () => undefined,
      watch: () => nothing,
      listen: () => nothing,
      onLog: () => nothing,
      async forward(server, request) {
        asked.push([server, request.params])
        return answer(server, request)
      },
    },
  })
})

async function ask(method: string, params: object = {}) {
  const { signal } = new AbortController()
  const reply = await endpoint.handle(
    {
      method: 'POST',
      header: () => undefined,
      body: new Uint8Array(),
      message: { jsonrpc: '2.0', id: 1, method, params },
      signal,
      closing: signal,
    },
    { listing, onChange: () => nothing },
  )
  const { body } = reply
  if (!(body instanceof Uint8Array)) throw new Error('there is no answer')
  return JSON.parse(text.decode(body))
}

/** A tool of `server` answers with these blocks; what its caller gets. */
async function linked(server: string, ...content: object[]): Promise<Params[]> {
  answer = () => result({ content, 'x-more': 1 }, { hasLinks: true })
  const { result: got } = await ask('tools/call', { name: `${server}__show` })
  expect(got['x-more']).toBe(1)
  return got.content
}
const link = (uri: string): object => ({ type: 'resource_link', uri, name: 'n' })

test.each([
  ['mem://both', 'mcp://a/mem%3A%2F%2Fboth'],
  ['mem://a', 'mem://a'],
  ['new://unlisted', 'mcp://a/new%3A%2F%2Funlisted'],
  ['mem://1/x', 'mcp://a/mem%3A%2F%2F1%2Fx'],
  ['ui://page', 'ui://a/ui%3A%2F%2Fpage'],
  ['https://example.com/', 'https://example.com/'],
])('a link to %s is given as %s, and read at the server that gave it', async (uri, expected) => {
  const [resourceLink, embedded, plain] = await linked(
    'a',
    link(uri),
    { type: 'resource', resource: { uri, text: 't' } },
    { type: 'text', text: uri },
  )
  expect(resourceLink).toEqual(link(expected))
  expect(embedded).toEqual({ type: 'resource', resource: { uri: expected, text: 't' } })
  expect(plain).toEqual({ type: 'text', text: uri })
  answer = () => result({ contents: [] })
  await ask('resources/read', { uri: expected })
  expect(asked.slice(1)).toEqual([['a', { uri }]])
})

test('a link to what only another server lists still leads to the one that gave it', async () => {
  expect(await linked('b', link('mem://a'))).toEqual([link('mcp://b/mem%3A%2F%2Fa')])
})

test('links of prompts are given in the same way', async () => {
  const message = (uri: string) => ({ role: 'user', content: link(uri) })
  answer = () => result({ messages: [message('mem://both')] }, { hasLinks: true })
  listing = new MergedListing(
    [serverListing('a', { ...both, prompts: [{ name: 'p' }] }), serverListing('b', both)],
    named,
  )
  expect((await ask('prompts/get', { name: 'a__p' })).result).toEqual({
    messages: [message('mcp://a/mem%3A%2F%2Fboth')],
  })
})

test('of a server alone links stay as they are', async () => {
  listing = new MergedListing([serverListings[0]!], ({ name }) => name)
  answer = () => result({ content: [link('new://unlisted')] }, { hasLinks: true })
  expect((await ask('tools/call', { name: 'show' })).result.content).toEqual([
    link('new://unlisted'),
  ])
})

test('a server alone is asked for whatever it says that it may have', async () => {
  listing = new MergedListing(
    [serverListing('a', { capabilities: { resources: {} } })],
    ({ name }) => name,
  )
  expect(await ask('resources/read', { uri: 'new://unlisted' })).toMatchObject({ result: {} })
  const bundle = { servers: { a: { resources: false } } }
  listing = bundleListing(bundle, listing.servers)
  expect(await ask('resources/read', { uri: 'new://unlisted' })).toMatchObject({
    error: { code: -32_002 },
  })
})

test('the page of an app is named in its tool and in results as it is to be read', async () => {
  const { tools } = (await ask('tools/list')).result
  expect(tools.map((tool: Params) => tool['_meta'])).toEqual([
    { ui: { resourceUri: 'ui://a/ui%3A%2F%2Fpage', more: 1 } },
    { ui: { resourceUri: 'ui://b/ui%3A%2F%2Fpage', more: 1 } },
  ])
  const _meta = { 'ui/resourceUri': 'ui://page', more: 1 }
  answer = () => result({ content: [], _meta }, { hasLinks: true })
  const called = await ask('tools/call', { name: 'b__show' })
  expect(called.result._meta).toEqual({ 'ui/resourceUri': 'ui://b/ui%3A%2F%2Fpage', more: 1 })
})

test('templates of several servers can be told apart, read, and completed', async () => {
  const { resourceTemplates } = (await ask('resources/templates/list')).result
  const names = resourceTemplates.map(({ uriTemplate }: Params) => uriTemplate)
  expect(names).toEqual(['mcp://a/mem://{id}/x', 'mcp://b/mem://{id}/x'])
  await ask('resources/read', { uri: 'mcp://b/mem://1%2F2/x' })
  const ref = { type: 'ref/resource', uri: 'mcp://b/mem://{id}/x' }
  await ask('completion/complete', { ref })
  expect(asked).toEqual([
    ['b', { uri: 'mem://1%2F2/x' }],
    ['b', { ref: { ...ref, uri: 'mem://{id}/x' } }],
  ])
})

test('a URI of which nobody knows whose it is is asked of one server after another', async () => {
  answer = (server) => (server === 'b' ? result({ contents: ['b'] }) : failure(-32_002))
  expect((await ask('resources/read', { uri: 'new://x' })).result).toEqual({ contents: ['b'] })
  expect(asked.map(([server]) => server)).toEqual(['a', 'b'])
  answer = () => failure(-32_602)
  expect(await ask('resources/read', { uri: 'new://x' })).toMatchObject({
    error: { code: -32_002, message: 'there is no resource "new://x"', data: { uri: 'new://x' } },
  })
})

test('when one of them fails otherwise, that is the answer', async () => {
  answer = (server) => failure(server === 'a' ? 7 : -32_002)
  expect(await ask('resources/read', { uri: 'new://x' })).toMatchObject({ error: { code: 7 } })
  answer = (server) => {
    if (server === 'a') throw new JsonRpcError(-32_000, 'away')
    return failure(-32_002)
  }
  expect(await ask('resources/read', { uri: 'new://x' })).toMatchObject({
    error: { code: -32_000, message: 'away' },
  })
})
