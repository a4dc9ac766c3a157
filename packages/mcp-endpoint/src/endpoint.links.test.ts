import { LOCAL } from '@mcp-host/contracts'
import { beforeEach, expect, test } from 'vitest'
import { noClients, nothing } from '../test/no-clients.ts'
import { bundleListing } from './listing/bundle.ts'
import { McpEndpoint } from './endpoint.ts'
import type { ServerListing } from './listing/server-listing.ts'
import { MergedListing } from './listing/merged-listing.ts'
import type { Params } from './messages/json-rpc.ts'
import { JsonRpcError } from './messages/json-rpc.ts'
import { signSession } from '../test/test-sessions.ts'
import type { ServerReply, OutgoingRequest } from './servers.ts'

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
const result = (value: object, more: Partial<ServerReply> = {}): ServerReply => ({
  type: 'result',
  json: bytes.encode(JSON.stringify(value)),
  ...more,
})
const failure = (code: number): ServerReply => ({
  type: 'error',
  code,
  json: bytes.encode(JSON.stringify({ code, message: 'a message of the server' })),
})

let sent: [string, Params][]
let answer: (server: string, request: OutgoingRequest) => ServerReply
let listing: MergedListing
let endpoint: McpEndpoint
beforeEach(() => {
  sent = []
  answer = () => result({ contents: [] })
  listing = new MergedListing(serverListings, named)
  endpoint = new McpEndpoint({
    signSession,
    serverInfo: { name: 'us', version: '1' },
    clients: noClients,
    servers: {
      resume: () => Promise.reject(new Error('no request is resumable')),
      answer: () => undefined,
      tell: () => undefined,
      watch: () => nothing,
      listen: () => nothing,
      onLog: () => nothing,
      async send(server, request) {
        sent.push([server, request.params])
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
      principal: LOCAL,
      header: () => undefined,
      body: new Uint8Array(),
      message: { jsonrpc: '2.0', id: 1, method, params },
      signal,
      closing: signal,
    },
    { listing, onChange: () => nothing },
  )
  const { body } = reply
  if (!(body instanceof Uint8Array)) throw new Error('the answer is a stream')
  return JSON.parse(text.decode(body))
}

/** The content that a caller receives when a tool of `server` returns these blocks. */
async function linked(server: string, ...content: object[]): Promise<Params[]> {
  answer = () => result({ content, 'x-more': 1 }, { hasLinks: true })
  const { result: received } = await ask('tools/call', { name: `${server}__show` })
  expect(received['x-more']).toBe(1)
  return received.content
}
const link = (uri: string): object => ({ type: 'resource_link', uri, name: 'n' })

test.each([
  ['mem://both', 'mcp://a/mem%3A%2F%2Fboth'],
  ['mem://a', 'mem://a'],
  ['new://unlisted', 'mcp://a/new%3A%2F%2Funlisted'],
  ['mem://1/x', 'mcp://a/mem%3A%2F%2F1%2Fx'],
  ['ui://page', 'ui://a/ui%3A%2F%2Fpage'],
  ['https://example.com/', 'https://example.com/'],
])('a link to %s is returned as %s, which is read at its server', async (uri, expected) => {
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
  expect(sent.slice(1)).toEqual([['a', { uri }]])
})

test('a link to a resource of another server is read at the server that returned the link', async () => {
  expect(await linked('b', link('mem://a'))).toEqual([link('mcp://b/mem%3A%2F%2Fa')])
})

test('links of prompts are rewritten as those of tools', async () => {
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

test('links of a single server are not rewritten', async () => {
  listing = new MergedListing([serverListings[0]!], ({ name }) => name)
  answer = () => result({ content: [link('new://unlisted')] }, { hasLinks: true })
  expect((await ask('tools/call', { name: 'show' })).result.content).toEqual([
    link('new://unlisted'),
  ])
})

test('an unlisted resource is read at a single server with the resources capability', async () => {
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

test('the page URI of an app is rewritten in its tool and in results', async () => {
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

test('templates of several servers are distinct, readable and completable', async () => {
  const { resourceTemplates } = (await ask('resources/templates/list')).result
  const names = resourceTemplates.map(({ uriTemplate }: Params) => uriTemplate)
  expect(names).toEqual(['mcp://a/mem://{id}/x', 'mcp://b/mem://{id}/x'])
  await ask('resources/read', { uri: 'mcp://b/mem://1%2F2/x' })
  const ref = { type: 'ref/resource', uri: 'mcp://b/mem://{id}/x' }
  await ask('completion/complete', { ref })
  expect(sent).toEqual([
    ['b', { uri: 'mem://1%2F2/x' }],
    ['b', { ref: { ...ref, uri: 'mem://{id}/x' } }],
  ])
})

test('an unlisted URI is read at one server after another', async () => {
  answer = (server) => (server === 'b' ? result({ contents: ['b'] }) : failure(-32_002))
  expect((await ask('resources/read', { uri: 'new://x' })).result).toEqual({ contents: ['b'] })
  expect(sent.map(([server]) => server)).toEqual(['a', 'b'])
  answer = () => failure(-32_602)
  expect(await ask('resources/read', { uri: 'new://x' })).toMatchObject({
    error: { code: -32_002, message: 'there is no resource "new://x"', data: { uri: 'new://x' } },
  })
})

test('another failure of a server is the answer to an unlisted URI', async () => {
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
