import { BusError, LOCAL } from '@mcp-host/contracts'
import { beforeEach, describe, expect, test } from 'vitest'
import { noClients, nothing } from '../test/no-clients.ts'
import type { EndpointReply } from './streams/endpoint-reply.ts'
import type { EndpointRequest } from './messages/endpoint-request.ts'
import { McpEndpoint } from './endpoint.ts'
import type { ServerListing } from './listing/server-listing.ts'
import { MergedListing } from './listing/merged-listing.ts'
import { JsonRpcError } from './messages/json-rpc.ts'
import { signSession } from '../test/test-sessions.ts'
import type { ServerReply, OutgoingRequest, Servers } from './servers.ts'

const inputSchema = { type: 'object', 'x-unknown': [1] }
const serverListings: ServerListing[] = [
  {
    server: 'a',
    instructions: 'Be kind.',
    capabilities: { completions: {} },
    tools: [{ name: 'add', inputSchema, 'x-new': { deep: true } }],
    prompts: [{ name: 'greet' }],
    resources: [
      { uri: 'mem://one', name: 'one' },
      { uri: 'mem://both', name: 'both' },
    ],
    resourceTemplates: [{ uriTemplate: 'mem://{id}/x', name: 'x' }],
  },
  {
    server: 'b',
    tools: [{ name: 'add', inputSchema }],
    prompts: [],
    resources: [{ uri: 'mem://both', name: 'both' }],
    resourceTemplates: [],
  },
]
const VERSION = 'io.modelcontextprotocol/protocolVersion'
const modernMeta = {
  [VERSION]: '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'c', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

const text = new TextDecoder()
const bytes = new TextEncoder()

const noUpstream: Omit<Servers, 'send'> = {
  resume: () => Promise.reject(new Error('no request is resumable')),
  answer: () => undefined,
  tell: () => undefined,
  watch: () => nothing,
  listen: () => nothing,
  onLog: () => nothing,
}

let sent: { server: string; request: OutgoingRequest }[]
let answer: (request: OutgoingRequest) => Promise<ServerReply> | ServerReply
let takeRequest: () => undefined
let endpoint: McpEndpoint
let listing: MergedListing
beforeEach(() => {
  sent = []
  answer = () => ({ type: 'result', json: bytes.encode('{"content":[],"x-new":1}') })
  takeRequest = () => undefined
  endpoint = new McpEndpoint({
    signSession,
    limits: {
      request: () => takeRequest(),
      stream: () => undefined,
    },
    serverInfo: { name: 'us', version: '1' },
    clients: noClients,
    servers: {
      ...noUpstream,
      async send(server, request) {
        sent.push({ server, request })
        return answer(request)
      },
    },
  })
  listing = new MergedListing(serverListings, ({ server, name }) => `${server}__${name}`)
})

const usual = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

async function send(
  body: unknown,
  headers: Readonly<Record<string, string | undefined>> = {},
  more: Partial<EndpointRequest> = {},
): Promise<EndpointReply> {
  const all: Readonly<Record<string, string | undefined>> = { ...usual, ...headers }
  const exchange = {
    method: 'POST',
    principal: LOCAL,
    header: (name: string) => all[name],
    body: body instanceof Uint8Array ? body : bytes.encode(JSON.stringify(body)),
    signal: new AbortController().signal,
    closing: new AbortController().signal,
    ...more,
  }
  return endpoint.handle(exchange, { listing, onChange: () => nothing })
}

async function bodyOf({ body }: EndpointReply): Promise<string> {
  if (body === undefined) return ''
  if (body instanceof Uint8Array) return text.decode(body)
  return (await Array.fromAsync(body, (chunk) => text.decode(chunk))).join('')
}

async function ask(method: string, params: object = {}, era: 'legacy' | 'modern' = 'legacy') {
  const isModern = era === 'modern'
  const { name, uri = name } = params as { name?: unknown; uri?: unknown }
  const named = typeof uri === 'string' ? uri : undefined
  const reply = await send(
    {
      jsonrpc: '2.0',
      id: 1,
      method,
      params: isModern ? { ...params, _meta: modernMeta } : params,
    },
    isModern
      ? { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, 'mcp-name': named }
      : {},
  )
  return { status: reply.status, ...JSON.parse(await bodyOf(reply)) }
}

describe.each(['legacy', 'modern'] as const)('requests of a %s client', (era) => {
  test('a tool call is routed by its name with all params, and its result returned unchanged', async () => {
    const params = { name: 'b__add', arguments: { a: 1 }, 'x-more': true }
    const { status, result } = await ask('tools/call', params, era)
    expect([status, result]).toEqual([200, { content: [], 'x-new': 1 }])
    expect(sent).toMatchObject([
      { server: 'b', request: { method: 'tools/call', params: { ...params, name: 'add' }, era } },
    ])
  })

  test.each([
    ['prompts/get', { name: 'a__greet' }, { name: 'greet' }],
    ['resources/read', { uri: 'mem://one' }, { uri: 'mem://one' }],
    ['resources/read', { uri: 'mem://7/x' }, { uri: 'mem://7/x' }],
    ['tools/call', { name: 'a.add', arguments: {} }, { name: 'add', arguments: {} }],
    ['prompts/get', { name: 'a.greet' }, { name: 'greet' }],
    ['resources/read', { uri: 'a.mem://both' }, { uri: 'mem://both' }],
    [
      'resources/read',
      { uri: `mcp://a/${encodeURIComponent('mem://both')}` },
      { uri: 'mem://both' },
    ],
    [
      'completion/complete',
      { ref: { type: 'ref/prompt', name: 'a__greet' }, argument: { name: 'n', value: '' } },
      { ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: 'n', value: '' } },
    ],
    [
      'completion/complete',
      { ref: { type: 'ref/resource', uri: 'mem://{id}/x' } },
      { ref: { type: 'ref/resource', uri: 'mem://{id}/x' } },
    ],
  ])('%s with %j is routed to its server', async (method, params, expected) => {
    expect(await ask(method, params, era)).toMatchObject({ status: 200, result: {} })
    expect(sent).toMatchObject([{ server: 'a', request: { method, params: expected } }])
  })

  test('lists have the items of all servers as these describe them', async () => {
    const { result: tools } = await ask('tools/list', {}, era)
    expect(tools.tools).toEqual([
      { name: 'a__add', inputSchema, 'x-new': { deep: true } },
      { name: 'b__add', inputSchema },
    ])
    const { result: resources } = await ask('resources/list', {}, era)
    expect(resources.resources.map(({ uri }: { uri: string }) => uri)).toEqual([
      'mem://one',
      'mcp://a/mem%3A%2F%2Fboth',
      'mcp://b/mem%3A%2F%2Fboth',
    ])
    expect((await ask('prompts/list', {}, era)).result.prompts).toEqual([{ name: 'a__greet' }])
    expect((await ask('resources/templates/list', {}, era)).result.resourceTemplates).toHaveLength(
      1,
    )
    const isMarked = era === 'modern'
    expect('resultType' in tools && 'ttlMs' in tools && 'cacheScope' in tools).toBe(isMarked)
  })

  test.each([
    ['tools/call', { name: 'add' }, -32_602, /no tool "add"/],
    ['tools/call', {}, -32_602, /name: must be a string/],
    ['prompts/get', { name: 'b__greet' }, -32_602, /no prompt/],
    ['resources/read', { uri: 7 }, -32_602, /uri: must be a string/],
    [
      'resources/read',
      { uri: 'mem://both' },
      -32_602,
      /since a, b may have it; name one, as in mcp:\/\/a\//,
    ],
    ['completion/complete', { ref: { type: 'else' } }, -32_602, /ref.type/],
    ['completion/complete', {}, -32_602, /ref: must be an object/],
    ['tools/list', { cursor: 'x' }, -32_602, /cursor/],
    ['tools/list', { cursor: 7 }, -32_602, /cursor/],
  ])('%s with %j is refused', async (method, params, code, message) => {
    expect(await ask(method, params, era)).toMatchObject({
      status: 200,
      id: 1,
      error: { code, message: expect.stringMatching(message) },
    })
    expect(sent).toEqual([])
  })

  test('a list with an empty cursor begins at its first page', async () => {
    const { result } = await ask('tools/list', {}, era)
    expect((await ask('tools/list', { cursor: '' }, era)).result).toEqual(result)
    expect(result).toHaveProperty('tools')
  })

  test('errors are passed on, internal ones without their message', async () => {
    answer = () => {
      throw new JsonRpcError(-32_000, 'away', { data: { retryable: true } })
    }
    const error = { code: -32_000, message: 'away', data: { retryable: true } }
    expect(await ask('tools/call', { name: 'a__add' }, era)).toMatchObject({ status: 200, error })
    answer = () => ({ type: 'error', json: bytes.encode('{"code":7,"message":"no","data":[1]}') })
    expect(await ask('tools/call', { name: 'a__add' }, era)).toMatchObject({
      error: { code: 7, message: 'no', data: [1] },
    })
    answer = () => {
      throw new Error('a secret')
    }
    const broken = await ask('tools/call', { name: 'a__add' }, era)
    expect(broken).toMatchObject({ status: 500, error: { code: -32_603 } })
    expect(JSON.stringify(broken)).not.toContain('secret')
  })

  test('progress is sent as it is reported, before the answer', async () => {
    const go = Promise.withResolvers<void>()
    answer = async ({ listener }) => {
      listener?.onNotice('notifications/progress', '{"progress":1,"total":2}')
      await go.promise
      listener?.onNotice('notifications/progress', '{"progress":2}')
      return { type: 'result', json: bytes.encode('{"content":[]}') }
    }
    const _meta = { ...(era === 'modern' ? modernMeta : {}), progressToken: 'p' }
    const reply = await send(
      { jsonrpc: '2.0', id: 'x', method: 'tools/call', params: { name: 'a__add', _meta } },
      era === 'modern'
        ? { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'a__add' }
        : {},
    )
    expect(reply.headers['content-type']).toBe('text/event-stream')
    go.resolve()
    const events = (await bodyOf(reply)).split('\n\n').filter((event) => event !== '')
    expect(events.map((event) => JSON.parse(event.replace(/^event: message\ndata: /, '')))).toEqual(
      [
        notice({ progressToken: 'p', progress: 1, total: 2 }),
        notice({ progressToken: 'p', progress: 2 }),
        { jsonrpc: '2.0', id: 'x', result: { content: [] } },
      ],
    )
  })
})

function notice(params: object): object {
  return { jsonrpc: '2.0', method: 'notifications/progress', params }
}

test('only the latest unread progress is kept', async () => {
  answer = ({ listener }) => {
    for (let index = 0; index < 10_000; index++) {
      listener?.onNotice('notifications/progress', `{"progress":${index}}`)
    }
    return Promise.withResolvers<ServerReply>().promise
  }
  const _meta = { progressToken: 1 }
  const params = { name: 'a__add', _meta }
  const { body } = await send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
  const events = (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]()
  expect(text.decode((await events.next()).value)).toContain('"progress":9900}')
})

test('the trace of the caller is sent', async () => {
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'a__add' } }
  await send(call, { traceparent: 'theirs' })
  await send(call)
  expect(sent.map(({ request }) => request.traceparent)).toEqual(['theirs', undefined])
})

test('requests are marked as read-only by their method and annotations', async () => {
  const annotations = { readOnlyHint: true }
  const tools = [
    { name: 'look', annotations },
    { name: 'do', annotations: { readOnlyHint: false } },
  ]
  listing = new MergedListing([{ ...serverListings[0]!, tools }], ({ name }) => name)
  for (const name of ['look', 'do']) await ask('tools/call', { name })
  await ask('resources/read', { uri: 'mem://one' })
  await ask('prompts/get', { name: 'greet' })
  expect(sent.map(({ request }) => request.isReadOnly)).toEqual([true, false, true, true])
})

test('a progress token without progress leads to a JSON answer', async () => {
  const reply = await send({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'a__add', _meta: { progressToken: 7 } },
  })
  expect(reply.headers['content-type']).toBe('application/json')
})

const changing = { listChanged: true }

test.each(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '1999-01-01', 7])(
  'initialize with the version %s is answered with a supported one',
  async (protocolVersion) => {
    const { result } = await ask('initialize', { protocolVersion })
    const isKnown = String(protocolVersion).startsWith('202')
    expect(result).toEqual({
      protocolVersion: isKnown ? protocolVersion : '2025-11-25',
      capabilities: {
        tools: changing,
        prompts: changing,
        resources: changing,
        completions: {},
      },
      serverInfo: { name: 'us', version: '1' },
      instructions: 'Be kind.',
    })
  },
)

test('server/discover is answered with versions and capabilities', async () => {
  expect((await ask('server/discover', {}, 'modern')).result).toMatchObject({
    resultType: 'complete',
    supportedVersions: ['2026-07-28'],
    capabilities: { tools: {} },
    _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'us' } },
  })
})

test('only a modern request is cancelled when its client leaves', async () => {
  await ask('tools/call', { name: 'a__add' })
  await ask('tools/call', { name: 'a__add' }, 'modern')
  const left = new AbortController()
  await send(
    { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'a__add', _meta: modernMeta } },
    { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'a__add' },
    { signal: left.signal },
  )
  left.abort()
  expect(sent.map(({ request }) => request.signal?.aborted)).toEqual([undefined, false, true])
})

test('notifications and responses are accepted with 202', async () => {
  for (const message of [
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    { jsonrpc: '2.0', id: 1, result: {} },
    [{ jsonrpc: '2.0', method: 'notifications/initialized' }],
  ]) {
    expect(await send(message)).toEqual({ status: 202, headers: {} })
  }
})

test('a batch is answered with one list of answers', async () => {
  const reply = await send([
    { jsonrpc: '2.0', id: 1, method: 'ping' },
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'a__add' } },
    { jsonrpc: '2.0', id: 3, method: 'nope' },
  ])
  expect(JSON.parse(await bodyOf(reply))).toMatchObject([
    { id: 1, result: {} },
    { id: 2, result: { content: [] } },
    { id: 3, error: { code: -32_601 } },
  ])
})

test('each message of a batch counts as a request, and none runs beyond the limit', async () => {
  let left = 5
  takeRequest = () => {
    if (left-- === 0) throw new BusError('exhausted', 'too many requests')
  }
  const batch = (count: number) =>
    send(
      Array.from({ length: count }, (_, id) => ({
        jsonrpc: '2.0',
        id,
        method: 'tools/call',
        params: { name: 'a__add' },
      })),
    )
  expect((await batch(3)).status).toBe(200)
  expect(sent).toHaveLength(3)
  expect(JSON.parse(await bodyOf(await batch(3)))).toMatchObject({ error: {} })
  expect(sent).toHaveLength(3)
})

test('a list of some thousand tools is one page', async () => {
  const tools = Array.from({ length: 2_500 }, (_, index) => ({ name: `t${index}`, inputSchema }))
  const [first] = serverListings
  listing = new MergedListing([{ ...first!, tools }], ({ name }) => name)
  expect((await ask('tools/list')).result).toEqual({ tools })
})

const good = { jsonrpc: '2.0', id: 1, method: 'ping' }
test('tools for apps alone are listed for clients that show apps, and called by all', async () => {
  const [server] = serverListings
  const tools = [
    { name: 'add', inputSchema },
    { name: 'refresh', inputSchema, _meta: { ui: { visibility: ['app'] } } },
  ]
  listing = new MergedListing([{ ...server!, tools }], ({ name }) => name)
  const extensions = { 'io.modelcontextprotocol/ui': { mimeTypes: [] } }
  const listed = async (capabilities: object, era: 'legacy' | 'modern'): Promise<string[]> => {
    const isModern = era === 'modern'
    const _meta = { ...modernMeta, 'io.modelcontextprotocol/clientCapabilities': capabilities }
    const params = { protocolVersion: '2025-11-25', capabilities, clientInfo: {} }
    const begun = await send({ jsonrpc: '2.0', id: 0, method: 'initialize', params })
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
    const reply = await send(
      isModern ? { ...message, params: { _meta } } : message,
      isModern
        ? { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' }
        : { 'mcp-session-id': begun.headers['mcp-session-id'] },
    )
    const { result } = JSON.parse(await bodyOf(reply)) as { result: { tools: { name: string }[] } }
    return result.tools.map(({ name }) => name)
  }
  for (const era of ['legacy', 'modern'] as const) {
    expect(await listed({}, era)).toEqual(['add'])
    expect(await listed({ extensions }, era)).toEqual(['add', 'refresh'])
  }
  expect((await ask('tools/call', { name: 'refresh', arguments: {} })).status).toBe(200)
})

const modernCall = { ...good, method: 'tools/list', params: { _meta: modernMeta } }
const raw = (body: string): Uint8Array => bytes.encode(body)

/** A request, its headers, and the expected answer. */
const malformed: [string, unknown, Record<string, string | undefined>, number, number][] = [
  ['an empty body', raw(''), {}, 400, -32_700],
  ['a body of white space', raw('  \n'), {}, 400, -32_700],
  ['an unfinished object', raw('{"jsonrpc":"2.0"'), {}, 400, -32_700],
  ['two objects', raw('{}{}'), {}, 400, -32_700],
  ['a comment', raw('// hi'), {}, 400, -32_700],
  ['single quotes', raw("{'jsonrpc':'2.0'}"), {}, 400, -32_700],
  ['a form', raw('jsonrpc=2.0&id=1'), {}, 400, -32_700],
  ['invalid UTF-8', new Uint8Array([0x22, 0xff, 0xfe, 0x22]), {}, 400, -32_700],
  ['NaN', raw('{"jsonrpc":"2.0","id":NaN,"method":"ping"}'), {}, 400, -32_700],
  ['ten thousand nested lists', raw('['.repeat(10_000) + ']'.repeat(10_000)), {}, 400, -32_600],
  ['null', null, {}, 400, -32_600],
  ['a number', 7, {}, 400, -32_600],
  ['a text', 'ping', {}, 400, -32_600],
  ['true', true, {}, 400, -32_600],
  ['an empty object', {}, {}, 400, -32_600],
  ['a missing jsonrpc', { id: 1, method: 'ping' }, {}, 400, -32_600],
  ['a wrong jsonrpc', { ...good, jsonrpc: '1.0' }, {}, 400, -32_600],
  ['jsonrpc as a number', { ...good, jsonrpc: 2 }, {}, 400, -32_600],
  ['id null', { ...good, id: null }, {}, 400, -32_600],
  ['id as an object', { ...good, id: {} }, {}, 400, -32_600],
  ['id as a list', { ...good, id: [1] }, {}, 400, -32_600],
  ['id with a fraction', { ...good, id: 1.5 }, {}, 400, -32_600],
  ['id true', { ...good, id: true }, {}, 400, -32_600],
  [
    'an id beyond the safe integers',
    raw('{"jsonrpc":"2.0","id":1e300,"method":"ping"}'),
    {},
    400,
    -32_600,
  ],
  ['method as a number', { ...good, method: 7 }, {}, 400, -32_600],
  ['method null', { ...good, method: null }, {}, 400, -32_600],
  ['method as an object', { ...good, method: {} }, {}, 400, -32_600],
  ['an unknown method', { ...good, method: 'nope' }, {}, 200, -32_601],
  ['an empty method', { ...good, method: '' }, {}, 200, -32_601],
  ['a method of the prototype', { ...good, method: 'constructor' }, {}, 200, -32_601],
  ['a method of servers', { ...good, method: 'sampling/createMessage' }, {}, 200, -32_601],
  ['params as a list', { ...good, params: [] }, {}, 400, -32_600],
  ['params as a text', { ...good, params: 'x' }, {}, 400, -32_600],
  ['neither method nor result', { jsonrpc: '2.0', id: 1 }, {}, 400, -32_600],
  ['result and error', { jsonrpc: '2.0', id: 1, result: {}, error: {} }, {}, 400, -32_600],
  ['a result without id', { jsonrpc: '2.0', result: {} }, {}, 400, -32_600],
  ['an empty batch', [], {}, 400, -32_600],
  ['a batch in a batch', [[good]], {}, 400, -32_600],
  ['a batch with a number', [good, 7], {}, 400, -32_600],
  ['a batch that is too long', Array.from({ length: 101 }, () => good), {}, 400, -32_600],
  [
    'a modern request in a batch',
    [modernCall],
    { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' },
    400,
    -32_600,
  ],
  ['an unknown legacy version', good, { 'mcp-protocol-version': '2024-01-01' }, 400, -32_022],
  ['an invalid version', good, { 'mcp-protocol-version': 'latest' }, 400, -32_602],
  [
    'a modern version without its _meta',
    good,
    { 'mcp-protocol-version': '2026-07-28' },
    400,
    -32_602,
  ],
  [
    'a later version',
    { ...good, params: { _meta: { ...modernMeta, [VERSION]: '2030-01-01' } } },
    { 'mcp-method': 'ping' },
    400,
    -32_022,
  ],
  ['a modern request without its headers', modernCall, {}, 400, -32_020],
  [
    'a different method in the header',
    modernCall,
    { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'ping' },
    400,
    -32_020,
  ],
  [
    'a different version in the header',
    modernCall,
    { 'mcp-protocol-version': '2025-11-25', 'mcp-method': 'tools/list' },
    400,
    -32_020,
  ],
  [
    'a method that is not modern',
    { ...modernCall, method: 'ping' },
    { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'ping' },
    404,
    -32_601,
  ],
  ['a missing content type', good, { 'content-type': undefined }, 415, -32_000],
  ['the content type text/plain', good, { 'content-type': 'text/plain' }, 415, -32_000],
  ['an Accept header for images', good, { accept: 'image/png' }, 406, -32_000],
]

test.each(malformed)('a request with %s is refused', async (_, body, headers, status, code) => {
  const reply = await send(body, headers)
  const parsed = JSON.parse(await bodyOf(reply))
  expect({ status: reply.status, code: parsed.error?.code }).toEqual({ status, code })
  expect(parsed).toMatchObject({ jsonrpc: '2.0', error: { message: expect.stringMatching(/./) } })
  expect('id' in parsed).toBe(true)
  expect(sent).toEqual([])
})

test.each(['GET', 'DELETE', 'PUT'])('a %s request without a session is refused', async (method) => {
  const reply = await send(good, {}, { method })
  expect(reply).toMatchObject({ status: 405, headers: { allow: 'GET, POST, DELETE' } })
})

test('an output that is not an object is wrapped for legacy clients', async () => {
  const outputSchema = { type: 'array' }
  const [a, b] = serverListings as [ServerListing, ServerListing]
  const tools = [{ name: 'list', inputSchema, outputSchema }]
  listing = new MergedListing([{ ...a, tools }, b], ({ server, name }) => `${server}__${name}`)
  const listed = async (era: 'legacy' | 'modern') =>
    (await ask('tools/list', {}, era)).result.tools[0].outputSchema
  expect(await listed('modern')).toEqual(outputSchema)
  const properties = { result: outputSchema }
  expect(await listed('legacy')).toEqual({ type: 'object', properties, required: ['result'] })
  await ask('tools/call', { name: 'a__list' })
  await ask('tools/call', { name: 'b__add' })
  expect(sent.map(({ request }) => request.isOutputWrapped)).toEqual([true, false])
})
