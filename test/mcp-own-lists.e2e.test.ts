// Own lists: a server changes its lists for one client, at any gateway.
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import {
  ResourceListChangedNotificationSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'
import type { Stack } from '@mcp-host/testkit'
import { eventually, startStack } from '@mcp-host/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'

const login = join(import.meta.dirname, '../packages/testkit/fixtures/login-server.ts')
const namesOf = (server: string, ...names: string[]): string[] =>
  names.map((name) => `${server}__${name}`)
const BRIEF = namesOf('brief', 'login', 'quit')
const SHARED = [...BRIEF, ...namesOf('own', 'login', 'quit'), 'test__echo']
const HERS = [...BRIEF, ...namesOf('own', 'login', 'quit', 'secret', 'touch'), 'test__echo']
const own = { command: process.execPath, args: [login], scope: 'session' }

let stack: Stack
let other: Awaited<ReturnType<Stack['add']>>
beforeAll(async () => {
  stack = await startStack({
    tools: [{ name: 'echo', inputSchema: { type: 'object' } }],
    toolCount: 1 + 2 + 2,
    servers: { own, brief: { ...own, idleTimeoutMs: 2_000 } },
  })
  other = await stack.add('gateway')
})
afterAll(() => stack[Symbol.asyncDispose]())

/** A client and its notifications. */
interface Connected extends AsyncDisposable {
  /** The id of its session on the bus. */
  readonly id: () => string
  readonly client: OldClient
  readonly counts: { tools: number; resources: number; updated: string[] }
  readonly tools: () => Promise<string[]>
  readonly call: (name: string) => Promise<unknown>
}

/** Connects through a round-robin balancer without session affinity. */
async function connect(gateways: () => readonly string[] = both): Promise<Connected> {
  let turn = 0
  const client = new OldClient({ name: 'test', version: '1.0.0' })
  const counts = { tools: 0, resources: 0, updated: [] as string[] }
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => void counts.tools++)
  client.setNotificationHandler(
    ResourceListChangedNotificationSchema,
    () => void counts.resources++,
  )
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
    counts.updated.push(params.uri)
  })
  const transport = new OldTransport(new URL(`${stack.url}/mcp`), {
    fetch: (_, init) => {
      const all = gateways()
      return fetch(new URL('/mcp', all[turn++ % all.length]), init)
    },
    reconnectionOptions: {
      initialReconnectionDelay: 100,
      maxReconnectionDelay: 100,
      reconnectionDelayGrowFactor: 1,
      maxRetries: 100,
    },
  })
  await client.connect(transport)
  return {
    id: () => transport.sessionId?.split('.')[0] ?? '',
    client,
    counts,
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name) => {
      const result = await client.callTool({ name, arguments: {} })
      return (result.content as { text: string }[])[0]?.text
    },
    [Symbol.asyncDispose]: () => client.close(),
  }
}

const both = (): string[] => [stack.url, other.url]

/** Waits until a client sees these tools at both gateways. */
async function expectTools({ tools }: Connected, wanted: readonly string[]): Promise<void> {
  const all = wanted.join()
  const isSeen = async (): Promise<boolean> => (await tools()).join() === all
  await eventually(async () => (await isSeen()) && (await isSeen()), { what: all })
}

test('a client lists and uses the own lists of its process, other clients do not', async () => {
  await using ann = await connect()
  await using bob = await connect()
  for (const each of [ann, bob]) await expectTools(each, SHARED)
  expect(await ann.call('own__login')).toBe('welcome')
  await eventually(() => ann.counts.tools === 1 && ann.counts.resources === 1, { what: 'a change' })
  await expectTools(ann, HERS)
  const { resources } = await ann.client.listResources()
  expect(resources.map(({ uri }) => uri)).toEqual(['mine://one'])
  for (const _ of both()) {
    expect(await ann.call('own__secret')).toBe('did secret')
    const { contents } = await ann.client.readResource({ uri: 'mine://one' })
    expect(contents).toMatchObject([{ text: 'hers' }])
  }
  await ann.client.subscribeResource({ uri: 'mine://one' })
  await ann.call('own__touch')
  await eventually(() => ann.counts.updated.length > 0, { what: 'an update' })

  expect(await bob.call('own__secret').catch((error: unknown) => error)).toMatchObject({
    code: -32_602,
  })
  await expectTools(bob, SHARED)
  expect((await bob.client.listResources()).resources).toEqual([])
  expect(bob.counts).toEqual({ tools: 0, resources: 0, updated: [] })
  expect(ann.counts).toMatchObject({ tools: 1, resources: 1 })
})

test('a client is notified of the end of its process and gets the shared lists', async () => {
  await using ann = await connect()
  await ann.call('own__login')
  await eventually(() => ann.counts.tools === 1, { what: 'a change' })
  await ann.call('own__quit').catch(() => undefined)
  await eventually(() => ann.counts.tools === 2, { what: 'a change back' })
  await expectTools(ann, SHARED)
  // The ended process may still be requested once.
  await eventually(() => ann.call('own__login').catch(() => undefined))
  await eventually(() => ann.counts.tools === 3, { what: 'a change by another process' })
  await expectTools(ann, HERS)
})

test('a client is notified when its process ends because it was idle', async () => {
  await using ann = await connect()
  await ann.call('brief__login')
  await eventually(() => ann.counts.tools === 2, { what: 'both changes' })
  await expectTools(ann, SHARED)
})

test('a client over WebSocket receives the same notifications', async () => {
  const socket = new WebSocket(`${stack.url.replace('http', 'ws')}/mcp/servers/own/ws`, 'mcp')
  const messages: { id?: number; method?: string; result?: { tools?: { name: string }[] } }[] = []
  socket.addEventListener('message', ({ data }) => messages.push(JSON.parse(String(data))))
  await new Promise((resolve) => socket.addEventListener('open', resolve))
  const send = (message: object): void =>
    socket.send(JSON.stringify({ jsonrpc: '2.0', ...message }))
  const answer = (id: number) => eventually(() => messages.find((each) => each.id === id))
  const clientInfo = { name: 'test', version: '1' }
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
  send({ id: 1, method: 'initialize', params })
  await answer(1)
  send({ method: 'notifications/initialized' })
  send({ id: 2, method: 'tools/call', params: { name: 'login', arguments: {} } })
  await eventually(() =>
    messages.some(({ method }) => method === 'notifications/tools/list_changed'),
  )
  send({ id: 3, method: 'tools/list' })
  const { result } = await answer(3)
  expect(result?.tools?.map(({ name }) => name)).toEqual(['login', 'quit', 'secret', 'touch'])
  socket.close()
})

test('a modern client has no dedicated process and gets the shared lists', async () => {
  const options = { versionNegotiation: { mode: 'auto' as const } }
  const client = new Client({ name: 'test', version: '1.0.0' }, options)
  await client.connect(new StreamableHTTPClientTransport(new URL(`${stack.url}/mcp`)))
  expect(client.getProtocolEra()).toBe('modern')
  const call = (name: string): Promise<unknown> => client.callTool({ name, arguments: {} })
  await call('own__login')
  // The modern client used the same process, because no other has called it: its own lists are known by then.
  await call('own__login')
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toEqual(SHARED)
  await client.close()
  // A notification of the change would have arrived before this one.
  await using ann = await connect()
  await ann.call('own__login')
  await eventually(() => ann.counts.tools === 1, { what: 'a change' })
})

test('a client is notified at another gateway when its gateway dies', async () => {
  const first = await stack.add('gateway')
  let gateways = [first.url]
  await using ann = await connect(() => gateways)
  await ann.call('own__login')
  await eventually(() => ann.counts.tools === 1, { what: 'a change' })
  gateways = [other.url]
  first.process.signal('SIGKILL')
  await eventually(() => ann.counts.tools === 2, { what: 'a change at the other gateway' })
  expect(await ann.tools()).toEqual(HERS)
  expect(await ann.call('own__secret')).toBe('did secret')
})

test('a client is notified of the death of its supervisor and gets the shared lists', async () => {
  await using ann = await connect()
  await using bob = await connect()
  await ann.call('own__login')
  await eventually(() => ann.counts.tools === 1, { what: 'a change' })
  await stack.kill('mcp-supervisor')
  await stack.restart('mcp-supervisor')
  await eventually(() => ann.counts.tools === 2, { what: 'a change back', limitMs: 40_000 })
  await expectTools(ann, SHARED)
  expect(await ann.call('own__login')).toBe('welcome')
  await eventually(() => ann.counts.tools === 3, { what: 'a change by another process' })
  await expectTools(ann, HERS)
  await expectTools(bob, SHARED)
  expect(bob.counts.tools).toBe(0)
})

test('a client is notified of the death of a supervisor that had announced no own lists', async () => {
  await using bus = await stack.broker.connect()
  const { entries } = await bus.catalog.watch()
  const records = await bus.mcpClients.watch()
  const ids = (): string[] =>
    Array.from(entries.values()).flatMap((each) => (each.kind === 'supervisor' ? [each.id] : []))
  const before = ids()
  const { process } = await stack.add('mcp-supervisor')
  const added = await eventually(() => ids().find((id) => !before.includes(id)))
  await using clients = new AsyncDisposableStack()
  // Either supervisor may take the first call of a client.
  const ann = await eventually(async () => {
    const each = clients.use(await connect())
    await each.call('own__login')
    await eventually(() => each.counts.tools === 1, { what: 'a change' })
    await records.read(each.id())
    return records.get(each.id())?.ownLists?.['own']?.supervisor === added && each
  })
  process.signal('SIGKILL')
  await eventually(() => ann.counts.tools === 2, { what: 'a change back', limitMs: 40_000 })
  await expectTools(ann, SHARED)
})
