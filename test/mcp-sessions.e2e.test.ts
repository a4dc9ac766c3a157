// Sessions of MCP clients: server requests, notifications and dedicated processes.
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'
import type { Stack } from '@mcp-host/testkit'
import { countProcesses, eventually, startStack } from '@mcp-host/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const info = { name: 'test', version: '1.0.0' }
const own = { scope: 'session' }
const everything = createRequire(import.meta.url).resolve(
  '@modelcontextprotocol/server-everything/package.json',
)
/** Tells the processes of this file from those of others. */
const mark = `mark-${crypto.randomUUID()}`
const asking = join(import.meta.dirname, '../packages/testkit/fixtures/asking-server.ts')

let stack: Stack
let otherGateway: string
beforeAll(async () => {
  stack = await startStack({
    tools: [
      { name: 'echo', inputSchema: { type: 'object' } },
      { name: 'danger', inputSchema: { type: 'object' } },
    ],
    env: { TOOL_APPROVAL: 'test.danger,test.dagner' },
    toolCount: 3 + 15,
    servers: {
      asking: { command: process.execPath, args: [asking, mark], ...own },
      everything: {
        command: process.execPath,
        args: [join(dirname(everything), 'dist/index.js'), 'stdio'],
        ...own,
      },
    },
  })
  otherGateway = (await stack.add('gateway')).url
  await eventually(
    async () => {
      const names = await Promise.all([stack.url, otherGateway].map(toolsOf))
      return names.every((each) => /asking__ask.*everything__echo/.test(each))
    },
    { what: 'all tools at both gateways' },
  )
})
afterAll(() => stack[Symbol.asyncDispose]())

async function toolsOf(url: string): Promise<string> {
  const response = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  })
  return response.text()
}

/** The number of processes of the server `asking`. */
const processes = (): Promise<number> => countProcesses(mark)

/** A round-robin balancer without session affinity. */
function balanced(): typeof fetch {
  let turn = 0
  return (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input)
    const gateway = new URL(turn++ % 2 === 0 ? stack.url : otherGateway)
    return fetch(new URL(url.pathname, gateway), init)
  }
}

const content = (result: unknown): unknown =>
  (result as { content: { text: string }[] }).content.map(({ text }) => text).join('')

const form = {
  message: 'Who are you?',
  requestedSchema: {
    type: 'object' as const,
    properties: { name: { type: 'string' as const } },
    required: ['name'],
  },
}
const sampling = {
  messages: [{ role: 'user' as const, content: { type: 'text' as const, text: 'hi' } }],
  maxTokens: 10,
}

/** A legacy client that answers server requests. */
async function connect(isModelOffered = true): Promise<OldClient & AsyncDisposable> {
  const model = isModelOffered ? { sampling: {} } : {}
  const capabilities = { ...model, elicitation: {}, roots: { listChanged: true } }
  const client = new OldClient(info, { capabilities })
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => ({
    action: 'accept',
    content: { name: `Ann (${params.message})` },
  }))
  if (isModelOffered) {
    client.setRequestHandler(CreateMessageRequestSchema, () => ({
      model: 'mine',
      role: 'assistant',
      content: { type: 'text', text: 'hello' },
    }))
  }
  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: 'file:///mine' }] }))
  await client.connect(new OldTransport(new URL(`${stack.url}/mcp`), { fetch: balanced() }))
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() })
}

const ask = (client: OldClient, method: string, params: object): Promise<unknown> =>
  client
    .callTool({ name: 'asking__ask', arguments: { method, params } })
    .then((result) => JSON.parse(String(content(result))))

describe('legacy clients behind a balancer without session affinity', () => {
  test('a server request of each supported kind reaches the client during a call', async () => {
    await using client = await connect()
    expect(await ask(client, 'elicitation/create', form)).toEqual({
      action: 'accept',
      content: { name: 'Ann (Who are you?)' },
    })
    expect(await ask(client, 'sampling/createMessage', sampling)).toMatchObject({ model: 'mine' })
    expect(await ask(client, 'roots/list', {})).toEqual({ roots: [{ uri: 'file:///mine' }] })
  })

  test('a server request without the capability is refused', async () => {
    await using client = await connect(false)
    expect(await ask(client, 'sampling/createMessage', sampling)).toMatchObject({
      error: { code: -32_601 },
    })
  })

  test('a client gets log messages and changes of watched resources', async () => {
    await using client = await connect()
    let messages = 0
    const updated = new Set<string>()
    client.setNotificationHandler(LoggingMessageNotificationSchema, () => void messages++)
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
      updated.add(params.uri)
    })
    await client.setLoggingLevel('debug')
    const { resources } = await client.listResources()
    const uri = resources.at(-1)?.uri ?? ''
    await client.subscribeResource({ uri })
    const toggle = (name: string): Promise<unknown> =>
      client.callTool({ name: `everything__toggle-${name}`, arguments: {} })
    await toggle('subscriber-updates')
    await toggle('simulated-logging')
    await eventually(() => updated.has(uri), { what: 'a change', limitMs: 60_000 })
    await eventually(() => messages > 0, { what: 'a log message', limitMs: 60_000 })
  })

  test('a client has a dedicated process that ends with its session', async () => {
    await using one = await connect()
    await using other = await connect()
    await ask(one, 'roots/list', {})
    const before = await processes()
    await ask(other, 'roots/list', {})
    await ask(one, 'roots/list', {})
    expect(await processes()).toBe(before + 1)
    await (other.transport as OldTransport).terminateSession()
    await eventually(async () => (await processes()) === before, { what: 'its end' })
  })

  test('a session continues after a restart of all gateways', { timeout: 90_000 }, async () => {
    await using client = await connect()
    await ask(client, 'roots/list', {})
    await stack.kill('gateway')
    await stack.restart('gateway')
    expect(await ask(client, 'roots/list', {})).toEqual({ roots: [{ uri: 'file:///mine' }] })
  })

  test(
    'a session continues when the supervisor of its process dies',
    { timeout: 90_000 },
    async () => {
      await using client = await connect()
      await ask(client, 'roots/list', {})
      await stack.kill('mcp-supervisor')
      await stack.restart('mcp-supervisor')
      expect(
        await eventually(() => ask(client, 'roots/list', {}).catch(() => undefined), {
          limitMs: 30_000,
        }),
      ).toEqual({ roots: [{ uri: 'file:///mine' }] })
    },
  )
})

test('a modern client answers a legacy server at any gateway', async () => {
  const client = new Client(info, {
    versionNegotiation: { mode: 'auto' },
    capabilities: { elicitation: {}, sampling: {}, roots: {} },
  })
  client.setRequestHandler('elicitation/create', () => ({
    action: 'accept',
    content: { name: 'Bob' },
  }))
  client.setRequestHandler('roots/list', () => ({ roots: [{ uri: 'file:///his' }] }))
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${stack.url}/mcp`), { fetch: balanced() }),
  )
  expect(client.getProtocolEra()).toBe('modern')
  const call = (method: string, params: object): Promise<unknown> =>
    client.callTool({ name: 'asking__ask', arguments: { method, params } })
  expect(content(await call('elicitation/create', form))).toBe(
    '{"action":"accept","content":{"name":"Bob"}}',
  )
  expect(content(await call('roots/list', {}))).toBe('{"roots":[{"uri":"file:///his"}]}')
  await client.close()
})

describe('tools that need approval', () => {
  const calls = async (text: string): Promise<number> =>
    (await stack.journal()).filter((entry) => JSON.stringify(entry).includes(text)).length
  const danger = (text: string) => ({ name: 'test__danger', arguments: { text } })

  test.each([
    ['accept', 1],
    ['decline', 0],
  ] as const)(
    'a call with the approval %s of a legacy client runs %i times',
    async (action, count) => {
      const client = new OldClient(info, { capabilities: { elicitation: {} } })
      const messages: string[] = []
      client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
        messages.push(params.message)
        return { action, content: {} }
      })
      await client.connect(new OldTransport(new URL(`${stack.url}/mcp`), { fetch: balanced() }))
      const result = await client.callTool(danger(`older ${action}`))
      expect(messages).toEqual([`May test.danger be called with {"text":"older ${action}"}?`])
      expect([result.isError ?? false, await calls(`older ${action}`)]).toEqual([
        count === 0,
        count,
      ])
      await client.close()
    },
  )

  test.each([
    ['accept', 1],
    ['decline', 0],
  ] as const)(
    'a call with the approval %s of a modern client runs %i times',
    async (action, count) => {
      const options = {
        versionNegotiation: { mode: 'auto' },
        capabilities: { elicitation: {} },
      } as const
      const client = new Client(info, options)
      client.setRequestHandler('elicitation/create', () => ({ action }))
      await client.connect(
        new StreamableHTTPClientTransport(new URL(`${stack.url}/mcp`), { fetch: balanced() }),
      )
      const result = await client.callTool(danger(`newer ${action}`))
      expect([result.isError ?? false, await calls(`newer ${action}`)]).toEqual([
        count === 0,
        count,
      ])
      await client.close()
    },
  )

  test('a call that needs approval does not run without elicitation, and the reason is told', async () => {
    const client = new OldClient(info)
    await client.connect(new OldTransport(new URL(`${stack.url}/mcp`)))
    await expect(client.callTool(danger('unasked'))).rejects.toMatchObject({
      code: -32_000,
      data: { reason: 'approval-required', server: 'test', tool: 'danger' },
    })
    await client.close()
    const response = await fetch(`${stack.url}/mcp/tools/call`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(danger('unasked')),
    })
    expect([response.status, await response.json()]).toMatchObject([
      409,
      { error: { code: 'conflict', reason: 'approval-required' } },
    ])
    expect(await calls('unasked')).toBe(0)
  })

  test('a rule that matches no tool is logged', async () => {
    const log = (await stack.log('orchestrator')).split('\n')
    expect(log.filter((line) => line.includes('matches no tool'))).toEqual([
      expect.stringContaining('test.dagner'),
    ])
  })
})
