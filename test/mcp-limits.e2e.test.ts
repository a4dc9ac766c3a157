// The limits of /mcp.
import { connect } from 'node:net'
import { join } from 'node:path'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Stack } from '@mcp-host/testkit'
import { eventually, startStack } from '@mcp-host/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'

const MB = 1_000_000
const inputSchema = { type: 'object' }
const NOTICES = 10_000
const MANY_TOOLS = 1_039
const manyServer = join(import.meta.dirname, '../packages/testkit/fixtures/many-server.ts')

let stack: Stack
beforeAll(async () => {
  stack = await startStack({
    tools: [
      { name: 'echo', inputSchema },
      ...[1, 20, 200].map((size) => ({ name: `mb${size}`, inputSchema, bytes: size * MB })),
      { name: 'counts', inputSchema, notices: NOTICES },
    ],
    servers: {
      test: { restart: 'on-failure' },
      many: { command: process.execPath, args: [manyServer] },
    },
    toolCount: 5 + MANY_TOOLS,
  })
})
afterAll(() => stack[Symbol.asyncDispose]())

function request(name: string, _meta: object = {}, args: object = {}): string {
  const params = { name, arguments: args, _meta }
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
}

async function call(name: string, meta?: object, args?: object): Promise<Response> {
  return fetch(`${stack.url}/mcp/servers/test`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: request(name, meta, args),
  })
}

/** A JSON-RPC response. */
interface Answer {
  readonly result?: { readonly content: readonly { readonly text: string }[] }
  readonly error?: { readonly code: number; readonly message: string }
}

const answerOf = async (response: Promise<Response>): Promise<Answer> =>
  (await (await response).json()) as Answer

async function expectAlive(): Promise<void> {
  await eventually(async () => (await answerOf(call('echo'))).result, { what: 'another call' })
}

test('a list of megabytes is one page', async () => {
  const client = new OldClient({ name: 'test', version: '1.0.0' })
  await client.connect(new StreamableHTTPClientTransport(new URL(`${stack.url}/mcp/servers/many`)))
  const { tools } = await client.listTools()
  const { resources } = await client.listResources()
  const { resourceTemplates } = await client.listResourceTemplates()
  const { prompts } = await client.listPrompts()
  const lists = [tools, resources, resourceTemplates, prompts]
  expect(lists.map(({ length }) => length)).toEqual([MANY_TOOLS, 6_000, 1, 1])
  const result = await client.callTool({ name: 'tool_1038' })
  expect(result.content).toEqual([{ type: 'text', text: 'done' }])
  await client.close()
})

test.each([1, 20])('a result of %i MB is returned whole', async (size) => {
  const { result } = await answerOf(call(`mb${size}`))
  expect(result?.content[0]?.text.length).toBe(size * MB)
})

test.each([0.9, 2, 7])('arguments of %d MB reach the server whole', async (size) => {
  const text = 'x'.repeat(size * MB)
  const { result } = await answerOf(call('echo', {}, { text }))
  expect(result?.content[0]?.text).toContain(text)
})

test('a result of 200 MB fails its call with the reason, and its server is restarted', async () => {
  const { error } = await answerOf(call('mb200'))
  expect(error?.message).toMatch(
    /more than 67108864 bytes; whether the tool took effect is not known/,
  )
  await expectAlive()
})

test('the latest of 10,000 progress notifications are received in order', async () => {
  const response = await call('counts', { progressToken: 'p' })
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  const messages = (await response.text())
    .split('\n\n')
    .flatMap((event) => /^data: (.*)$/m.exec(event)?.[1] ?? [])
    .map((data) => JSON.parse(data))
  const seen = messages.slice(0, -1).map(({ params }) => params.progress as number)
  expect(seen).toEqual(seen.toSorted((one, other) => one - other))
  expect(new Set(seen).size).toBe(seen.length)
  expect(seen.at(-1)).toBe(NOTICES)
  expect(messages.at(-1)).toMatchObject({ id: 1, result: {} })
})

test('a client that never reads does not affect others', async () => {
  const { port } = new URL(stack.url)
  const sockets = Array.from({ length: 5 }, () => {
    const socket = connect({ port: Number(port), host: '127.0.0.1' })
    const body = request('mb20')
    const head = `POST /mcp/servers/test HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`
    socket.write(head + body)
    socket.pause()
    return socket
  })
  await expectAlive()
  await eventually(
    async () => (await stack.journal()).filter(({ tool }) => tool === 'mb20').length >= 6,
    {
      what: 'their calls',
    },
  )
  await expectAlive()
  for (const socket of sockets) socket.destroy()
})
