// A whole host as one MCP server, used by the official SDKs over real HTTP.
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import type { Stack } from '@mcp-host/testkit'
import { eventually, startStack } from '@mcp-host/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const inputSchema = { type: 'object', properties: { text: { type: 'string' } } }
const info = { name: 'test', version: '1.0.0' }
const fixture = (file: string, ...args: string[]) => ({
  command: process.execPath,
  args: [join(import.meta.dirname, '../packages/testkit/fixtures', file), ...args],
})

let stack: Stack
let otherGateway: string
beforeAll(async () => {
  stack = await startStack({
    tools: [
      { name: 'echo', inputSchema },
      { name: 'short', inputSchema, delayMs: 700 },
      { name: 'slow', inputSchema, delayMs: 3_000 },
      { name: 'longer', inputSchema, delayMs: 8_000 },
      // Clients of the SDK refuse a list with such a schema.
      { name: 'large', inputSchema: {}, bytes: 3_000_000 },
    ],
    servers: {
      other: {},
      cacheable: fixture('cacheable-server.ts'),
      left: fixture('linking-server.ts', 'left'),
      right: fixture('linking-server.ts', 'right'),
    },
    toolCount: 2 * 5 + 3,
  })
  otherGateway = (await stack.add('gateway')).url
})
afterAll(() => stack[Symbol.asyncDispose]())

interface Caller extends AsyncDisposable {
  readonly tools: () => Promise<string[]>
  readonly call: (name: string, text: string) => Promise<string>
  readonly result: (name: string) => Promise<unknown>
}

type Connect = (url: string) => Promise<Caller>

const textOf = (result: unknown): string =>
  (result as { content: { text: string }[] }).content.map(({ text }) => text).join('')

const modernClient =
  (mode: 'legacy' | 'auto'): Connect =>
  async (url) => {
    const client = new Client(info, { versionNegotiation: { mode } })
    await client.connect(new StreamableHTTPClientTransport(new URL(url)))
    expect(client.getProtocolEra()).toBe(mode === 'auto' ? 'modern' : 'legacy')
    return {
      tools: async () => (await client.listTools()).tools.map(({ name }) => name),
      call: async (name, text) => textOf(await client.callTool({ name, arguments: { text } })),
      result: (name) => client.callTool({ name }),
      [Symbol.asyncDispose]: () => client.close(),
    }
  }

const legacyClient: Connect = async (url) => {
  const client = new OldClient(info)
  await client.connect(new OldTransport(new URL(url)))
  return {
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, text) => textOf(await client.callTool({ name, arguments: { text } })),
    result: (name) => client.callTool({ name }),
    [Symbol.asyncDispose]: () => client.close(),
  }
}

describe.each<[string, Connect, unknown]>([
  ['v1 of the SDK', legacyClient, { result: ['hello'] }],
  ['v2 of the SDK as a legacy client', modernClient('legacy'), { result: ['hello'] }],
  ['v2 of the SDK', modernClient('auto'), ['hello']],
])('clients with %s', (_, connect, array) => {
  test('a client lists and calls the tools of all servers', async () => {
    await using client = await connect(`${stack.url}/mcp`)
    const names = ['echo', 'large', 'longer', 'short', 'slow']
    const all = ['other', 'test'].flatMap((server) => names.map((name) => `${server}__${name}`))
    expect((await client.tools()).toSorted()).toEqual(
      ['cacheable__say', 'left__link', ...all, 'right__link'].toSorted(),
    )
    expect(await client.call('test__echo', 'hi')).toBe('{"text":"hi"}')
  })

  test('a structured result that is an array is wrapped for revisions with objects only', async () => {
    await using client = await connect(`${stack.url}/mcp`)
    // The SDK validates the result with the listed schema.
    await client.tools()
    const result = await client.result('cacheable__say')
    expect(result).toMatchObject({ structuredContent: array })
  })

  test('a client lists and calls the tools of one server under their own names', async () => {
    await using client = await connect(`${otherGateway}/mcp/servers/other`)
    expect((await client.tools()).toSorted()).toEqual(['echo', 'large', 'longer', 'short', 'slow'])
    expect(await client.call('echo', 'hi')).toBe('{"text":"hi"}')
    await expect(client.call('nope', 'hi')).rejects.toMatchObject({ code: -32_602 })
  })

  test('a client gets a result that is larger than a message of the bus', async () => {
    await using client = await connect(`${stack.url}/mcp`)
    expect((await client.call('test__large', 'hi')).length).toBe(3_000_000)
  })
})

describe('resources with equal URIs of two servers', () => {
  interface Reader extends AsyncDisposable {
    readonly client: OldClient
    readonly read: (uri: string) => Promise<string>
  }

  async function open(url: string): Promise<Reader> {
    const client = new OldClient(info)
    await client.connect(new OldTransport(new URL(`${url}/mcp`)))
    return {
      client,
      async read(uri) {
        const { contents } = await client.readResource({ uri })
        return contents.map((each) => ('text' in each ? each.text : '')).join('')
      },
      [Symbol.asyncDispose]: () => client.close(),
    }
  }

  /** The URIs in the result of a tool. */
  async function linksOf({ client }: Reader, name: string): Promise<string[]> {
    const { content } = (await client.callTool({ name })) as {
      content: { uri?: string; resource?: { uri: string } }[]
    }
    return content.map(({ uri, resource }) => uri ?? resource?.uri ?? '')
  }

  test('a linked resource is read at its server, also through another gateway', async () => {
    await using one = await open(stack.url)
    await using other = await open(otherGateway)
    const { resources } = await one.client.listResources()
    const [unlisted = '', listed = ''] = await linksOf(one, 'right__link')
    expect(await other.read(unlisted)).toBe('right has note://unlisted')
    expect(await other.read(listed)).toBe('right has item://listed')
    expect(resources.map(({ uri }) => uri)).toContain(listed)
    expect(await one.read('note://of-right')).toBe('right has note://of-right')
    await expect(one.read('note://of-nobody')).rejects.toMatchObject({ code: -32_002 })
  })

  test('templates and pages of apps are read at their server', async () => {
    await using one = await open(stack.url)
    const { resourceTemplates } = await one.client.listResourceTemplates()
    const read = resourceTemplates.map(({ uriTemplate }) =>
      one.read(uriTemplate.replace('{id}', 'a%2Fb')),
    )
    expect(await Promise.all(read)).toEqual(['left has item://a%2Fb', 'right has item://a%2Fb'])
    const { tools } = await one.client.listTools()
    const pages = tools.flatMap(({ _meta: meta }) => {
      const { ui } = (meta ?? {}) as { ui?: { resourceUri: string } }
      return ui === undefined ? [] : [ui.resourceUri]
    })
    // Hosts of apps accept only this scheme.
    expect(pages.every((uri) => uri.startsWith('ui://'))).toBe(true)
    const texts = await Promise.all(pages.map((uri) => one.read(uri)))
    expect(texts).toEqual(['left has ui://page', 'right has ui://page'])
  })

  test('a changed resource is announced under the URI of its subscription', async () => {
    await using one = await open(stack.url)
    const updated: string[] = []
    one.client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
      updated.push(params.uri)
    })
    const [uri = ''] = await linksOf(one, 'left__link')
    await one.client.subscribeResource({ uri })
    await eventually(async () => {
      await linksOf(one, 'left__link')
      return updated.length > 0
    })
    expect(new Set(updated)).toEqual(new Set([uri]))
  })
})

/** A JSON-RPC response. */
interface Answer {
  readonly result?: object
  readonly error?: object
}

const answerOf = async (response: Promise<Response>): Promise<Answer> =>
  (await (await response).json()) as Answer

async function call(
  url: string,
  name: string,
  text: string,
  { headers = {}, _meta = {} }: { readonly headers?: object; readonly _meta?: object } = {},
): Promise<Response> {
  const params = { name, arguments: { text }, _meta }
  return fetch(`${url}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  })
}

/** The number of calls that reached the server with this text. */
async function callsOf(text: string): Promise<number> {
  const journal = await stack.journal()
  return journal.filter((entry) => JSON.stringify(entry).includes(text)).length
}

test('requests alternate between stateless gateways', async () => {
  for (let index = 0; index < 10; index++) {
    const url = index % 2 === 0 ? stack.url : otherGateway
    const response = await call(url, 'test__echo', `turn ${index}`)
    expect(await response.text()).toContain(`turn ${index}`)
  }
})

test('a call has the trace of its caller at its server', async () => {
  const [ours, theirs] = ['a', 'b'].map((digit) => `00-${digit.repeat(32)}-${'c'.repeat(16)}-01`)
  const header = { headers: { traceparent: ours } }
  await call(stack.url, 'test__echo', 'header', header)
  await call(stack.url, 'test__echo', 'meta', { ...header, _meta: { traceparent: theirs } })
  await call(stack.url, 'test__echo', 'none')
  const journal = await stack.journal()
  const traces = ['header', 'meta', 'none'].map(
    (text) =>
      journal.find((entry) => (entry.arguments as { text: string }).text === text)?.traceparent,
  )
  expect(traces).toEqual([
    ours,
    theirs,
    expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/),
  ])
})

test('a large answer is compressed for a client that accepts it, a small one is not', async () => {
  const encodings = ['test__large', 'test__echo'].map(async (name) => {
    const { headers } = await call(stack.url, name, 'hi', {
      headers: { 'accept-encoding': 'gzip' },
    })
    return headers.get('content-encoding')
  })
  expect(await Promise.all(encodings)).toEqual(['gzip', null])
})

test('a list may be cached for the shortest time of its servers', async () => {
  const client = new Client(info, { versionNegotiation: { mode: 'auto' } })
  await client.connect(new StreamableHTTPClientTransport(new URL(`${stack.url}/mcp`)))
  // The other servers are legacy and have no caching.
  expect(await client.listTools()).toMatchObject({ ttlMs: 0, cacheScope: 'private' })
  await client.close()
  const alone = new Client(info, { versionNegotiation: { mode: 'auto' } })
  await alone.connect(
    new StreamableHTTPClientTransport(new URL(`${stack.url}/mcp/servers/cacheable`)),
  )
  const { ttlMs, cacheScope } = await alone.listTools()
  expect(cacheScope).toBe('public')
  // The server announces no changes, so the time runs from when it was listed.
  expect(ttlMs).toBeGreaterThan(0)
  expect(ttlMs).toBeLessThan(600_000)
  await alone.close()
})

test('a request whose modern client leaves is cancelled at its server', async () => {
  const client = new Client(info, { versionNegotiation: { mode: 'auto' } })
  await client.connect(new StreamableHTTPClientTransport(new URL(`${stack.url}/mcp`)))
  const cancel = new AbortController()
  const slow = client.callTool(
    { name: 'test__slow', arguments: { text: 'left' } },
    { signal: cancel.signal },
  )
  await eventually(async () => (await callsOf('left')) > 0, { what: 'the call' })
  cancel.abort()
  await expect(slow).rejects.toThrow()
  await eventually(() => existsSync(join(dirname(stack.mcpJson), 'journal.jsonl.cancelled')), {
    what: 'the cancellation',
  })
  await client.close()
})

test(
  'calls of a dead supervisor end with an actionable error, later ones succeed, none runs twice',
  {
    timeout: 60_000,
  },
  async () => {
    const slow = call(stack.url, 'test__slow', 'in flight')
    await eventually(async () => (await callsOf('in flight')) > 0, { what: 'the call' })
    await stack.kill('mcp-supervisor')
    const waiting = call(stack.url, 'test__echo', 'meanwhile')
    await stack.restart('mcp-supervisor')
    expect(await answerOf(slow)).toMatchObject({
      error: { code: -32_000, data: { reason: 'unknown-outcome', retryable: false } },
    })
    // The time of the restart decides between success and failure; the outcome is definite in both cases.
    const answer = await answerOf(waiting)
    expect(answer).toMatchObject(
      'error' in answer ? { error: { code: -32_000, data: { retryable: true } } } : { result: {} },
    )
    await eventually(async () => (await answerOf(call(stack.url, 'test__echo', 'after'))).result)
    expect(await callsOf('in flight')).toBe(1)
    expect(await callsOf('meanwhile')).toBe('error' in answer ? 0 : 1)
  },
)

test('calls survive an outage of the broker of two seconds', { timeout: 60_000 }, async () => {
  // The answer of the first call is sent during the outage.
  const calls = ['short', 'slow'].map((tool) =>
    answerOf(call(stack.url, `test__${tool}`, 'through the outage')),
  )
  await eventually(async () => (await callsOf('through the outage')) === 2, { what: 'the calls' })
  await stack.broker.kill()
  await new Promise((resolve) => setTimeout(resolve, 2_000))
  await stack.broker.start()
  const content = [{ text: '{"text":"through the outage"}' }]
  const results = calls.map(() => ({ result: { content } }))
  expect(await Promise.all(calls)).toMatchObject(results)
  await eventually(async () => (await answerOf(call(stack.url, 'test__echo', 'again'))).result)
  expect(await callsOf('through the outage')).toBe(2)
})

test('calls through a dying gateway run once, and later ones use another gateway', async () => {
  const { url, process } = await stack.add('gateway')
  const texts = Array.from({ length: 20 }, (_, index) => `dying ${index}.`)
  const calls = Promise.allSettled(texts.map((text) => call(url, 'test__slow', text)))
  await eventually(async () => (await callsOf('dying')) === texts.length, { what: 'the calls' })
  process.signal('SIGKILL')
  await process.gone
  expect((await calls).map(({ status }) => status)).toEqual(texts.map(() => 'rejected'))
  expect(await answerOf(call(stack.url, 'test__echo', 'elsewhere'))).toMatchObject({ result: {} })
  expect(await Promise.all(texts.map(callsOf))).toEqual(texts.map(() => 1))
})

test('a stopping gateway finishes its requests in flight', { timeout: 60_000 }, async () => {
  const { url, process } = await stack.add('gateway')
  const slow = answerOf(call(url, 'test__slow', 'before the end'))
  await eventually(async () => (await callsOf('before the end')) > 0, { what: 'the call' })
  process.signal('SIGTERM')
  expect(await slow).toMatchObject({ result: { content: [{ text: '{"text":"before the end"}' }] } })
  await process.gone
})

test(
  'a stopping supervisor finishes its requests in flight and sends heartbeats',
  {
    timeout: 60_000,
  },
  async () => {
    const long = answerOf(call(stack.url, 'test__longer', 'to the end'))
    await eventually(async () => (await callsOf('to the end')) > 0, { what: 'the call' })
    await stack.stop('mcp-supervisor')
    expect(await long).toMatchObject({ result: { content: [{ text: '{"text":"to the end"}' }] } })
  },
)
