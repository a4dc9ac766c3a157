import { classify, JsonRpcError } from '@mcp-host/mcp-endpoint'
import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MCP_METHODS } from '../services/gateway/src/events.ts'
import type { FakeGateway } from '../services/gateway/src/http/__fixtures__/start-fake-gateway.ts'
import { startFakeGateway } from '../services/gateway/src/http/__fixtures__/start-fake-gateway.ts'
import { anyJson, anyText, bytesLike, nearly } from './arbitraries.ts'

let gateway: FakeGateway
beforeAll(async () => {
  gateway = await startFakeGateway()
})
afterAll(() => gateway[Symbol.asyncDispose]())

/** An answer that takes longer hangs. The first one may wait until the process has recovered from the test before. */
const READ_LIMIT_MS = 9_000
const MODERN = '2026-07-28'

const meta = {
  'io.modelcontextprotocol/protocolVersion': MODERN,
  'io.modelcontextprotocol/clientInfo': { name: 'fuzz', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

const method = fc.constantFrom(
  ...MCP_METHODS,
  'notifications/initialized',
  'notifications/cancelled',
  'notifications/roots/list_changed',
  'subscriptions/listen',
  'constructor',
  '__proto__',
)

const params = fc.record(
  {
    protocolVersion: fc.constantFrom('2025-06-18', MODERN, '1'),
    capabilities: fc.constantFrom({}, { sampling: {} }),
    clientInfo: fc.constant({ name: 'fuzz', version: '1' }),
    name: fc.constantFrom('a__add', 'a.add', 'a__greet', 'search_tools', 'constructor'),
    uri: fc.constantFrom('mem://one', 'mem://7/x', 'mcp://a/mem%3A%2F%2Fone', 'mcp://a/%'),
    arguments: fc.dictionary(anyText, anyJson),
    cursor: anyText,
    level: fc.constant('info'),
    ref: fc.constant({ type: 'ref/prompt', name: 'a__greet' }),
    argument: fc.constant({ name: 'n', value: '' }),
    requestId: fc.constantFrom(1, 'x'),
    notifications: fc.constant({ toolsListChanged: true }),
    _meta: fc.constantFrom(meta, { progressToken: 1 }, {}),
  },
  { requiredKeys: [] },
)

const message = fc.record(
  {
    jsonrpc: fc.constant('2.0'),
    id: fc.oneof(fc.integer(), anyText),
    method,
    params,
    result: fc.constant({}),
  },
  { requiredKeys: ['jsonrpc', 'method'] },
)

test('a message is classified or refused with a JSON-RPC error', () => {
  const headers = fc.record({
    version: fc.option(fc.constantFrom(MODERN, '2025-06-18', 'x'), { nil: undefined }),
    method: fc.option(method, { nil: undefined }),
    name: fc.option(anyText, { nil: undefined }),
  })
  fc.assert(
    fc.property(nearly(message), fc.option(headers, { nil: undefined }), (value, http) => {
      try {
        classify(value, http)
      } catch (error) {
        expect(error).toBeInstanceOf(JsonRpcError)
        expect((error as JsonRpcError).message).not.toBe('')
      }
    }),
  )
})

test('the endpoint answers every request with JSON-RPC, and keeps serving', async () => {
  const body = bytesLike(
    fc.oneof({ weight: 4, arbitrary: message }, fc.array(message, { maxLength: 3 })),
  )
  const request = fc.record({
    path: fc.constantFrom(
      '/mcp',
      '/mcp',
      '/mcp',
      '/mcp/servers/a',
      '/mcp/servers/%',
      '/mcp/bundles/none',
    ),
    httpMethod: fc.constantFrom('POST', 'POST', 'POST', 'POST', 'DELETE', 'PUT', 'GET'),
    headers: fc.record(
      {
        'content-type': fc.constantFrom('application/json', 'text/plain'),
        'mcp-protocol-version': fc.constantFrom(MODERN, '2025-06-18', 'x'),
        'mcp-session-id': fc.constantFrom('x', `${'0'.repeat(32)}.e30`, `${'0'.repeat(32)}.____`),
        'mcp-method': method,
        'mcp-name': fc.constantFrom('a__add', '=?base64?=', '=?base64?/w==?='),
        'last-event-id': fc.constantFrom('x', 'W10.1', 'WyJhIiwiYSIsImEiLDFd.1', 'end'),
      },
      { requiredKeys: ['content-type'] },
    ),
    body,
  })
  await fc.assert(
    fc.asyncProperty(request, async ({ path, httpMethod, headers, body: bytes }) => {
      const hasBody = httpMethod !== 'GET'
      const signal = AbortSignal.timeout(READ_LIMIT_MS)
      const response = await fetch(`${gateway.url}${path}`, {
        method: httpMethod,
        headers: { accept: 'application/json, text/event-stream', ...headers },
        ...(hasBody ? { body: new Uint8Array(bytes) } : {}),
        signal,
      })
      const { status } = response
      expect(gateway.errors).toEqual([])
      expect(status).not.toBe(500)
      const type = response.headers.get('content-type') ?? ''
      if (type.startsWith('text/event-stream')) {
        await response.body?.cancel()
        return
      }
      const text = await response.text()
      if (text === '') {
        expect([202, 204, 405]).toContain(status)
        return
      }
      const answers = [JSON.parse(text) as unknown].flat()
      for (const answer of answers) {
        expect(answer).toMatchObject(
          status === 200 ? { jsonrpc: '2.0' } : { error: { message: expect.any(String) } },
        )
      }
    }),
  )
  const response = await fetch(`${gateway.url}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'a__add' },
    }),
  })
  expect(await response.json()).toEqual({ jsonrpc: '2.0', id: 1, result: { content: [] } })
})
