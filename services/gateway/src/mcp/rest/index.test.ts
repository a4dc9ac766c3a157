import type { CatalogEntry, Principal, ServerEntry, ServerName } from '@mcp-host/contracts'
import { approvalRule, BusError, catalogKey, LOCAL } from '@mcp-host/contracts'
import { InFlight } from '@mcp-host/async'
import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import { fastify } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { replyError } from '../../edge/error-reply.ts'
import { BodyReader } from '../../edge/body-reader.ts'
import { readBodies } from '../../edge/read-bodies.ts'
import { ApprovalQueue } from '../../approvals/approval-queue.ts'
import { addApprovalRoutes } from '../../approvals/approval-routes.ts'
import { GatewayAudit } from '../../gateway-audit.ts'
import { FakeBus } from '../../http/__fixtures__/fake-bus.ts'
import { UNLIMITED } from '../../limits/unlimited.ts'
import { JsonRpcCode } from '@mcp-host/mcp'
import {
  AccessPolicy,
  type ServerReply,
  type OutgoingRequest,
  JsonRpcError,
} from '@mcp-host/mcp-endpoint'
import { nothing } from '@mcp-host/mcp-endpoint/testing'
import { VirtualServers } from '../virtual-servers.ts'
import { addRestRoutes } from './index.ts'

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

interface Sent {
  readonly server: string
  readonly request: OutgoingRequest
}

let sent: Sent[]
let answer: (request: OutgoingRequest) => Promise<ServerReply> | ServerReply
let passing: InFlight
let bodies: BodyReader
let rules: string[]
let entries: Map<string, CatalogEntry>
let app: FastifyInstance
let principal: Principal
const JSON_TYPE = { 'content-type': 'application/json' }
beforeEach(() => {
  principal = LOCAL
  sent = []
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
    limits: UNLIMITED,
    queue: new ApprovalQueue(
      { bus: new FakeBus().asBus(), audit: new GatewayAudit(undefined) },
      { timeoutMs: 60_000 },
    ),
    policy: new AccessPolicy({ needsApproval: (...call) => approvalRule(rules)(...call) }),
    models: () => ({ providers: [], default: { provider: 'demo', model: 'one' } }),
    servers: {
      resume: () => Promise.reject(new Error('no request is resumable')),
      answer: () => undefined,
      tell: () => undefined,
      watch: () => nothing,
      listen: () => nothing,
      onLog: () => nothing,
      async send(server: string, request: OutgoingRequest) {
        sent.push({ server, request })
        return answer(request)
      },
    },
  }
  app.decorateRequest('principal')
  app.addHook('onRequest', async (request) => {
    request.principal = principal
  })
  const api = app.withTypeProvider<ZodTypeProvider>()
  addRestRoutes(api, deps)
  addApprovalRoutes(api, deps)
})
afterEach(async () => {
  await app.close()
})

const result = (value: object): ServerReply => ({
  type: 'result',
  json: bytes.encode(JSON.stringify(value)),
})
const error = (value: object): ServerReply => ({
  type: 'error',
  json: bytes.encode(JSON.stringify(value)),
})

async function post(path: string, payload?: object | string): Promise<LightMyRequestResponse> {
  const headers = { 'content-type': 'application/json' }
  const body = payload === undefined ? {} : { headers, payload }
  return app.inject({ method: 'POST', url: `/mcp/${path}`, ...body })
}

describe('a call that needs an approval', () => {
  const call = { name: 'b__add', arguments: { x: 1, y: { a: 1, b: 2 } } }
  const as = async (id: string): Promise<void> => {
    principal = { ...LOCAL, id, roles: ['user'] }
  }
  const decide = (id: string, action: string) =>
    app.inject({ method: 'POST', url: `/approvals/${id}`, payload: { action }, headers: JSON_TYPE })
  const get = (path: string) => app.inject({ method: 'GET', url: path })

  beforeEach(async () => {
    rules = ['b.*']
    await as('user:ann')
  })

  async function ask(): Promise<string> {
    const response = await post('tools/call', call)
    expect(response.statusCode).toBe(409)
    return response.json().error.approval.id
  }

  test('waits in the queue, once, with its arguments and their hash', async () => {
    const response = await post('tools/call', call)
    const { error: fault } = response.json()
    expect(fault).toMatchObject({
      code: 'conflict',
      reason: 'approval-required',
      field: 'name',
      server: 'b',
      message: expect.stringContaining(fault.approval.path),
    })
    expect(await ask()).toBe(fault.approval.id)
    const { approvals } = (await get('/approvals')).json()
    expect(approvals).toMatchObject([
      { server: 'b', tool: 'add', arguments: call.arguments, state: 'pending' },
    ])
    expect(approvals[0].hash).toMatch(/^[0-9a-f]{64}$/)
    expect(sent).toEqual([])
    expect((await post('resources/read', { uri: 'mcp://b/mem%3A%2F%2Fboth' })).statusCode).toBe(200)
  })

  test('runs once after it was allowed, whatever the order of its arguments', async () => {
    const id = await ask()
    expect((await post('tools/call', { ...call, approval: id })).statusCode).toBe(409)
    expect((await decide(id, 'accept')).statusCode).toBe(204)
    const reordered = { y: { b: 2, a: 1 }, x: 1 }
    const again = { ...call, arguments: reordered, approval: id }
    const both = await Promise.all([post('tools/call', again), post('tools/call', again)])
    const statuses = both.map(({ statusCode }) => statusCode)
    expect(statuses.toSorted((one, other) => one - other)).toEqual([200, 409])
    expect((await post('tools/call', again)).statusCode).toBe(409)
    expect(sent).toMatchObject([{ request: { params: { arguments: reordered } } }])
    expect(sent[0]?.request.params).not.toHaveProperty('approval')
    expect((await decide(id, 'decline')).statusCode).toBe(409)
  })

  test('does not run with other arguments, or once it was refused', async () => {
    const id = await ask()
    await decide(id, 'accept')
    const other = await post('tools/call', { ...call, arguments: { x: 2 }, approval: id })
    expect([other.statusCode, other.json().error.field]).toEqual([409, 'approval'])
    const refused = await post('tools/call', { ...call, arguments: {} })
    const { id: second } = refused.json().error.approval
    await decide(second, 'decline')
    const again = await post('tools/call', { ...call, arguments: {}, approval: second })
    expect([again.statusCode, again.json().error.code]).toEqual([403, 'denied'])
    expect(sent).toEqual([])
  })

  test('reads as not found to other principals, and is seen by admins', async () => {
    const id = await ask()
    await as('user:bob')
    expect((await get(`/approvals/${id}`)).statusCode).toBe(404)
    expect((await decide(id, 'accept')).statusCode).toBe(404)
    expect((await post('tools/call', { ...call, approval: id })).statusCode).toBe(404)
    expect((await get('/approvals')).json()).toEqual({ approvals: [] })
    principal = LOCAL
    expect((await get('/approvals')).json().approvals).toHaveLength(1)
    expect((await decide(id, 'accept')).statusCode).toBe(204)
    // The approval is of its own principal's call.
    expect((await post('tools/call', { ...call, approval: id })).statusCode).toBe(404)
    await as('user:ann')
    expect((await post('tools/call', { ...call, approval: id })).statusCode).toBe(200)
  })

  test('is not found after its time', async () => {
    const id = await ask()
    await decide(id, 'accept')
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 })
    try {
      expect((await post('tools/call', { ...call, approval: id })).statusCode).toBe(404)
      expect((await get('/approvals')).json()).toEqual({ approvals: [] })
    } finally {
      vi.useRealTimers()
    }
  })

  test('waits with at most 49 others of its principal', async () => {
    for (let x = 0; x < 50; x++) await post('tools/call', { ...call, arguments: { x } })
    expect((await post('tools/call', call)).statusCode).toBe(429)
    await as('user:bob')
    await ask()
  })
})

describe('listed items', () => {
  test('items are listed as in MCP without the JSON-RPC envelope', async () => {
    const tools = await post('tools/list')
    expect(tools.statusCode).toBe(200)
    expect(tools.headers).toMatchObject({
      'content-type': expect.stringContaining('application/json'),
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

  test('requests are routed to servers by name, and results returned unchanged', async () => {
    const response = await post('tools/call', { name: 'b__add', arguments: { a: [1] } })
    expect([response.statusCode, response.json()]).toEqual([200, { content: [], 'x-new': 1 }])
    await post('prompts/get', { name: 'a__greet', arguments: { who: 'Ann' } })
    await post('resources/read', { uri: 'mcp://b/mem%3A%2F%2Fboth' })
    await post('resources/read', { uri: 'mem://7/x' })
    expect(sent).toMatchObject([
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
    expect(sent.map(({ request }) => request.era)).toEqual(Array(4).fill('legacy'))
  })

  test('priority and retries of a request are sent as its options', async () => {
    const options = { priority: 'low', retry: { maxRetries: 1, isSafeToRepeat: true } }
    await post('tools/call', { name: 'b__add', ...options, timeoutMs: 9000 })
    expect(sent[0]?.request.params).toEqual({
      name: 'add',
      _meta: { 'mcp-host/options': options },
    })
  })

  test('a result with isError is answered with 200', async () => {
    answer = () => result({ content: [{ type: 'text', text: 'no such file' }], isError: true })
    const response = await post('tools/call', { name: 'a__add' })
    expect([response.statusCode, response.json().isError]).toEqual([200, true])
  })
})

describe('items of one server', () => {
  test('are listed under their own names', async () => {
    const tools = await post('tools/list', { server: 'b' })
    expect(tools.json()).toEqual({ tools: [{ name: 'add', inputSchema, 'x-new': 1 }] })
    const { resources } = (await post('resources/list', { server: 'a' })).json()
    expect(resources).toMatchObject([{ uri: 'mem://one' }, { uri: 'mem://both' }])
  })

  test('are called and read there, and at no other server', async () => {
    await post('tools/call', { server: 'b', name: 'add' })
    await post('resources/read', { server: 'b', uri: 'mem://both' })
    // Other servers have it; of this one nothing is known.
    await post('resources/read', { server: 'b', uri: 'mem://one' })
    expect(sent).toMatchObject([
      { server: 'b', request: { params: { name: 'add' } } },
      { server: 'b', request: { params: { uri: 'mem://both' } } },
      { server: 'b', request: { params: { uri: 'mem://one' } } },
    ])
    for (const { request } of sent) expect(request.params).not.toHaveProperty('server')
  })

  test.each(['a__add', 'a.add', 'a.b__add'])('do not include %s of another one', async (name) => {
    const response = await post('tools/call', { server: 'b', name })
    expect([response.statusCode, response.json().error.field]).toEqual([404, 'name'])
    expect(sent).toEqual([])
  })

  test('include no resource that is named with another one', async () => {
    await post('resources/read', { server: 'b', uri: 'mcp://a/mem%3A%2F%2Fone' })
    expect(sent.filter(({ server }) => server !== 'b')).toEqual([])
  })

  test('need the approvals that they need under their joined names', async () => {
    rules = ['b.*']
    expect((await post('tools/call', { server: 'b', name: 'add' })).statusCode).toBe(409)
    expect(sent).toEqual([])
  })

  test.each(['tools/list', 'tools/call', 'resources/read'])(
    'are not found by %s without the server',
    async (path) => {
      const body = { server: 'nope', name: 'add', uri: 'mem://one' }
      const response = await post(path, body)
      expect([response.statusCode, response.json().error]).toEqual([
        404,
        {
          code: 'not-found',
          field: 'server',
          message: expect.stringContaining('there is no server "nope"; GET /capabilities'),
        },
      ])
    },
  )

  test('of a server that is not ready are answered with 503', async () => {
    const response = await post('tools/call', { server: 'c', name: 'add' })
    expect([response.statusCode, response.json().error.server]).toEqual([503, 'c'])
  })
})

describe('invalid requests', () => {
  test.each<[string, string, object | string, string | undefined, string]>([
    ['without a name', 'tools/call', {}, 'name', 'name: Invalid input'],
    ['with an empty name', 'prompts/get', { name: '' }, 'name', 'name: Too small'],
    ['with an invalid URI', 'resources/read', { uri: 7 }, 'uri', 'uri: Invalid input'],
    [
      'with arguments that are not an object',
      'tools/call',
      { name: 'a__add', arguments: [1] },
      'arguments',
      'must be an object',
    ],
    [
      'with an argument of a prompt that is not a string',
      'prompts/get',
      { name: 'a__greet', arguments: { who: 1 } },
      'arguments.who',
      'expected string',
    ],
    [
      'with too many retries',
      'resources/read',
      { uri: 'mem://one', retry: { maxRetries: 11 } },
      'retry.maxRetries',
      'retry.maxRetries: Too big',
    ],
    [
      'with an invalid time limit',
      'tools/call',
      { name: 'a__add', timeoutMs: 0 },
      'timeoutMs',
      'Too small',
    ],
    ['with an unknown cursor', 'tools/list', { cursor: 'x' }, 'cursor', 'begin without'],
    ['with a body that is not JSON', 'tools/call', '{"name"', undefined, 'body: not JSON'],
    [
      'with a URI that several servers have',
      'resources/read',
      { uri: 'mem://both' },
      'uri',
      'name one, as in mcp://a/',
    ],
    [
      'with arguments that are nested too deep',
      'tools/call',
      `{"name":"a__add","arguments":{"a":${'['.repeat(10_000)}${']'.repeat(10_000)}}}`,
      undefined,
      'body: is nested more than 256 levels deep',
    ],
  ])('a request %s is refused with 400 and its field', async (_, path, body, field, reason) => {
    const response = await post(path, body)
    expect([response.statusCode, response.json()]).toEqual([
      400,
      {
        error: {
          code: 'invalid',
          message: expect.stringContaining(reason),
          ...(field === undefined ? {} : { field }),
        },
      },
    ])
    expect(sent).toEqual([])
  })
})

test('arguments that are too large when serialized are refused', async () => {
  const numbers = Array(450_000).fill('1e20').join()
  const response = await post('tools/call', `{"name":"a__add","arguments":{"a":[${numbers}]}}`)
  expect([response.statusCode, response.json().error.field]).toEqual([413, 'arguments'])
  expect(sent).toEqual([])
})

describe('unknown items', () => {
  test.each<[string, object, string, string]>([
    ['tools/call', { name: 'a__nope' }, 'name', 'there is no tool "a__nope"; POST /mcp/tools/list'],
    ['prompts/get', { name: 'b__x' }, 'name', 'there is no prompt "b__x"; POST /mcp/prompts/list'],
    ['resources/read', { uri: 'mcp://a/%' }, 'uri', 'is no resource "mcp://a/%"; POST /mcp/'],
  ])(
    'an unknown item of %s is answered with 404 and the route that lists it',
    async (path, body, field, reason) => {
      const response = await post(path, body)
      expect([response.statusCode, response.json().error]).toEqual([
        404,
        { code: 'not-found', field, message: expect.stringContaining(reason) },
      ])
      expect(sent).toEqual([])
    },
  )

  test('an unlisted resource is read at all servers before 404', async () => {
    const code = -32_002
    answer = () => ({ ...error({ code, message: 'no such resource' }), code })
    const response = await post('resources/read', { uri: 'x://y' })
    expect([response.statusCode, response.json().error]).toEqual([
      404,
      { code: 'not-found', field: 'uri', message: 'uri: there is no resource "x://y"' },
    ])
    expect(sent.map(({ server }) => server)).toEqual(['a', 'b'])
  })

  test('a tool of a server that is not ready is answered with 503', async () => {
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

describe('failures of requests', () => {
  const thrown = (code: number, data: object) => (): never => {
    throw new JsonRpcError(code, 'the reason', { data: { server: 'a', ...data } })
  }
  const failing = (code: number, data?: object) => (): ServerReply =>
    error({ code, message: 'the reason', ...(data === undefined ? {} : { data }) })
  const own = (code: number, data: object) => failing(code, { server: 'a', ...data })
  const upstream = (code: number): object => ({ upstream: { code, message: 'the reason' } })

  test.each<[string, () => ServerReply, number, object, string?]>([
    [
      'no supervisor serves the server',
      thrown(JsonRpcCode.unavailable, { reason: 'unavailable', retryable: true }),
      503,
      { code: 'unavailable', server: 'a' },
      '1',
    ],
    [
      'the supervisor dies',
      thrown(JsonRpcCode.unavailable, { reason: 'unknown-outcome', retryable: false }),
      502,
      { code: 'upstream', server: 'a', reason: 'unknown-outcome' },
    ],
    [
      'the server dies',
      own(JsonRpcCode.unavailable, { reason: 'unknown-outcome', retryable: false }),
      502,
      { code: 'upstream', server: 'a', reason: 'unknown-outcome' },
    ],
    ['the host has an internal error', thrown(JsonRpcCode.internal, {}), 500, { code: 'internal' }],
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
      'the circuit of the server is open',
      own(JsonRpcCode.unavailable, { reason: 'server-unavailable', retryAfterMs: 29_500.4 }),
      503,
      { code: 'unavailable', server: 'a', retryAfterMs: 29_501 },
      '30',
    ],
    [
      'the server takes too long',
      own(JsonRpcCode.timedOut, { reason: 'timeout' }),
      504,
      { code: 'deadline', server: 'a' },
    ],
    [
      'the server violates the protocol',
      own(JsonRpcCode.internal, { reason: 'protocol' }),
      502,
      { code: 'upstream', server: 'a' },
    ],
    [
      'the server refuses the arguments',
      failing(JsonRpcCode.invalidParams),
      400,
      { code: 'invalid', field: 'arguments', server: 'a', ...upstream(JsonRpcCode.invalidParams) },
    ],
    [
      'the server fails',
      failing(JsonRpcCode.internal),
      502,
      { code: 'upstream', server: 'a', ...upstream(JsonRpcCode.internal) },
    ],
    [
      'the server does not know the method',
      failing(JsonRpcCode.methodNotFound),
      502,
      { code: 'upstream', server: 'a', ...upstream(JsonRpcCode.methodNotFound) },
    ],
    [
      'the server uses a code of the host for an error of its own',
      failing(JsonRpcCode.timedOut, { server: 'other', reason: 'timeout' }),
      502,
      {
        code: 'upstream',
        server: 'a',
        upstream: { code: JsonRpcCode.timedOut, data: { server: 'other', reason: 'timeout' } },
      },
    ],
  ])(
    'a request has the expected status when %s',
    async (_, fails, status, expected, retryAfter) => {
      answer = fails
      const response = await post('tools/call', { name: 'a__add' })
      expect(response.statusCode).toBe(status)
      expect(response.json().error).toMatchObject(expected)
      expect(response.json().error.message).toContain('the reason')
      expect(response.headers['retry-after']).toBe(retryAfter)
      // The error has no other fields.
      const fields = Object.keys(response.json().error).filter((key) => key !== 'message')
      expect(fields.toSorted()).toEqual(Object.keys(expected).toSorted())
    },
  )

  test('arguments that violate the schema of a tool are answered with 400', async () => {
    const content = [{ type: 'text', text: 'a.add: "b" is required' }]
    answer = () => ({ ...result({ content, isError: true }), isRefused: true })
    const response = await post('tools/call', { name: 'a__add', arguments: {} })
    const message = 'arguments: a.add: "b" is required'
    const failure = { code: 'invalid', message, field: 'arguments', server: 'a' }
    expect([response.statusCode, response.json()]).toEqual([400, { error: failure }])
  })

  test.each([
    ['with the code of legacy servers', JsonRpcCode.resourceNotFound],
    ['with the code of modern servers', JsonRpcCode.invalidParams],
  ])('a resource that its server reports as unknown %s is answered with 404', async (_, code) => {
    answer = failing(code)
    const response = await post('resources/read', { uri: 'mem://7/x' })
    expect([response.statusCode, response.json().error]).toMatchObject([
      404,
      { code: 'not-found', field: 'uri', server: 'a', upstream: { code } },
    ])
  })
})

/** Never answers; rejects as the bus does when its signal aborts. */
function never({ signal }: OutgoingRequest): Promise<ServerReply> {
  return new Promise((_, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason as Error))
  })
}

test('a request beyond its timeoutMs is cancelled and answered with 504', async () => {
  answer = never
  const response = await post('tools/call', { name: 'a__add', timeoutMs: 20 })
  expect([response.statusCode, response.json().error]).toMatchObject([
    504,
    { code: 'deadline', field: 'timeoutMs', reason: 'unknown-outcome' },
  ])
  expect(sent[0]?.request.signal?.aborted).toBe(true)
  expect(sent[0]?.request.params).toEqual({ name: 'add' })
})

test('a request is in flight until its caller leaves, then cancelled', async () => {
  answer = never
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const caller = new AbortController()
  const left = fetch(`${url}/mcp/tools/call`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'a__add' }),
    signal: caller.signal,
  })
  await expect.poll(() => sent.length).toBe(1)
  expect(passing.count).toBe(1)
  caller.abort()
  await expect(left).rejects.toThrow()
  await expect.poll(() => sent[0]?.request.signal?.reason).toBeInstanceOf(BusError)
  expect(passing.count).toBe(0)
})

describe('capabilities', () => {
  const get = (headers: Record<string, string> = {}): Promise<LightMyRequestResponse> =>
    app.inject({ method: 'GET', url: '/capabilities', headers })

  test('the capabilities list servers, items and limits', async () => {
    const response = await get()
    expect([response.statusCode, response.headers['cache-control']]).toEqual([
      200,
      'private, no-cache',
    ])
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

  test('unchanged capabilities are answered with 304', async () => {
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
