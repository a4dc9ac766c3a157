import { LOCAL } from '@mcp-host/contracts'
import { beforeEach, expect, test } from 'vitest'
import { noClients, nothing } from '../test/no-clients.ts'
import type { EndpointReply } from './streams/endpoint-reply.ts'
import { McpEndpoint } from './endpoint.ts'
import { MergedListing } from './listing/merged-listing.ts'
import { JsonRpcError } from './messages/json-rpc.ts'
import { signSession } from '../test/test-sessions.ts'
import type { ServerReply, OutgoingRequest } from './servers.ts'

const bytes = new TextEncoder()
const tools = [{ name: 'add', inputSchema: { type: 'object' } }]
const listing = new MergedListing(
  [{ server: 'a', tools, prompts: [], resources: [], resourceTemplates: [] }],
  ({ name }) => name,
)
const RESULT: ServerReply = { type: 'result', json: bytes.encode('{"content":[]}') }
const ERROR: ServerReply = {
  type: 'error',
  json: bytes.encode('{"code":-32000,"message":"no"}'),
}

let answered: [method: string, isError: boolean][]
let seconds: number[]
let answer: (request: OutgoingRequest) => Promise<ServerReply>
let endpoint: McpEndpoint
beforeEach(() => {
  answered = []
  seconds = []
  answer = () => Promise.resolve(RESULT)
  endpoint = new McpEndpoint({
    signSession,
    serverInfo: { name: 'us', version: '1' },
    clients: noClients,
    onAnswered: (method, isError, took) => {
      answered.push([method, isError])
      seconds.push(took)
    },
    servers: {
      send: (_, request) => answer(request),
      resume: () => Promise.reject(new Error('no request is resumable')),
      answer: () => undefined,
      tell: () => undefined,
      watch: () => nothing,
      listen: () => nothing,
      onLog: () => nothing,
    },
  })
})

function send(method: string, params: object = {}): Promise<EndpointReply> {
  const headers: Readonly<Record<string, string>> = { 'content-type': 'application/json' }
  return endpoint.handle(
    {
      method: 'POST',
      principal: LOCAL,
      header: (name) => headers[name],
      body: bytes.encode(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })),
      signal: new AbortController().signal,
      closing: new AbortController().signal,
    },
    { listing, onChange: () => nothing },
  )
}

test('an answered request is reported once with its method and outcome', async () => {
  await send('tools/list')
  await send('tools/call', { name: 'add' })
  answer = () => Promise.resolve(ERROR)
  await send('tools/call', { name: 'add' })
  answer = () => Promise.reject(new JsonRpcError(-32_603, 'nobody answers'))
  await send('tools/call', { name: 'add' })
  await send('tools/call', { name: 'unknown' })
  await send('no/such-method')
  expect(answered).toEqual([
    ['tools/list', false],
    ['tools/call', false],
    ['tools/call', true],
    ['tools/call', true],
    ['tools/call', true],
    ['no/such-method', true],
  ])
  expect(seconds.every((each) => each >= 0 && each < 5)).toBe(true)
})

test('a request that becomes a stream is reported at the end of the stream', async () => {
  const end = Promise.withResolvers<ServerReply>()
  answer = ({ listener }) => {
    listener?.onNotice('notifications/progress', '{"progress":1}')
    return end.promise
  }
  const { body } = await send('tools/call', { name: 'add', _meta: { progressToken: 'p' } })
  expect(answered).toEqual([])
  end.resolve(ERROR)
  for await (const _ of body as AsyncIterable<Uint8Array>);
  expect(answered).toEqual([['tools/call', true]])
})
