// Lists of servers that are too large for a message of the broker.
import type { CatalogTool, ServerEntry } from '@mcp-host/contracts'
import { ServerName } from '@mcp-host/contracts'
import { jetstreamManager } from '@nats-io/jetstream'
import type { Broker } from '@mcp-host/testkit'
import { eventually, startBroker } from '@mcp-host/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Bus, CatalogView } from './bus.ts'
import { connectNats } from './connect.ts'
import { readLists, storeLists } from './stored-lists.ts'

let broker: Broker
let bus: Bus
beforeEach(async () => {
  broker = await startBroker()
  bus = await broker.connect()
})
afterEach(() => broker[Symbol.asyncDispose]())

const KEY = 'server.a.s'
const entry = (tools: CatalogTool[], more: Partial<ServerEntry> = {}): ServerEntry => ({
  kind: 'server',
  server: ServerName.parse('a'),
  supervisor: 's',
  state: 'ready',
  tools,
  ...more,
})
/** `count` tools with descriptions of `bytes` bytes. */
const tools = (count: number, bytes: number): CatalogTool[] =>
  Array.from({ length: count }, (_, index) => ({
    name: `t${index}`,
    description: 'é'.repeat(bytes / 2),
    inputSchema: { type: 'object' },
  }))

const toolsIn = ({ entries }: CatalogView): number => {
  const found = entries.get(KEY)
  return found?.kind === 'server' ? found.tools.length : 0
}

/** The number of messages and consumers of the object store. */
async function stored(): Promise<{ messages: number; consumers: number }> {
  await using connection = await connectNats(broker.url, 'count')
  const { state } = await (await jetstreamManager(connection)).streams.info('OBJ_BLOB')
  return { messages: state.messages, consumers: state.consumer_count }
}

test('lists of any size reach current and later views', async () => {
  const watching = await (await broker.connect()).catalog.watch()
  const resources = Array.from({ length: 6_000 }, (_, index) => ({
    uri: `mem://${index}`,
    name: 'x'.repeat(200),
  }))
  const prompts = [{ name: 'greet' }]
  const whole = entry(tools(188, 5_500), { instructions: 'Be kind.', resources, prompts })
  await bus.catalog.put(whole)
  await eventually(() => watching.entries.has(KEY))
  const later = await (await broker.connect()).catalog.watch()
  for (const { entries } of [watching, later]) expect(entries.get(KEY)).toMatchObject(whole)
  expect((await stored()).consumers).toBe(0)
})

test('lists of 50 MB are stored', { timeout: 60_000 }, async () => {
  await bus.catalog.put(entry(tools(500, 100_000)))
  expect(toolsIn(await (await broker.connect()).catalog.watch())).toBe(500)
})

test('lists beyond the limit are refused with the name of their server', async () => {
  await expect(bus.catalog.put(entry(tools(7, 10_000_000)))).rejects.toMatchObject({
    code: 'invalid',
    message: expect.stringMatching(
      /^the lists of the MCP server "a" have 700\d+ bytes, more than .* "allow"/,
    ),
  })
})

test('stored lists are removed when another version replaces them, or any process removes the entry', async () => {
  const view = await (await broker.connect()).catalog.watch()
  await bus.catalog.put(entry(tools(10, 100_000)))
  await eventually(() => toolsIn(view) === 10)
  const { messages } = await stored()
  await bus.catalog.put(entry(tools(11, 100_000)))
  await eventually(() => toolsIn(view) === 11)
  // Each removal leaves two markers that expire.
  await eventually(async () => (await stored()).messages <= messages + 3)
  await bus.catalog.put(entry(tools(1, 100)))
  await eventually(async () => (await stored()).messages <= 4)
  await bus.catalog.put(entry(tools(12, 100_000)))
  const peer = await broker.connect()
  const found = (await peer.catalog.watch()).entries.get(KEY)
  await peer.catalog.remove(found!)
  await eventually(async () => (await stored()).messages <= 6, { what: 'the removal of all lists' })
})

test('stored lists that another process has replaced are not read', async () => {
  const { stored: lists, ...rest } = await storeLists(bus.blobs, entry(tools(10, 100_000)))
  const { digest = '' } = (await storeLists(bus.blobs, entry(tools(11, 100_000)))).stored ?? {}
  const read = async (other: string): Promise<number> =>
    (await readLists(bus.blobs, { ...rest, stored: { ...lists!, digest: other } })).tools.length
  expect(await read(lists?.digest ?? '')).toBe(10)
  await expect(read(digest)).rejects.toMatchObject({ code: 'not-found' })
})
