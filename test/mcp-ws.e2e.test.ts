// MCP over WebSocket as used by web pages: both eras, server requests, and a stopping gateway.
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { WebSocketClientTransport } from '@modelcontextprotocol/sdk/client/websocket.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import type { Stack } from '@mcp-host/testkit'
import { countProcesses, eventually, startStack, testFolder } from '@mcp-host/testkit'
import { MCPHost } from 'mcp-host'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const asking = join(import.meta.dirname, '../packages/testkit/fixtures/asking-server.ts')
/** Tells the processes of this file from those of others. */
const mark = `mark-${crypto.randomUUID()}`
const object = { type: 'object' }
const form = {
  message: 'Who are you?',
  requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
}

let stack: Stack
let url: string
beforeAll(async () => {
  stack = await startStack({
    tools: [
      { name: 'echo', inputSchema: object },
      { name: 'slow', inputSchema: object, answer: 'at last', delayMs: 1_500 },
      { name: 'endless', inputSchema: object, delayMs: 3_600_000 },
      { name: 'danger', inputSchema: object },
    ],
    env: { TOOL_APPROVAL: 'test.danger' },
    toolCount: 4 + 1,
    servers: { asking: { command: process.execPath, args: [asking, mark], scope: 'session' } },
  })
  url = stack.url.replace('http', 'ws')
})
afterAll(() => stack[Symbol.asyncDispose]())

type Message = Record<string, unknown>

/** The socket of a page, which records all messages. */
class Page implements Disposable {
  readonly socket: WebSocket
  readonly messages: Message[] = []
  closed: { code: number; reason: string } | undefined

  constructor(path: string, origin?: string) {
    // The WebSocket of Node accepts headers, which its web type does not have.
    const init: unknown = {
      protocols: ['other', 'mcp'],
      headers: origin === undefined ? {} : { origin },
    }
    this.socket = new WebSocket(`${url}${path}`, init as string)
    this.socket.addEventListener('message', ({ data }) => this.messages.push(JSON.parse(data)))
    this.socket.addEventListener('close', ({ code, reason }) => {
      this.closed = { code, reason }
    })
  }

  static async open(path: string): Promise<Page> {
    const page = new Page(path)
    await once(page.socket, 'open')
    return page
  }

  send(message: object): void {
    this.socket.send(JSON.stringify({ jsonrpc: '2.0', ...message }))
  }

  /** Sends a modern request. */
  ask(id: number, method: string, params: object = {}, capabilities: object = {}): void {
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'page', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': capabilities,
    }
    this.send({ id, method, params: { ...params, _meta } })
  }

  answerTo(id: unknown): Promise<Message> {
    return eventually(() => this.messages.find((each) => each['id'] === id), {
      what: `the answer to ${String(id)}`,
    })
  }

  [Symbol.dispose](): void {
    this.socket.close()
  }
}

/** The number of processes of the server `asking`. */
const processes = (): Promise<number> => countProcesses(mark)

describe('legacy clients', () => {
  test('a legacy client lists, calls, answers a server request, and ends its process when it leaves', async () => {
    const areGone = async (): Promise<boolean> => (await processes()) === 0
    // One process was started for its lists.
    await eventually(areGone, { what: 'the end of the process that told its lists' })
    const client = new Client({ name: 'old', version: '1' }, { capabilities: { elicitation: {} } })
    client.setRequestHandler(ElicitRequestSchema, () => ({
      action: 'accept',
      content: { name: 'Ann' },
    }))
    await client.connect(new WebSocketClientTransport(new URL(`${url}/mcp/ws`)))
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toContain('asking__ask')
    expect(await client.callTool({ name: 'test__echo', arguments: { a: 1 } })).toMatchObject({
      content: [{ text: '{"a":1}' }],
    })
    const params = { method: 'elicitation/create', params: form }
    const result = await client.callTool({ name: 'asking__ask', arguments: params })
    expect(result['content']).toEqual([
      { type: 'text', text: '{"action":"accept","content":{"name":"Ann"}}' },
    ])
    // The call needs approval, which is requested by the same elicitation.
    expect(await client.callTool({ name: 'test__danger', arguments: { c: 3 } })).toMatchObject({
      content: [{ text: '{"c":3}' }],
    })
    // On a busy machine another one may still end, which told the lists.
    await eventually(async () => (await processes()) === 1, { what: 'one process' })
    await client.close()
    await eventually(areGone, { what: 'the end of its process' })
  })
})

describe('modern clients', () => {
  test('a modern client lists, calls and cancels without headers', async () => {
    using page = await Page.open('/mcp/ws')
    expect(page.socket.protocol).toBe('mcp')
    page.ask(1, 'server/discover')
    page.ask(2, 'tools/call', { name: 'test__endless', arguments: {} })
    page.ask(3, 'tools/call', { name: 'test__echo', arguments: { b: 2 } })
    expect(await page.answerTo(1)).toMatchObject({ result: { supportedVersions: ['2026-07-28'] } })
    expect(await page.answerTo(3)).toMatchObject({ result: { content: [{ text: '{"b":2}' }] } })
    page.send({ method: 'notifications/cancelled', params: { requestId: 2 } })
    // The id can be reused once its request was cancelled.
    await eventually(() => {
      page.ask(2, 'tools/list')
      return page.messages.some(({ id, result }) => id === 2 && result !== undefined)
    })
  })

  test('a modern client answers a legacy server by a retry', async () => {
    using page = await Page.open('/mcp/servers/asking/ws')
    const call = { name: 'ask', arguments: { method: 'elicitation/create', params: form } }
    page.ask(1, 'tools/call', call, { elicitation: {} })
    const { result } = (await page.answerTo(1)) as { result: Message }
    expect(result).toMatchObject({ resultType: 'input_required' })
    const inputResponses = { name: { action: 'accept', content: { name: 'Bob' } } }
    const { requestState } = result
    page.ask(2, 'tools/call', { ...call, inputResponses, requestState }, { elicitation: {} })
    expect(await page.answerTo(2)).toMatchObject({
      result: { content: [{ text: '{"action":"accept","content":{"name":"Bob"}}' }] },
    })
  })
})

test('a call that needs approval runs after the approval of a modern client', async () => {
  using page = await Page.open('/mcp/ws')
  const call = { name: 'test__danger', arguments: { d: 4 } }
  page.ask(1, 'tools/call', call, { elicitation: {} })
  const { result } = (await page.answerTo(1)) as { result: Message }
  expect(result).toMatchObject({ resultType: 'input_required' })
  const again = { ...call, inputResponses: { approval: { action: 'accept' } } }
  page.ask(2, 'tools/call', { ...again, requestState: result['requestState'] })
  expect(await page.answerTo(2)).toMatchObject({ result: { content: [{ text: '{"d":4}' }] } })
})

test('the library mcp-host connects and answers a server request', async () => {
  await using folder = await testFolder()
  const file = join(folder.path, 'mcp.json')
  await writeFile(file, JSON.stringify({ servers: { all: { url: `${url}/mcp/ws` } } }))
  await using host = new MCPHost({ env: process.env })
  host.registerCallback(() => ({ action: 'accept', content: { name: 'Eve' } }), ['elicitation'])
  await host.initialize(file)
  const params = { method: 'elicitation/create', params: form }
  expect(await host.callTool('all.asking__ask', params)).toMatchObject({
    content: [{ text: '{"action":"accept","content":{"name":"Eve"}}' }],
  })
})

describe('refused messages and connections', () => {
  test('an invalid message is answered, and the socket stays open', async () => {
    using page = await Page.open('/mcp/ws')
    page.socket.send('{"jsonrpc":')
    expect(await page.answerTo(null)).toMatchObject({ error: { code: -32_700 } })
    page.send({ id: 1, method: 'tools/call', params: { name: 'x'.repeat(8 * 1024 * 1024) } })
    expect(await page.answerTo(1)).toMatchObject({ error: { code: -32_600 } })
    page.send({ id: 2, method: 'ping' })
    expect(await page.answerTo(2)).toMatchObject({ result: {} })
  })

  test('an unknown server has no socket', async () => {
    using page = new Page('/mcp/servers/none/ws')
    await eventually(() => page.closed)
    expect(page.closed).toEqual({ code: 1008, reason: 'there is no such MCP server or bundle' })
  })

  test('a page of a foreign origin gets no socket', async () => {
    using page = new Page('/mcp/ws', 'https://evil.example')
    page.socket.addEventListener('error', () => undefined)
    await eventually(() => page.closed)
    expect(page.closed?.code).toBe(1006)
  })

  test('an HTTP request is answered with an upgrade hint', async () => {
    const { status, headers } = await fetch(`${stack.url}/mcp/ws`)
    expect([status, headers.get('upgrade')]).toEqual([426, 'websocket'])
  })
})

test('a stopping gateway answers requests in flight, then closes its sockets', async () => {
  using page = await Page.open('/mcp/ws')
  page.ask(1, 'tools/call', { name: 'test__slow', arguments: {} })
  await eventually(async () => (await stack.journal()).some(({ tool }) => tool === 'slow'))
  await stack.stop('gateway')
  await eventually(() => page.closed)
  expect(page.messages).toMatchObject([{ id: 1, result: { content: [{ text: 'at last' }] } }])
  expect(page.closed?.code).toBe(1012)
})
