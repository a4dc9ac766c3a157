import { once } from 'node:events'
import type { IncomingMessage, Server } from 'node:http'
import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { gunzipSync } from 'node:zlib'
import { buffer } from 'node:stream/consumers'
import type { CatalogEntry, ServerName } from '@mcp-host/contracts'
import { catalogKey, LOCAL } from '@mcp-host/contracts'
import { InFlight } from '@mcp-host/async'
import { eventually } from '@mcp-host/testkit'
import {
  AccessPolicy,
  type ServerReply,
  type OutgoingRequest,
  MAX_REQUEST_BYTES,
  McpEndpoint,
} from '@mcp-host/mcp-endpoint'
import { newSession, noClients, nothing, signSession } from '@mcp-host/mcp-endpoint/testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { GatewayAudit } from '../gateway-audit.ts'
import { UNLIMITED } from '../limits/unlimited.ts'
import { BodyReader } from '../edge/body-reader.ts'
import type { Authenticator } from '../auth/authenticator.ts'
import { openDoor } from '../auth/authenticator.ts'
import { originGuard } from '../edge/origin.ts'
import { McpHttp } from './mcp-http.ts'
import { VirtualServers } from './virtual-servers.ts'

const tool = { name: 'add', inputSchema: { type: 'object' } }
const catalog: readonly CatalogEntry[] = [
  { kind: 'supervisor', id: 's', startedAt: 0, servers: {} },
  {
    kind: 'server',
    server: 'a' as ServerName,
    supervisor: 's',
    state: 'ready',
    tools: [tool],
    revision: 1,
  },
]

let passing: InFlight
let bodies: BodyReader
let draining: AbortController
let refusing: AbortController
/** Answers of clients to server requests. */
let answers: unknown[]
let answer: (request: OutgoingRequest) => Promise<ServerReply> | ServerReply
let server: Server
/** The agent of clients with keep-alive. */
let agent: Agent
let port: number
beforeEach(async () => {
  passing = new InFlight()
  bodies = new BodyReader(undefined, { totalBytes: 2.5 * MAX_REQUEST_BYTES })
  draining = new AbortController()
  refusing = new AbortController()
  answers = []
  answer = () => result({ content: [] })
  const endpoint = new McpEndpoint({
    clients: noClients,
    signSession,
    serverInfo: { name: 'mcp-host', version: '1' },
    servers: {
      send: async (_, asked) => answer(asked),
      resume: () => Promise.reject(new Error('no request is resumable')),
      answer: (...args) => void answers.push(args),
      tell: () => undefined,
      watch: () => nothing,
      listen: () => nothing,
      onLog: () => nothing,
    },
  })
  const entries = new Map(catalog.map((each) => [catalogKey(each), each]))
  const virtualServers = new VirtualServers({ entries, onChange: () => nothing })
  const checkOrigin = originGuard(['https://chat.example.com'])
  const auth: Authenticator = {
    ...openDoor('http://127.0.0.1:3000'),
    authenticate: ({ headers: { authorization: id = LOCAL.id } }) => ({ ...LOCAL, id }),
  }
  const policy = new AccessPolicy()
  const deps = { endpoint, virtualServers, policy, passing, checkOrigin, bodies, auth }
  const signals = {
    draining: draining.signal,
    refusing: refusing.signal,
    limits: UNLIMITED,
    audit: new GatewayAudit(undefined),
    events: { authenticated: () => undefined },
    guard: { watchRequest: () => undefined },
    principals: new WeakMap(),
  }
  const http = new McpHttp({ ...deps, ...signals })
  server = createServer((incoming, response) => {
    if (!http.take(incoming, response)) response.writeHead(418).end('not MCP')
  })
  agent = new Agent({ keepAlive: true })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  ;({ port } = server.address() as AddressInfo)
})
afterEach(() => {
  agent.destroy()
  server.closeAllConnections()
  server.close()
})

const bytes = new TextEncoder()
const result = (value: object): ServerReply => ({
  type: 'result',
  json: bytes.encode(JSON.stringify(value)),
})
const call = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'a__add', arguments: {} },
}
const usual = { host: 'localhost', accept: '*/*', 'content-type': 'application/json' }

interface RequestOptions {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal?: AbortSignal
}

/** Sends a request with `node:http`, because `fetch` sets headers by itself. */
async function ask(
  path: string,
  { method = 'POST', headers = {}, body = '', ...options }: RequestOptions = {},
): Promise<{ status?: number | undefined; headers: object; body: Buffer }> {
  const all = { ...usual, ...headers }
  const outgoing = request({
    host: '127.0.0.1',
    port,
    path,
    method,
    headers: all,
    agent,
    ...options,
  })
  const answered = once(outgoing, 'response')
  outgoing.end(body)
  const [response] = (await answered) as [IncomingMessage]
  return { status: response.statusCode, headers: response.headers, body: await buffer(response) }
}

const post = (body: unknown, headers = {}) => ask('/mcp', { body: JSON.stringify(body), headers })

describe('paths', () => {
  test.each([
    '/mcp',
    '/mcp?x=1',
    '/mcp/',
    '/mcp/?x',
    '/mcp/servers/a',
    '/mcp/servers/%61?x',
    '/mcp/servers/a/',
  ])('the path %s has an MCP server', async (path) => {
    const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })
    const { status, headers, body } = await ask(path, { body: ping })
    expect([status, JSON.parse(String(body))]).toEqual([200, { jsonrpc: '2.0', id: 1, result: {} }])
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'content-length': String(body.length),
    })
  })

  test.each(['/mcp/servers/none', '/mcp/bundles/none'])(
    'the path %s has no MCP server',
    async (path) => {
      const { status, body } = await ask(path, { body: '{}' })
      expect([status, String(body)]).toEqual([404, expect.stringContaining('no such MCP server')])
    },
  )

  test.each([
    '/',
    '/mcpx',
    '/mcp//',
    '/mcp/ws',
    '/mcp/servers',
    '/mcp/servers/a/ws',
    '/mcp/servers/%',
  ])('the path %s is not handled', async (path) => {
    expect(await ask(path)).toMatchObject({ status: 418 })
  })
})

describe('request bodies', () => {
  test('a body may come in several pieces', async () => {
    const text = 'ä'.repeat(300_000)
    let sentParams: unknown
    answer = ({ params }) => {
      sentParams = params
      return result({ content: [] })
    }
    await post({ ...call, params: { name: 'a__add', arguments: { text } } })
    expect(sentParams).toEqual({ name: 'add', arguments: { text } })
  })

  test.each([1, 2 * MAX_REQUEST_BYTES])(
    'a body that is %i bytes too large is refused with the limit on an open connection',
    async (more) => {
      const body = 'x'.repeat(MAX_REQUEST_BYTES + more)
      const answered = await ask('/mcp', { body })
      expect(answered).toMatchObject({ status: 413, headers: { connection: 'keep-alive' } })
      expect(JSON.parse(String(answered.body))).toMatchObject({
        error: { code: 'invalid', message: expect.stringContaining(String(MAX_REQUEST_BYTES)) },
      })
      expect(await post({ jsonrpc: '2.0', id: 1, method: 'ping' })).toMatchObject({ status: 200 })
    },
  )

  test('an endless body is cut off', async () => {
    const socket = connect(port, '127.0.0.1')
    let received = ''
    socket.on('data', (chunk) => (received += String(chunk)))
    // A write to the closed connection emits an error.
    socket.on('error', () => undefined)
    const headers = Object.entries(usual).map((header) => `${header.join(': ')}\r\n`)
    socket.write(`POST /mcp HTTP/1.1\r\n${headers.join('')}transfer-encoding: chunked\r\n\r\n`)
    const chunk = `100000\r\n${'x'.repeat(0x10_00_00)}\r\n`
    let sent = 0
    for (; !socket.destroyed && sent < 100; sent++) {
      if (!socket.write(chunk)) await once(socket, 'drain').catch(() => undefined)
    }
    expect(received).toMatch(/^HTTP\/1.1 413 /)
    expect(sent).toBeLessThan(100)
    socket.destroy()
  })

  test('beyond the memory of all bodies one of the principal that sends most is refused, not the oldest', async () => {
    const begin = (principal: string) => {
      const headers = { ...usual, authorization: principal }
      const outgoing = request({ host: '127.0.0.1', port, path: '/mcp', method: 'POST', headers })
      // Of the event `response`, which Node.js types like any other.
      const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>
      outgoing.write(' '.repeat(0.9 * MAX_REQUEST_BYTES))
      const status = answered.then(([response]) => response.resume().statusCode)
      return {
        principal,
        status,
        end: () => outgoing.end(JSON.stringify({ ...call, method: 'ping' })),
      }
    }
    const isHeld = (count: number) => () => bodies.heldBytes >= count * 0.9 * MAX_REQUEST_BYTES
    const old = begin('ann')
    await eventually(isHeld(1))
    const first = begin('mal')
    await eventually(isHeld(2))
    const second = begin('mal')
    const statuses = [old, first].map(async (each) => [each.principal, await each.status])
    expect(await Promise.race(statuses)).toEqual(['mal', 503])
    first.end()
    for (const each of [old, second]) each.end()
    expect([await old.status, await second.status]).toEqual([200, 200])
  })

  test('a body is not awaited for methods without one', async () => {
    expect(await ask('/mcp', { method: 'PUT' })).toMatchObject({
      status: 405,
      headers: { allow: 'GET, POST, DELETE' },
    })
    // The body of this length is never sent.
    const headers = { 'content-length': '1' }
    expect(await ask('/mcp', { method: 'DELETE', headers })).toMatchObject({ status: 405 })
  })
})

describe('answers', () => {
  const large = { content: [{ type: 'text', text: 'ä'.repeat(8_192) }] }

  test('an answer without a body has the length 0', async () => {
    const notice = { jsonrpc: '2.0', method: 'notifications/initialized' }
    const { status, headers, body } = await post(notice)
    expect([status, body.length]).toEqual([202, 0])
    expect(headers).toMatchObject({ 'content-length': '0' })
  })

  test('a large answer is compressed for a client that accepts it', async () => {
    answer = () => result(large)
    const { headers, body } = await post(call, { 'accept-encoding': 'gzip' })
    expect(headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' })
    expect(JSON.parse(String(gunzipSync(body)))).toMatchObject({ result: large })
    const plain = await post(call)
    expect(plain.headers).not.toHaveProperty('content-encoding')
    expect(JSON.parse(String(plain.body))).toMatchObject({ result: large })
  })

  test('an answer with earlier messages is a stream', async () => {
    answer = ({ listener }) => {
      listener?.onNotice('notifications/progress', '{"progress":1}')
      return result({ content: [] })
    }
    const params = { ...call.params, _meta: { progressToken: 'p' } }
    const { headers, body } = await post({ ...call, params })
    expect(headers).toMatchObject({ 'content-type': 'text/event-stream' })
    expect(String(body).match(/^data: .*$/gm)).toEqual([
      'data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1}}',
      'data: {"jsonrpc":"2.0","id":1,"result":{"content":[]}}',
    ])
  })
})

describe('pages', () => {
  const origin = 'https://chat.example.com'

  test('a page of an allowed origin can read answers, and send a preflight', async () => {
    const { headers } = await post({ jsonrpc: '2.0', id: 1, method: 'ping' }, { origin })
    expect(headers).toMatchObject({ 'access-control-allow-origin': origin, vary: 'Origin' })
    const preflight = { origin, 'access-control-request-method': 'POST' }
    expect(await ask('/mcp', { method: 'OPTIONS', headers: preflight })).toMatchObject({
      status: 204,
      headers: { 'access-control-allow-origin': origin, 'access-control-max-age': '600' },
    })
  })

  test.each([{ origin: 'https://evil.example' }, { host: 'evil.example' }])(
    'a request of a foreign page is refused: %o',
    async (headers) => {
      const refusal = await ask('/mcp', { headers, body: '{}' })
      const { status, body } = refusal
      expect([status, JSON.parse(String(body))]).toMatchObject([403, { error: { code: 'denied' } }])
      expect(refusal.headers).not.toHaveProperty('access-control-allow-origin')
    },
  )
})

test('the request of a client that leaves is aborted', async () => {
  let signal: OutgoingRequest['signal']
  answer = (asked) => {
    ;({ signal } = asked)
    return new Promise((_, reject) => {
      signal?.addEventListener('abort', () => reject(signal?.reason))
    })
  }
  const version = '2026-07-28'
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const headers = {
    'mcp-protocol-version': version,
    'mcp-method': 'tools/call',
    'mcp-name': 'a__add',
  }
  const left = new AbortController()
  const body = JSON.stringify({ ...call, params: { ...call.params, _meta } })
  const reply = ask('/mcp', { body, headers, signal: left.signal })
  await eventually(() => signal !== undefined, { what: 'the request' })
  expect([signal?.aborted, passing.count]).toEqual([false, 1])
  left.abort()
  await expect(reply).rejects.toThrow('aborted')
  await eventually(() => passing.count === 0, { what: 'the end of the request' })
  expect(signal?.aborted).toBe(true)
})

describe('stopping gateways', () => {
  test('a draining gateway answers requests in flight and late ones, and closes their connections', async () => {
    const go = Promise.withResolvers<ServerReply>()
    answer = () => go.promise
    const early = post(call)
    await eventually(() => passing.count === 1, { what: 'the request' })
    draining.abort()
    const late = post(call)
    await eventually(() => passing.count === 2, { what: 'the late request' })
    go.resolve(result({ content: [] }))
    for (const each of [early, late]) {
      expect(await each).toMatchObject({ status: 200, headers: { connection: 'close' } })
    }
  })

  test('a draining gateway closes the connection of a stream at its end', async () => {
    // Without this an idle connection would be closed by its timeout.
    server.keepAliveTimeout = 0
    const go = Promise.withResolvers<ServerReply>()
    answer = ({ listener }) => {
      listener?.onNotice('notifications/progress', '{"progress":1}')
      return go.promise
    }
    const params = { ...call.params, _meta: { progressToken: 'p' } }
    const socket = connect(port, '127.0.0.1')
    const received = buffer(socket)
    const body = JSON.stringify({ ...call, params })
    const headers = Object.entries({ ...usual, 'content-length': body.length })
    const lines = headers.map((header) => `${header.join(': ')}\r\n`).join('')
    socket.write(`POST /mcp HTTP/1.1\r\n${lines}\r\n${body}`)
    await once(socket, 'readable')
    draining.abort()
    go.resolve(result({ content: [] }))
    expect(String(await received)).toMatch(/"result":\{"content":\[\]\}\}\n\n\r\n0\r\n\r\n$/)
  })

  test('a gateway that drains for longer refuses requests in JSON-RPC with Retry-After', async () => {
    draining.abort()
    refusing.abort()
    const { status, headers, body } = await post(call)
    expect(status).toBe(503)
    expect(headers).toMatchObject({ connection: 'close', 'retry-after': '1' })
    expect(JSON.parse(String(body))).toMatchObject({
      id: 1,
      error: { code: -32_000, data: { reason: 'unavailable', retryable: true } },
    })
    expect(await ask('/mcp', { method: 'GET' })).toMatchObject({ status: 503 })
  })

  test('a draining gateway accepts answers and notifications until its end', async () => {
    draining.abort()
    refusing.abort()
    const response = { jsonrpc: '2.0', id: 'a.1', result: { action: 'accept' } }
    expect(await post(response, { 'mcp-session-id': newSession({}) })).toMatchObject({
      status: 202,
    })
    expect(answers).toEqual([['a.1', expect.any(String), response]])
    const notice = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }
    expect(await post(notice)).toMatchObject({ status: 202 })
  })
})
