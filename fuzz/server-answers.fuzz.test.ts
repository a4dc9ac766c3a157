import { setImmediate } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import * as fc from 'fast-check'
import { MCPHost } from 'mcp-host'
import { Inventory, McpHostError, MESSAGE_LIMITS } from '@mcp-host/upstream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { LEGACY, MemoryEndpoint, openConnection } from '@mcp-host/upstream/testing'
import { silentLogger } from '@mcp-host/process'
import { anyJson, anyText, nearly, textLike } from './arbitraries.ts'

const content = fc.array(
  fc.oneof(
    fc.record({ type: fc.constant('text'), text: anyText }),
    fc.record({ type: fc.constant('image'), data: anyText, mimeType: anyText }),
    fc.record({ type: fc.constant('resource_link'), uri: anyText, name: anyText }),
    fc.record({
      type: fc.constant('resource'),
      resource: fc.record({ uri: anyText, text: anyText }),
    }),
  ),
  { maxLength: 3 },
)
const result = fc.record(
  { content, structuredContent: anyJson, isError: fc.boolean(), _meta: anyJson },
  { requiredKeys: ['content'] },
)
const error = fc.record(
  { code: fc.integer(), message: anyText, data: anyJson },
  { requiredKeys: ['code', 'message'] },
)

/** Placeholder for the id of the call in flight. */
const ID = '$ID'
const jsonrpc = fc.constant('2.0')
const id = fc.oneof({ weight: 4, arbitrary: fc.constant(ID) }, anyJson)

const answer = fc.oneof(fc.record({ jsonrpc, id, result }), fc.record({ jsonrpc, id, error }))
const notification = fc.record({
  jsonrpc,
  method: fc.constantFrom(
    'notifications/message',
    'notifications/progress',
    'notifications/tools/list_changed',
    'notifications/resources/list_changed',
    'notifications/resources/updated',
    'notifications/cancelled',
    'notifications/elicitation/complete',
    'constructor',
  ),
  params: fc.record(
    {
      level: fc.constant('error'),
      data: anyJson,
      progressToken: fc.oneof(fc.constant(ID), anyJson),
      progress: fc.double(),
      uri: anyText,
      requestId: fc.oneof(fc.constant(ID), anyJson),
    },
    { requiredKeys: [] },
  ),
})
const request = fc.record({
  jsonrpc,
  id: anyJson,
  method: fc.constantFrom(
    'ping',
    'roots/list',
    'sampling/createMessage',
    'elicitation/create',
    'x',
  ),
  params: fc.record({ messages: anyJson, message: anyText, requestedSchema: anyJson }),
})
const line = textLike(fc.oneof({ weight: 3, arbitrary: answer }, notification, request)).map(
  (text) => text.replaceAll(/[\r\n]/g, ' ').replaceAll(`"${ID}"`, ID),
)

const SERVER = fileURLToPath(new URL('fixtures/saying-server.ts', import.meta.url))

let host: MCPHost
beforeAll(async () => {
  host = new MCPHost({ env: { PATH: process.env['PATH'] }, logger: silentLogger })
  const server = {
    type: 'stdio',
    command: process.execPath,
    args: [SERVER],
    env: {},
    cwd: '/',
  } as const
  await host.initialize({ servers: { hostile: server, good: server } })
})
afterAll(() => host.shutdown())

test('a host keeps working, whatever lines a server writes instead of an answer', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 3 }), async (lines) => {
      const outcome = await host
        .callTool('hostile.say', { lines }, { timeoutMs: 1_000 })
        .catch((failure: unknown) => failure)
      if (outcome instanceof Error) expect(outcome).toBeInstanceOf(McpHostError)
      const good = await host.callTool('good.say', { lines: [] })
      expect(good).toMatchObject({ content: [{ text: 'done' }] })
    }),
  )
  // Failed calls may have opened the circuit; the process must be the same.
  const hostile = host.getServers().find(({ name }) => name === 'hostile')
  expect(hostile).toMatchObject({ state: 'ready', restarts: 0 })
})

const item = fc.record(
  { name: anyText, uri: anyText, uriTemplate: anyText, inputSchema: anyJson, annotations: anyJson },
  { requiredKeys: ['name', 'uri', 'uriTemplate', 'inputSchema'] },
)
const page = nearly(
  fc.record(
    Object.fromEntries(
      ['tools', 'prompts', 'resources', 'resourceTemplates'].map((list) => [
        list,
        fc.array(item, { maxLength: 3 }),
      ]),
    ),
  ),
)

test('listings of any shape are read without an error', async () => {
  await fc.assert(
    fc.asyncProperty(page, async (listing) => {
      const list = (): unknown => listing
      const endpoint = new MemoryEndpoint({
        ...LEGACY,
        'tools/list': list,
        'prompts/list': list,
        'resources/list': list,
        'resources/templates/list': list,
      })
      const connection = await openConnection(endpoint, { era: 'legacy' })
      const inventory = new Inventory(
        connection,
        { logger: silentLogger, onChange: () => undefined, now: Date.now },
        { filter: {}, timeoutMs: 1_000, limits: MESSAGE_LIMITS },
      )
      await inventory.load(new AbortController().signal)
      JSON.stringify(Array.from(inventory.tools.values()))
      await connection.close()
      // Timers fire and memory is freed only between two tasks.
      await setImmediate()
    }),
  )
})
