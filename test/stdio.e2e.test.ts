// `npm run -s stdio` as desktop clients run it: the official SDKs start it in front of a real host.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import {
  ElicitRequestSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'
import type { Stack } from '@mcp-host/testkit'
import { eventually, family, isAlive, startStack } from '@mcp-host/testkit'
import { freePort } from '@mcp-host/tools/host'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const info = { name: 'test', version: '1.0.0' }
const asking = join(import.meta.dirname, '../packages/testkit/fixtures/asking-server.ts')
const inputSchema = {
  type: 'object',
  properties: { city: { type: 'string', 'x-mcp-header': 'City' } },
}

let stack: Stack
beforeAll(async () => {
  stack = await startStack({
    tools: [
      { name: 'echo', inputSchema },
      { name: 'slow', inputSchema, delayMs: 20_000 },
    ],
    toolCount: 2 + 1,
    servers: { asking: { command: process.execPath, args: [asking], scope: 'session' } },
  })
})
afterAll(() => stack[Symbol.asyncDispose]())

const program = (...args: string[]) => ({
  command: process.execPath,
  args: [join(import.meta.dirname, '../tools/run.mjs'), 'stdio', ...args],
  // The PATH of the user who runs the tests, without their settings.
  env: {
    PATH: process.env['PATH'] ?? '',
    ENV_FILE: 'none',
    ...(process.env['MCP_HOST_CACHE'] === undefined
      ? {}
      : { MCP_HOST_CACHE: process.env['MCP_HOST_CACHE'] }),
  },
})

interface Caller extends AsyncDisposable {
  readonly tools: () => Promise<string[]>
  readonly call: (
    name: string,
    args: Record<string, unknown>,
    signal?: AbortSignal,
  ) => Promise<string>
  readonly pid: number
}

type Connect = (...args: string[]) => Promise<Caller>

const textOf = (result: unknown): string =>
  (result as { content: { text: string }[] }).content.map((each) => each.text).join('')

const legacyClient: Connect = async (...args) => {
  const client = new OldClient(info, { capabilities: { elicitation: {} } })
  client.setRequestHandler(ElicitRequestSchema, () => ({
    action: 'accept',
    content: { name: 'Ann' },
  }))
  const transport = new OldTransport(program(...args))
  await client.connect(transport)
  return {
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, given, signal) =>
      textOf(await client.callTool({ name, arguments: given }, undefined, signal && { signal })),
    pid: transport.pid ?? 0,
    [Symbol.asyncDispose]: () => client.close(),
  }
}

const modernClient =
  (mode: 'legacy' | 'auto'): Connect =>
  async (...args) => {
    const client = new Client(info, {
      versionNegotiation: { mode },
      capabilities: { elicitation: {} },
    })
    client.setRequestHandler('elicitation/create', () => ({
      action: 'accept',
      content: { name: 'Ann' },
    }))
    const transport = new StdioClientTransport(program(...args))
    await client.connect(transport)
    expect(client.getProtocolEra()).toBe(mode === 'auto' ? 'modern' : 'legacy')
    return {
      tools: async () => (await client.listTools()).tools.map(({ name }) => name),
      call: async (name, given, signal) =>
        textOf(await client.callTool({ name, arguments: given }, signal && { signal })),
      pid: transport.pid ?? 0,
      [Symbol.asyncDispose]: () => client.close(),
    }
  }

const question = {
  method: 'elicitation/create',
  params: {
    message: 'Who are you?',
    requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
  },
}

const eras: readonly (readonly [string, Connect])[] = [
  ['v1 of the SDK', legacyClient],
  ['v2 of the SDK', modernClient('auto')],
]

describe.each([...eras, ['v2 of the SDK as a legacy client', modernClient('legacy')] as const])(
  'clients with %s',
  (_, connect) => {
    test('a client lists, calls, cancels and answers a server request, and leaves no processes', async () => {
      const client = await connect('--url', stack.url)
      const names = ['asking__ask', 'test__echo', 'test__slow']
      expect((await client.tools()).toSorted()).toEqual(names)
      expect(await client.call('test__echo', { city: 'Malmö' })).toBe('{"city":"Malmö"}')
      expect(JSON.parse(await client.call('asking__ask', question))).toMatchObject({
        action: 'accept',
        content: { name: 'Ann' },
      })
      const before = (await stack.journal()).length
      const cancelled = new AbortController()
      const outcome = expect(client.call('test__slow', {}, cancelled.signal)).rejects.toThrow()
      await eventually(async () => (await stack.journal()).length > before)
      const cancels = await stack.cancels()
      cancelled.abort()
      await outcome
      await eventually(async () => (await stack.cancels()) > cancels, { what: 'the cancel' })
      const pids = await family(client.pid)
      await client[Symbol.asyncDispose]()
      await eventually(async () => !(await Promise.all(pids.map(isAlive))).includes(true), {
        limitMs: 5_000,
        what: 'the end of the command',
      })
    })

    test(
      'a client continues after its gateway was killed and restarted',
      { timeout: 90_000 },
      async () => {
        await using client = await connect('--url', stack.url)
        expect(await client.call('test__echo', { city: 'Oslo' })).toBe('{"city":"Oslo"}')
        await stack.kill('gateway')
        const reply = client.call('test__echo', { city: 'Rome' })
        await stack.restart('gateway')
        expect(await reply).toBe('{"city":"Rome"}')
        expect(JSON.parse(await client.call('asking__ask', question))).toMatchObject({
          content: { name: 'Ann' },
        })
      },
    )
  },
)

describe.each(eras)('clients with %s', (_, connect) => {
  test('a client of one mount has the tools of its server under their own names', async () => {
    await using client = await connect('--url', stack.url, '--mount', '/mcp/servers/test')
    expect((await client.tools()).toSorted()).toEqual(['echo', 'slow'])
    expect(await client.call('echo', { city: 'Oslo' })).toBe('{"city":"Oslo"}')
  })

  test('a client without a host gets an error with the command to start one', async () => {
    const url = `http://127.0.0.1:${await freePort()}`
    await expect(connect('--url', url, '--wait', '100')).rejects.toThrow(/npm start/)
  })
})

test('a legacy client receives changes also after its gateway was killed', async () => {
  const client = new OldClient(info)
  let changes = 0
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => void changes++)
  await client.connect(new OldTransport(program('--url', stack.url)))
  await client.ping()
  await stack.kill('gateway')
  await stack.restart('gateway')
  await eventually(() => changes > 0, { what: 'word of an outage' })
  const before = changes
  const config = JSON.parse(await readFile(stack.mcpJson, 'utf8')) as { servers: object }
  const { servers } = config
  const more = { asking2: { command: process.execPath, args: [asking] } }
  await writeFile(stack.mcpJson, JSON.stringify({ servers: { ...servers, ...more } }))
  await eventually(() => changes > before, { limitMs: 60_000, what: 'a change' })
  await writeFile(stack.mcpJson, JSON.stringify(config))
  await client.close()
})

test('requests from a pipe are answered as one line each before the exit', async () => {
  const { command, args, env } = program('--url', stack.url)
  const child = spawn(command, args, { env: { ...process.env, ...env } })
  child.stdin.end(
    '{"jsonrpc":"2.0","id":1,"method":"ping"}\nnonsense\n{"jsonrpc":"2.0","id":2,"method":"ping"}',
  )
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  const lines = output.trimEnd().split('\n').toSorted()
  expect(lines).toEqual([
    '{"jsonrpc":"2.0","id":1,"result":{}}',
    '{"jsonrpc":"2.0","id":2,"result":{}}',
    expect.stringContaining('Parse error'),
  ])
  expect(code).toBe(0)
})

test('SIGTERM ends the bridge while its input is open', async () => {
  const { command, args, env } = program('--url', stack.url)
  const child = spawn(command, args, { env: { ...process.env, ...env } })
  child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
  await once(child.stdout, 'data')
  const pids = await family(child.pid ?? 0)
  child.kill('SIGTERM')
  expect(await once(child, 'exit')).toEqual([0, null])
  expect((await Promise.all(pids.slice(1).map(isAlive))).includes(true)).toBe(false)
})
