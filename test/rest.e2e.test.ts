// MCP servers over the REST routes: plain JSON over HTTP with statuses.
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Stack } from '@mcp-host/testkit'
import { eventually, startStack } from '@mcp-host/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'

const inputSchema = { type: 'object', properties: { text: { type: 'string' } } }
const everything = createRequire(import.meta.url).resolve(
  '@modelcontextprotocol/server-everything/package.json',
)

let stack: Stack
beforeAll(async () => {
  stack = await startStack({
    tools: [
      { name: 'echo', inputSchema },
      { name: 'slow', inputSchema, delayMs: 20_000 },
      { name: 'broken', inputSchema, isError: true },
    ],
    servers: {
      // In seconds.
      hasty: { timeout: 0.5 },
      other: {},
      everything: {
        command: process.execPath,
        args: [join(dirname(everything), 'dist/index.js'), 'stdio'],
      },
    },
    toolCount: 9 + 12,
  })
})
afterAll(() => stack[Symbol.asyncDispose]())

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: Record<string, unknown>
}

async function post(path: string, body: object = {}, signal?: AbortSignal): Promise<Answer> {
  const response = await fetch(`${stack.url}/mcp/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  })
  const { status, headers } = response
  return { status, headers, body: (await response.json()) as Answer['body'] }
}

async function call(name: string, text: string, more: object = {}): Promise<Answer> {
  return post('tools/call', { name, arguments: { text }, ...more })
}

async function hasBegun(text: string): Promise<void> {
  const isNoted = async (): Promise<boolean> => JSON.stringify(await stack.journal()).includes(text)
  await eventually(isNoted, { what: 'the call' })
}

test('the capabilities are one answer, with 304 until they change', async () => {
  const response = await fetch(`${stack.url}/capabilities`)
  const body = await response.json()
  expect(body).toMatchObject({
    servers: [
      { server: 'everything', state: 'ready', tools: 12, prompts: 4, resources: 7 },
      { server: 'hasty', state: 'ready', tools: 3 },
      { server: 'other', state: 'ready', tools: 3 },
      { server: 'test', state: 'ready', tools: 3 },
    ],
    tools: expect.arrayContaining(['everything__get-sum', 'test__echo']),
    prompts: expect.arrayContaining(['everything__args-prompt']),
    resources: expect.arrayContaining(['demo://resource/static/document/features.md']),
  })
  const headers = { 'if-none-match': response.headers.get('etag') ?? '' }
  expect((await fetch(`${stack.url}/capabilities`, { headers })).status).toBe(304)
})

test('tools, prompts and resources are listed', async () => {
  const { body } = await post('tools/list')
  const names = (body['tools'] as { name: string }[]).map(({ name }) => name)
  expect(names).toHaveLength(21)
  expect(names).toEqual(expect.arrayContaining(['everything__get-sum', 'hasty__slow']))
  expect((await post('prompts/list')).body).toMatchObject({
    prompts: expect.arrayContaining([
      expect.objectContaining({ name: 'everything__args-prompt', arguments: expect.anything() }),
    ]),
  })
  expect((await post('resources/list')).body['resources']).toHaveLength(7)
  expect((await post('resources/templates/list')).body['resourceTemplates']).toHaveLength(2)
})

test('tools are called, prompts rendered and resources read', async () => {
  const sum = await post('tools/call', {
    name: 'everything__get-sum',
    arguments: { a: 2, b: 3 },
  })
  expect(sum).toMatchObject({
    status: 200,
    body: { content: [{ type: 'text', text: expect.stringContaining('5') }] },
  })
  expect(
    await post('prompts/get', { name: 'everything__args-prompt', arguments: { city: 'Rome' } }),
  ).toMatchObject({
    status: 200,
    body: { messages: [{ role: 'user', content: { text: "What's weather in Rome?" } }] },
  })
  for (const uri of [
    'demo://resource/static/document/features.md',
    'demo://resource/dynamic/text/1',
  ]) {
    expect(await post('resources/read', { uri })).toMatchObject({
      status: 200,
      body: { contents: [{ uri, text: expect.any(String) }] },
    })
  }
})

test('a failed tool is answered with 200, invalid arguments with 400', async () => {
  expect(await call('test__broken', 'x')).toMatchObject({ status: 200, body: { isError: true } })
  const echo = (text: unknown): Promise<Answer> =>
    post('tools/call', { name: 'test__echo', arguments: { text } })
  // A scalar is converted to the type of the schema.
  expect(await echo(1)).toMatchObject({ body: { content: [{ text: '{"text":"1"}' }] } })
  expect(await echo(['x'])).toMatchObject({
    status: 400,
    body: { error: { field: 'arguments', message: expect.stringContaining('"text" must be') } },
  })
})

test('unknown items are answered with 404, invalid arguments of a prompt with 400', async () => {
  const missing = [
    await call('test__nope', 'x'),
    await post('prompts/get', { name: 'everything__nope' }),
    await post('resources/read', { uri: 'demo://nope' }),
    await post('resources/read', { uri: 'demo://resource/static/document/nope.md' }),
  ]
  for (const answer of missing) {
    expect(answer).toMatchObject({ status: 404, body: { error: { code: 'not-found' } } })
  }
  expect(await post('prompts/get', { name: 'everything__args-prompt' })).toMatchObject({
    status: 400,
    body: { error: { code: 'invalid', field: 'arguments', server: 'everything' } },
  })
})

test('a body that is too large or of another type is refused', async () => {
  expect(await call('test__echo', 'x'.repeat(8 * 1024 * 1024))).toMatchObject({
    status: 413,
    body: { error: { code: 'invalid' } },
  })
  const response = await fetch(`${stack.url}/mcp/tools/call`, { method: 'POST', body: 'a=1' })
  expect(response.status).toBe(415)
})

test('a call beyond its timeoutMs is answered with 504 and cancelled at its server', async () => {
  const answer = await call('test__slow', 'too long', { timeoutMs: 300 })
  expect(answer).toMatchObject({
    status: 504,
    body: { error: { code: 'deadline', field: 'timeoutMs', reason: 'unknown-outcome' } },
  })
  const cancelled = join(dirname(stack.mcpJson), 'journal.jsonl.cancelled')
  await eventually(() => existsSync(cancelled), { what: 'the cancellation' })
})

test('a slow server is answered with 504, and after five timeouts with 503 and Retry-After', async () => {
  for (let count = 0; count < 5; count++) {
    const answer = await call('hasty__slow', 'no answer')
    expect(answer).toMatchObject({
      status: 504,
      body: { error: { code: 'deadline', server: 'hasty' } },
    })
  }
  const { status, headers, body } = await call('hasty__slow', 'refused')
  const error = { code: 'unavailable', server: 'hasty', retryAfterMs: expect.any(Number) }
  expect({ status, body }).toMatchObject({ status: 503, body: { error } })
  const { retryAfterMs } = body['error'] as { retryAfterMs: number }
  expect(headers.get('retry-after')).toBe(String(Math.ceil(retryAfterMs / 1_000)))
})

test('a call whose server ends in mid-call is answered with 502 and an unknown outcome', async () => {
  const slow = call('test__slow', 'until it ends')
  await hasBegun('until it ends')
  process.kill((await stack.journal()).at(-1)?.pid ?? Number.NaN, 'SIGKILL')
  expect(await slow).toMatchObject({
    status: 502,
    body: { error: { code: 'upstream', server: 'test', reason: 'unknown-outcome' } },
  })
})

test(
  'running calls of a dead supervisor are answered with 502, the next ones with 503',
  { timeout: 60_000 },
  async () => {
    const slow = call('other__slow', 'until it dies')
    await hasBegun('until it dies')
    await stack.kill('mcp-supervisor')
    const next = post('tools/call', { name: 'everything__echo', arguments: { message: 'x' } })
    expect(await slow).toMatchObject({
      status: 502,
      body: { error: { code: 'upstream', server: 'other', reason: 'unknown-outcome' } },
    })
    const { status, headers, body } = await next
    expect({ status, body }).toMatchObject({
      status: 503,
      body: { error: { code: 'unavailable', server: 'everything' } },
    })
    expect(headers.get('retry-after')).toBe('1')
  },
)
