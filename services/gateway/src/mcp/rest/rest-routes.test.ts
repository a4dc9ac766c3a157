import type { CatalogEntry, ServerEntry, ServerName } from '@mcp-host/contracts'
import { approvalRule, BusError, catalogKey } from '@mcp-host/contracts'
import { InFlight } from '@mcp-host/service'
import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import { fastify } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { replyError } from '../../edge/error-reply.ts'
import { BodyReader } from '../../edge/body-reader.ts'
import { readBodies } from '../../edge/read-bodies.ts'
import { nothing } from '../core/__fixtures__/no-clients.ts'
import { Approvals } from '../core/approvals.ts'
import { StateSeal } from '../core/state-seal.ts'
import { JsonRpcCode, JsonRpcError } from '../core/json-rpc.ts'
import type { ForwardedReply, ForwardedRequest } from '../core/upstream.ts'
import { VirtualServers } from '../virtual-servers.ts'
import { addCapabilitiesRoute } from './capabilities-route.ts'
import { addRestRoutes } from './rest-routes.ts'

const bytes = new TextEncoder()
const inputSchema = { type: 'object' }

function entry(server: string, more: Partial<ServerEntry> = {}): ServerEntry {
  return {
    kind: 'server',
    server: server as ServerName,
    supervisor: 's',
    state: 'ready',
    tools: [{ name: 'add', inputSchema, 'x-new': 1 }],
    resources: [{ uri: 'mem://both', name: 'both' }],
    revision: 1,
    ...more,
  }
}

const catalog: readonly CatalogEntry[] = [
  { kind: 'supervisor', id: 's', startedAt: 0, servers: {} },
  entry('a', {
    prompts: [{ name: 'greet' }],
    resources: [
      { uri: 'mem://one', name: 'one' },
      { uri: 'mem://both', name: 'both' },
    ],
    resourceTemplates: [{ uriTemplate: 'mem://{id}/x', name: 'x' }],
  }),
  entry('b', { scope: 'session' }),
  entry('c', { state: 'unavailable', error: 'it ended', tools: [], resources: [] }),
]

interface Asked {
  readonly server: string
  readonly request: ForwardedRequest
}

let asked: Asked[]
let answer: (request: ForwardedRequest) => Promise<ForwardedReply> | ForwardedReply
let passing: InFlight
let bodies: BodyReader
let rules: string[]
let entries: Map<string, CatalogEntry>
let app: FastifyInstance
beforeEach(() => {
  asked = []
  answer = () => result({ content: [], 'x-new': 1 })
  passing = new InFlight()
  bodies = new BodyReader()
  rules = []
  entries = new Map(catalog.map((each) => [catalogKey(each), each]))
  const view = { entries, onChange: () => nothing }
  app = fastify()
  app.setErrorHandler((error, _, reply) => replyError(reply, error))
  readBodies(app, bodies)
  const deps = {
    catalog: view,
    virtualServers: new VirtualServers(view),
    passing,
    approvals: new Approvals({
      rule: (...call) => approvalRule(rules)(...call),
      seal: new StateSeal(async () => new Uint8Array(32)),
      timeoutMs: 1_000,
    }),
    models: () => ({ providers: [], default: { provider: 'demo', model: 'one' } }),
    upstream: {
      resume: () => Promise.reject(new Error('nothing is kept')),
      answer: () => undefined,
      tell: () => undefined,
      watch: () => nothing,
      listen: () => nothing,
      onLog: () => nothing,
      async forward(server: string, request: ForwardedRequest) {
        asked.push({ server, request })
        return answer(request)
      },
    },
  }
  const api = app.withTypeProvider<ZodTypeProvider>()
  addRestRoutes(api, deps)
  addCapabilitiesRoute(api, deps)
})
afterEach(async () => {
  bodies[Symbol.dispose]()
  await app.close()
})

const result = (value: object): ForwardedReply => ({
  type: 'result',
  json: bytes.encode(JSON.stringify(value)),
})
const error = (value: object): ForwardedReply => ({
  type: 'error',
  json: bytes.encode(JSON.stringify(value)),
})

async function post(path: string, payload?: object | string): Promise<LightMyRequestResponse> {
  const headers = { 'content-type': 'application/json' }
  const body = payload === undefined ? {} : { headers, payload }
  return app.inject({ method: 'POST', url: `/mcp/${path}`, ...body })
}

test('a tool that a user must allow is refused, as nobody can be asked', async () => {
  rules = ['b.*']
  const response = await post('tools/call', { name: 'b__add' })
  expect([response.statusCode, response.json().error]).toEqual([
    403,
    {
      code: 'denied',
      reason: 'approval-required',
      field: 'name',
      server: 'b',
      message: expect.stringMatching(/"add" of the server "b" runs only when a user allows it/),
    },
  ])
  expect(asked).toEqual([])
  expect((await post('resources/read', { uri: 'mcp://b/mem%3A%2F%2Fboth' })).statusCode).toBe(200)
})

describe('what is there', () => {
  test('is listed as MCP has it, without an envelope, also where no body is sent', async () => {
    const tools = await post('tools/list')
    expect(tools.statusCode).toBe(200)
    expect(tools.headers).toMatchObject({
      'content-type': expect.stringContaining('application/json'),
      'cache-control': 'no-store',
    })
    expect(tools.json()).toEqual({
      tools: [
        { name: 'a__add', inputSchema, 'x-new': 1 },
        { name: 'b__add', inputSchema, 'x-new': 1 },
      ],
    })
    expect((await post('prompts/list', {})).json()).toEqual({ prompts: [{ name: 'a__greet' }] })
    expect((await post('resources/list', {})).json()).toMatchObject({
      resources: [
        { uri: 'mem://one' },
        { uri: 'mcp://a/mem%3A%2F%2Fboth' },
        { uri: 'mcp://b/mem%3A%2F%2Fboth' },
      ],
    })
    expect((await post('resources/templates/list', {})).json()).toEqual({
      resourceTemplates: [{ uriTemplate: 'mem://{id}/x', name: 'x' }],
    })
  })

  test('is asked at its server by its name there, and answers with all that it has', async () => {
    const response = await post('tools/call', { name: 'b__add', arguments: { a: [1] } })
    expect([response.statusCode, response.json()]).toEqual([200, { content: [], 'x-new': 1 }])
    await post('prompts/get', { name: 'a__greet', arguments: { who: 'Ann' } })
    await post('resources/read', { uri: 'mcp://b/mem%3A%2F%2Fboth' })
    await post('resources/read', { uri: 'mem://7/x' })
    expect(asked).toMatchObject([
      {
        server: 'b',
        request: {
          method: 'tools/call',
          params: { name: 'add', arguments: { a: [1] } },
          isOwn: true,
        },
      },
      {
        server: 'a',
        request: { method: 'prompts/get', params: { name: 'greet', arguments: { who: 'Ann' } } },
      },
      { server: 'b', request: { method: 'resources/read', params: { uri: 'mem://both' } } },
      { server: 'a', request: { method: 'resources/read', params: { uri: 'mem://7/x' } } },
    ])
    expect(asked.map(({ request }) => request.era)).toEqual(Array(4).fill('legacy'))
  })

  test('is asked with the priority and the retries that its caller wants', async () => {
    const options = { priority: 'low', retry: { maxRetries: 1, isSafeToRepeat: true } }
    await post('tools/call', { name: 'b__add', ...options, timeoutMs: 9000 })
    expect(asked[0]?.request.params).toEqual({
      name: 'add',
      _meta: { 'mcp-host/options': options },
    })
  })

  test('may be a tool that failed: it has answered', async () => {
    answer = () => result({ content: [{ type: 'text', text: 'no such file' }], isError: true })
    const response = await post('tools/call', { name: 'a__add' })
    expect([response.statusCode, response.json().isError]).toEqual([200, true])
  })
})

describe('a request is refused with 400 and the name of the field', () => {
  test.each<[string, string, object | string, string | undefined, string]>([
    ['without a name', 'tools/call', {}, 'name', 'name: Invalid input'],
    ['with an empty name', 'prompts/get', { name: '' }, 'name', 'name: Too small'],
    ['with a URI that is none', 'resources/read', { uri: 7 }, 'uri', 'uri: Invalid input'],
    [
      'with arguments that are no object',
      'tools/call',
      { name: 'a__add', arguments: [1] },
      'arguments',
      'expected record',
    ],
    [
      'with an argument of a prompt that is no text',
      'prompts/get',
      { name: 'a__greet', arguments: { who: 1 } },
      'arguments.who',
      'expected string',
    ],
    [
      'with more retries than there may be',
      'resources/read',
      { uri: 'mem://one', retry: { maxRetries: 11 } },
      'retry.maxRetries',
      'retry.maxRetries: Too big',
    ],
    [
      'with a time that is none',
      'tools/call',
      { name: 'a__add', timeoutMs: 0 },
      'timeoutMs',
      'Too small',
    ],
    ['with a cursor that leads nowhere', 'tools/list', { cursor: 'x' }, 'cursor', 'begin without'],
    ['with a body that is no JSON', 'tools/call', '{"name"', undefined, 'body: not JSON'],
    [
      'with a URI that several servers have',
      'resources/read',
      { uri: 'mem://both' },
      'uri',
      'ask for one, as mcp://a/',
    ],
    [
      'with arguments that nobody can write down again',
      'tools/call',
      `{"name":"a__add","arguments":{"a":${'['.repeat(10_000)}${']'.repeat(10_000)}}}`,
      undefined,
      'body: is nested more than 256 levels deep',
    ],
  ])('%s', async (_, path, body, field, words) => {
    const response = await post(path, body)
    expect([response.statusCode, response.json()]).toEqual([
      400,
      {
        error: {
          code: 'invalid',
          message: expect.stringContaining(words),
          ...(field === undefined ? {} : { field }),
        },
      },
    ])
    expect(asked).toEqual([])
  })
})

test('arguments that are longer when they are written anew are too large', async () => {
  const numbers = Array(600_000).fill('1e20').join()
  const response = await post('tools/call', `{"name":"a__add","arguments":{"a":[${numbers}]}}`)
  expect([response.statusCode, response.json().error.field]).toEqual([413, 'arguments'])
  expect(asked).toEqual([])
})

describe('what is not there', () => {
  test.each<[string, object, string, string]>([
    ['tools/call', { name: 'a__nope' }, 'name', 'there is no tool "a__nope"; POST /mcp/tools/list'],
    ['prompts/get', { name: 'b__x' }, 'name', 'there is no prompt "b__x"; POST /mcp/prompts/list'],
    ['resources/read', { uri: 'mcp://a/%' }, 'uri', 'is no resource "mcp://a/%"; POST /mcp/'],
  ])('is told by %s with 404 and where to look', async (path, body, field, words) => {
    const response = await post(path, body)
    expect([response.statusCode, response.json().error]).toEqual([
      404,
      { code: 'not-found', field, message: expect.stringContaining(words) },
    ])
    expect(asked).toEqual([])
  })

  test('is asked of all servers that may have it before it is told with 404', async () => {
    const code = -32_002
    answer = () => ({ ...error({ code, message: 'no such resource' }), code })
    const response = await post('resources/read', { uri: 'x://y' })
    expect([response.statusCode, response.json().error]).toEqual([
      404,
      { code: 'not-found', field: 'uri', message: 'uri: there is no resource "x://y"' },
    ])
    expect(asked.map(({ server }) => server)).toEqual(['a', 'b'])
  })

  test('may only be so because its server is not ready: 503', async () => {
    const response = await post('tools/call', { name: 'c__add' })
    expect([response.statusCode, response.headers['retry-after'], response.json().error]).toEqual([
      503,
      '1',
      {
        code: 'unavailable',
        server: 'c',
        message: 'the server "c" is unavailable: it ended',
      },
    ])
  })
})

describe('a failure on the way has its status', () => {
  const thrown = (code: number, data: object) => (): never => {
    throw new JsonRpcError(code, 'words', { data: { server: 'a', ...data } })
  }
  const said = (code: number, data?: object) => (): ForwardedReply =>
    error({ code, message: 'words', ...(data === undefined ? {} : { data }) })
  const own = (code: number, data: object) => said(code, { server: 'a', ...data })
  const upstream = (code: number): object => ({ upstream: { code, message: 'words' } })

  test.each<[string, () => ForwardedReply, number, object, string?]>([
    [
      'nobody has the server',
      thrown(JsonRpcCode.unavailable, { reason: 'unavailable', retryable: true }),
      503,
      { code: 'unavailable', server: 'a' },
      '1',
    ],
    [
      'its supervisor went away',
      thrown(JsonRpcCode.unavailable, { reason: 'unknown-outcome', retryable: false }),
      502,
      { code: 'upstream', server: 'a', reason: 'unknown-outcome' },
    ],
    [
      'the server itself went away',
      own(JsonRpcCode.unavailable, { reason: 'unknown-outcome', retryable: false }),
      502,
      { code: 'upstream', server: 'a', reason: 'unknown-outcome' },
    ],
    ['a fault of the host', thrown(JsonRpcCode.internal, {}), 500, { code: 'internal' }],
    [
      'the server is not ready',
      own(JsonRpcCode.unavailable, { reason: 'server-unavailable' }),
      503,
      { code: 'unavailable', server: 'a' },
      '1',
    ],
    [
      'the server cannot be started',
      own(JsonRpcCode.unavailable, { reason: 'server-startup' }),
      503,
      { code: 'unavailable', server: 'a' },
      '1',
    ],
    [
      'it failed too often',
      own(JsonRpcCode.unavailable, { reason: 'server-unavailable', retryAfterMs: 29_500.4 }),
      503,
      { code: 'unavailable', server: 'a', retryAfterMs: 29_501 },
      '30',
    ],
    [
      'it took too long',
      own(JsonRpcCode.timedOut, { reason: 'timeout' }),
      504,
      { code: 'deadline', server: 'a' },
    ],
    [
      'it answered what the protocol does not have',
      own(JsonRpcCode.internal, { reason: 'protocol' }),
      502,
      { code: 'upstream', server: 'a' },
    ],
    [
      'it refuses the arguments',
      said(JsonRpcCode.invalidParams),
      400,
      { code: 'invalid', field: 'arguments', server: 'a', ...upstream(JsonRpcCode.invalidParams) },
    ],
    [
      'it fails',
      said(JsonRpcCode.internal),
      502,
      { code: 'upstream', server: 'a', ...upstream(JsonRpcCode.internal) },
    ],
    [
      'it cannot do that',
      said(JsonRpcCode.methodNotFound),
      502,
      { code: 'upstream', server: 'a', ...upstream(JsonRpcCode.methodNotFound) },
    ],
    [
      'it has an error of its own, whose code we use otherwise',
      said(JsonRpcCode.timedOut, { server: 'other', reason: 'timeout' }),
      502,
      {
        code: 'upstream',
        server: 'a',
        upstream: { code: JsonRpcCode.timedOut, data: { server: 'other', reason: 'timeout' } },
      },
    ],
  ])('%s', async (_, fails, status, expected, retryAfter) => {
    answer = fails
    const response = await post('tools/call', { name: 'a__add' })
    expect(response.statusCode).toBe(status)
    expect(response.json().error).toMatchObject(expected)
    expect(response.json().error.message).toContain('words')
    expect(response.headers['retry-after']).toBe(retryAfter)
    // Only what is known is said.
    const told = Object.keys(response.json().error).filter((key) => key !== 'message')
    expect(told.toSorted()).toEqual(Object.keys(expected).toSorted())
  })

  test('arguments that the schema of a tool refuses, which its server never saw: 400', async () => {
    const content = [{ type: 'text', text: 'a.add: "b" is required' }]
    answer = () => ({ ...result({ content, isError: true }), isRefused: true })
    const response = await post('tools/call', { name: 'a__add', arguments: {} })
    const message = 'arguments: a.add: "b" is required'
    const failure = { code: 'invalid', message, field: 'arguments', server: 'a' }
    expect([response.statusCode, response.json()]).toEqual([400, { error: failure }])
  })

  test.each([
    ['as older servers say it', JsonRpcCode.resourceNotFound],
    ['as newer servers and most libraries say it', JsonRpcCode.invalidParams],
  ])('a resource that its server does not have, %s: 404', async (_, code) => {
    answer = said(code)
    const response = await post('resources/read', { uri: 'mem://7/x' })
    expect([response.statusCode, response.json().error]).toMatchObject([
      404,
      { code: 'not-found', field: 'uri', server: 'a', upstream: { code } },
    ])
  })
})

/** Never answers; rejects as the bus does when its signal aborts. */
function never({ signal }: ForwardedRequest): Promise<ForwardedReply> {
  return new Promise((_, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason as Error))
  })
}

test('who does not want to wait any longer is answered 504, and the request is cancelled', async () => {
  answer = never
  const response = await post('tools/call', { name: 'a__add', timeoutMs: 20 })
  expect([response.statusCode, response.json().error]).toMatchObject([
    504,
    { code: 'deadline', field: 'timeoutMs', reason: 'unknown-outcome' },
  ])
  expect(asked[0]?.request.signal?.aborted).toBe(true)
  expect(asked[0]?.request.params).toEqual({ name: 'add' })
})

test('what a caller leaves is cancelled; until then it is waited for', async () => {
  answer = never
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const caller = new AbortController()
  const left = fetch(`${url}/mcp/tools/call`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'a__add' }),
    signal: caller.signal,
  })
  await expect.poll(() => asked.length).toBe(1)
  expect(passing.count).toBe(1)
  caller.abort()
  await expect(left).rejects.toThrow()
  await expect.poll(() => asked[0]?.request.signal?.reason).toBeInstanceOf(BusError)
  expect(passing.count).toBe(0)
})

describe('the capabilities', () => {
  const get = (headers: Record<string, string> = {}): Promise<LightMyRequestResponse> =>
    app.inject({ method: 'GET', url: '/capabilities', headers })

  test('say what there is, by name', async () => {
    const response = await get()
    expect([response.statusCode, response.headers['cache-control']]).toEqual([200, 'no-cache'])
    expect(response.json()).toEqual({
      protocolVersions: ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'],
      model: 'demo/one',
      servers: [
        { server: 'a', state: 'ready', tools: 1, prompts: 1, resources: 2, resourceTemplates: 1 },
        {
          server: 'b',
          state: 'ready',
          scope: 'session',
          tools: 1,
          prompts: 0,
          resources: 1,
          resourceTemplates: 0,
        },
        {
          server: 'c',
          state: 'unavailable',
          error: 'it ended',
          tools: 0,
          prompts: 0,
          resources: 0,
          resourceTemplates: 0,
        },
      ],
      tools: ['a__add', 'b__add'],
      prompts: ['a__greet'],
      resources: ['mem://one', 'mcp://a/mem%3A%2F%2Fboth', 'mcp://b/mem%3A%2F%2Fboth'],
      resourceTemplates: ['mem://{id}/x'],
      limits: { maxRequestBytes: 8 * 1024 * 1024, maxTimeoutMs: 3_600_000 },
    })
  })

  test('are not sent again to who has them, until they change', async () => {
    const { etag = '' } = (await get()).headers
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`]) {
      const response = await get({ 'if-none-match': known })
      expect([response.statusCode, response.body, response.headers['etag']]).toEqual([
        304,
        '',
        etag,
      ])
    }
    entries.set('server.c.s', entry('c', { revision: 2 }))
    expect((await get({ 'if-none-match': etag })).statusCode).toBe(200)
  })
})
