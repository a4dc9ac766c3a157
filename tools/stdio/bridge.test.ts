import { eventually } from '@mcp-host/testkit'
import { afterEach, expect, test } from 'vitest'
import type { FakeHost, Heard } from './__fixtures__/fake-host.ts'
import { HOLD, refuse, result, sendEvent, startFakeHost } from './__fixtures__/fake-host.ts'
import { Bridge } from './bridge.ts'
import { HttpClient } from './http-client.ts'

const _meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
}

let cleanup = new AsyncDisposableStack()
afterEach(async () => {
  await cleanup.disposeAsync()
  cleanup = new AsyncDisposableStack()
})

type Answer = Parameters<typeof startFakeHost>[0]

async function startHost(answer: Answer, port?: number): Promise<FakeHost> {
  return cleanup.use(await startFakeHost(answer, port))
}

interface Client {
  readonly lines: string[]
  readonly logged: string[]
  readonly say: (message: object) => Promise<void>
  readonly sayLine: (line: string) => Promise<void>
  readonly bridge: Bridge
}

function connect({ port }: { port: number }, waitMs = 5_000): Client {
  const lines: string[] = []
  const logged: string[] = []
  const client = cleanup.use(new HttpClient(() => new URL(`http://127.0.0.1:${port}/mcp`)))
  const write = async (line: string): Promise<void> => void lines.push(line)
  const bridge = new Bridge(
    { client, write, log: (text) => void logged.push(text) },
    { waitMs, hint: 'Start it.' },
  )
  cleanup.defer(() => bridge.close())
  const sayLine = (line: string): Promise<void> => bridge.forward(Buffer.from(line))
  const say = (message: object): Promise<void> =>
    sayLine(JSON.stringify({ jsonrpc: '2.0', ...message }))
  return { lines, logged, say, sayLine, bridge }
}

const messages = ({ lines }: Client): unknown[] => lines.map((line): unknown => JSON.parse(line))

/** Of an older session: `id` is the one that counts. */
function older(id: () => string, answer: Answer = () => undefined): Answer {
  return (heard) => {
    if (heard.method === 'initialize') {
      heard.reply.setHeader('mcp-session-id', id())
      const capabilities = { tools: { listChanged: true }, prompts: {} }
      return result(heard.id, { protocolVersion: '2025-06-18', capabilities })
    }
    if (heard.headers['mcp-session-id'] !== id()) return refuse(heard, 404, -32_001, false)
    if (heard.verb === 'GET') {
      heard.reply.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
      return HOLD
    }
    return answer(heard)
  }
}

async function begin(client: Client): Promise<void> {
  await client.say({ id: 0, method: 'initialize', params: { protocolVersion: '2025-06-18' } })
  await client.say({ method: 'notifications/initialized' })
}

const said = ({ heard }: FakeHost): (string | undefined)[] =>
  heard.map(({ verb, method }) => method ?? verb)

test('lines go through as they are, and answers come back as one line each', async () => {
  const host = await startHost(
    ({ id }) => `{"jsonrpc":"2.0",\n "id":${JSON.stringify(id)},\r\n"result":{"n":1.0}}`,
  )
  const client = connect(host)
  const line = '{ "jsonrpc":"2.0", "id":"ä\u2028", "method":"x", "params":{"n":1.0, "n":2} }'
  await client.sayLine(line)
  expect(host.heard[0]?.body).toBe(line)
  expect(client.lines).toEqual(['{"jsonrpc":"2.0",  "id":"ä\u2028", "result":{"n":1.0}}'])
})

test('what is said before the answer on a stream comes first', async () => {
  const host = await startHost((heard) => {
    sendEvent(heard, { jsonrpc: '2.0', method: 'notifications/progress' })
    sendEvent(heard, { jsonrpc: '2.0', id: 'ask', method: 'roots/list' })
    sendEvent(heard, result(heard.id, { text: 'a\nü' }))
    heard.reply.end()
  })
  const client = connect(host)
  await client.say({ id: 7, method: 'tools/call' })
  expect(messages(client)).toMatchObject([
    { method: 'notifications/progress' },
    { id: 'ask' },
    { id: 7, result: { text: 'a\nü' } },
  ])
})

test('a line that is no JSON is answered with an error', async () => {
  const client = connect({ port: 9 })
  await client.sayLine('{oops')
  expect(messages(client)).toMatchObject([{ id: null, error: { code: -32_700 } }])
})

test('an error of the protocol keeps its code whatever its status is; another one is put into words', async () => {
  const host = await startHost((heard) => {
    if (heard.id === 1) return refuse(heard, 404, -32_601)
    heard.reply.statusCode = 413
    return { error: 'too large' }
  })
  const client = connect(host)
  await client.say({ id: 1, method: 'nope', params: { _meta } })
  await client.say({ id: 2, method: 'ping' })
  expect(messages(client)).toMatchObject([
    { id: 1, error: { code: -32_601, message: 'no' } },
    { id: 2, error: { code: -32_000, message: expect.stringContaining('413') } },
  ])
})

test('a message of 2026-07-28 has the headers that HTTP wants', async () => {
  const host = await startHost(({ id }) => result(id, {}))
  const client = connect(host)
  await client.say({ id: 1, method: 'resources/read', params: { uri: 'x://ä', _meta } })
  expect(host.heard[0]?.headers).toMatchObject({
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'resources/read',
    'mcp-name': '=?base64?eDovL8Ok?=',
  })
})

test('headers that a tool wants are looked up when they are missed, once', async () => {
  const inputSchema = { properties: { city: { type: 'string', 'x-mcp-header': 'City' } } }
  const host = await startHost((heard) => {
    const { method, id, body, headers } = heard
    if (method === 'tools/list') {
      const isFirst = !body.includes('"cursor":"2"')
      const tools = isFirst ? [{ name: 'other' }] : [{ name: 'weather', inputSchema }]
      return result(id, { tools, ...(isFirst ? { nextCursor: '2' } : {}) })
    }
    if (headers['mcp-param-city'] !== 'Oslo') return refuse(heard, 400, -32_020)
    return result(id, {})
  })
  const client = connect(host)
  const params = { name: 'weather', arguments: { city: 'Oslo' }, _meta }
  await client.say({ id: 1, method: 'tools/call', params })
  await client.say({ id: 2, method: 'tools/call', params })
  expect(messages(client)).toMatchObject([
    { id: 1, result: {} },
    { id: 2, result: {} },
  ])
  expect(said(host)).toEqual(['tools/call', 'tools/list', 'tools/list', 'tools/call', 'tools/call'])
})

test('an older client has a session: its id, its version, its stream, its end', async () => {
  const host = await startHost(
    older(
      () => 'one',
      ({ id }) => (id === undefined ? undefined : result(id, {})),
    ),
  )
  const client = connect(host)
  await begin(client)
  await client.say({ id: 1, method: 'ping' })
  const stream = await eventually(() => host.heard.find(({ verb }) => verb === 'GET'))
  sendEvent(stream, { jsonrpc: '2.0', method: 'notifications/tools/list_changed' })
  await eventually(() => client.lines.length === 3)
  expect(host.heard.find(({ method }) => method === 'ping')?.headers).toMatchObject({
    'mcp-session-id': 'one',
    'mcp-protocol-version': '2025-06-18',
  })
  await client.bridge.close()
  await stream.closed
  expect(said(host).at(-1)).toBe('DELETE')
})

test('a session that is over is begun anew, with what was said to it', async () => {
  let id = 'one'
  const host = await startHost(
    older(
      () => id,
      (heard) => (heard.id === undefined ? undefined : result(heard.id, {})),
    ),
  )
  const client = connect(host)
  await begin(client)
  await client.say({ id: 1, method: 'logging/setLevel', params: { level: 'debug' } })
  await client.say({ id: 2, method: 'resources/subscribe', params: { uri: 'a:' } })
  await client.say({ id: 3, method: 'resources/subscribe', params: { uri: 'b:' } })
  await client.say({ id: 4, method: 'resources/unsubscribe', params: { uri: 'a:' } })
  await eventually(() => said(host).includes('GET'))
  const before = host.heard.length
  const answered = client.lines.length
  id = 'two'
  await Promise.all([
    client.say({ id: 5, method: 'tools/call' }),
    client.say({ id: 6, method: 'tools/call' }),
  ])
  expect(messages(client).slice(answered)).toHaveLength(2)
  await eventually(() => said(host).slice(before).includes('GET'))
  const after = host.heard
    .slice(before)
    .filter(({ headers }) => headers['mcp-session-id'] !== 'one')
  expect(after.map(({ verb, method }) => method ?? verb)).toEqual(
    expect.arrayContaining(['GET', 'tools/call', 'tools/call']),
  )
  expect(after.slice(0, 4).map(({ method }) => method)).toEqual([
    'initialize',
    'notifications/initialized',
    'logging/setLevel',
    'resources/subscribe',
  ])
  expect(after[3]?.body).toContain('"b:"')
})

test('the stream of an older session is opened again when it breaks, and what was missed is told', async () => {
  const host = await startHost(older(() => 'one'))
  const client = connect(host)
  await begin(client)
  const streams = (): Heard[] => host.heard.filter(({ verb }) => verb === 'GET')
  const first = await eventually(() => streams()[0])
  first.reply.destroy()
  const second = await eventually(() => streams()[1])
  sendEvent(second, { jsonrpc: '2.0', method: 'notifications/message' })
  await eventually(() => client.lines.length === 3)
  expect(messages(client)).toMatchObject([
    { id: 0 },
    { method: 'notifications/tools/list_changed' },
    { method: 'notifications/message' },
  ])
})

test('a host without a stream is not asked for it again', async () => {
  const plain = await startHost((heard) => {
    if (heard.verb === 'GET') return refuse(heard, 405, -32_000)
    return heard.id === undefined ? undefined : result(heard.id, { protocolVersion: '2025-06-18' })
  })
  const client = connect(plain)
  await begin(client)
  await eventually(() => said(plain).includes('GET'))
  await client.say({ id: 1, method: 'ping' })
  expect(said(plain).filter((each) => each === 'GET')).toHaveLength(1)
})

test('messages wait for a host that is not there yet', async () => {
  const gone = await startFakeHost(() => undefined)
  await gone.stop()
  const client = connect(gone)
  const asked = client.say({ id: 1, method: 'tools/call' })
  await eventually(() => client.logged.length > 0)
  await startHost(({ id }) => result(id, {}), gone.port)
  await asked
  expect(messages(client)).toMatchObject([{ id: 1, result: {} }])
  expect(client.logged).toHaveLength(2)
})

test('a host that has not got so far is waited for', async () => {
  let count = 0
  const host = await startHost((heard) => {
    count++
    if (count === 1) return refuse(heard, 503, -1, false)
    if (count === 2) return refuse(heard, 404, -32_600, false)
    return result(heard.id, {})
  })
  const client = connect(host)
  await client.say({ id: 1, method: 'initialize' })
  expect(messages(client)).toMatchObject([{ id: 1, result: {} }])
})

test('of a host that does not come it is said how to start it', async () => {
  const gone = await startFakeHost(() => undefined)
  await gone.stop()
  const client = connect(gone, 50)
  await client.say({ id: 'a', method: 'initialize' })
  expect(messages(client)).toMatchObject([
    {
      id: 'a',
      error: {
        code: -32_000,
        message: expect.stringMatching(/no MCP host answers at http.*\/mcp.*Start it\./),
        data: { reason: 'unavailable', retryable: true },
      },
    },
  ])
})

test('a call whose connection breaks is not made twice; what only reads is', async () => {
  let isBroken = true
  const host = await startHost((heard) => {
    if (!isBroken) return result(heard.id, {})
    heard.reply.destroy()
    return HOLD
  })
  const client = connect(host)
  await client.say({ id: 1, method: 'tools/call' })
  expect(messages(client)).toMatchObject([
    { id: 1, error: { data: { reason: 'unknown-outcome' } } },
  ])
  expect(host.heard).toHaveLength(1)
  const listed = client.say({ id: 2, method: 'tools/list' })
  await eventually(() => host.heard.length > 2)
  isBroken = false
  await listed
  expect(messages(client)).toMatchObject([{}, { id: 2, result: {} }])
})

test('a call has a connection of its own, so that one to a dead host is known not to be heard', async () => {
  const host = await startHost(({ id }) => result(id, {}))
  const client = connect(host)
  for (const method of ['tools/list', 'tools/call', 'tools/list'])
    await client.say({ id: 1, method })
  const ports = host.heard.map(({ from }) => from)
  expect(ports[1]).not.toBe(ports[0])
  expect(ports[2]).toBe(ports[0])
})

test('a stream that ends without an answer is an error', async () => {
  const host = await startHost((heard) => {
    sendEvent(heard, { jsonrpc: '2.0', method: 'notifications/progress' })
    heard.reply.end()
  })
  const client = connect(host)
  await client.say({ id: 1, method: 'tools/call' })
  expect(messages(client)).toMatchObject([
    {},
    { id: 1, error: { data: { reason: 'unknown-outcome' } } },
  ])
})

test('the cancel of a newer client closes its request, that of an older one is passed on', async () => {
  const host = await startHost(
    older(
      () => 'one',
      ({ id }) => (id === undefined ? undefined : HOLD),
    ),
  )
  const client = connect(host)
  void client.say({ id: 1, method: 'tools/call', params: { _meta } })
  const held = await eventually(() => host.heard.find(({ id }) => id === 1))
  const cancel = { method: 'notifications/cancelled', params: { requestId: 1 } }
  await client.say(cancel)
  await held.closed
  expect(host.heard).toHaveLength(1)
  expect(client.lines).toEqual([])

  await begin(client)
  void client.say({ id: 1, method: 'tools/call' })
  await eventually(() => said(host).at(-1) === 'tools/call')
  await client.say(cancel)
  expect(said(host).at(-1)).toBe('notifications/cancelled')
})

test('a request that waits for the host can be cancelled, too', async () => {
  const gone = await startFakeHost(() => undefined)
  await gone.stop()
  const client = connect(gone, 60_000)
  const asked = client.say({ id: 1, method: 'tools/call' })
  await eventually(() => client.logged.length > 0)
  await client.say({ method: 'notifications/cancelled', params: { requestId: 1 } })
  await asked
  expect(client.lines).toEqual([])
})

test('a subscription of a newer client outlasts the host', async () => {
  const host = await startHost((heard) => {
    sendEvent(heard, { jsonrpc: '2.0', method: 'notifications/subscriptions/acknowledged' })
    return HOLD
  })
  const client = connect(host, 50)
  const notifications = { toolsListChanged: true }
  const params = { notifications, _meta }
  void client.say({ id: 'listen:0', method: 'subscriptions/listen', params })
  const first = await eventually(() => host.heard[0])
  await eventually(() => client.lines.length === 1)
  sendEvent(first, result('listen:0', { resultType: 'complete' }))
  const second = await eventually(() => host.heard[1])
  await eventually(() => client.lines.length === 3)
  second.reply.destroy()
  await eventually(() => client.lines.length === 5)
  const begun = { method: 'notifications/subscriptions/acknowledged' }
  const changed = {
    method: 'notifications/tools/list_changed',
    params: { _meta: { 'io.modelcontextprotocol/subscriptionId': 'listen:0' } },
  }
  expect(messages(client)).toMatchObject([begun, begun, changed, begun, changed])
})

test('a subscription that is refused is answered', async () => {
  const host = await startHost(({ id }) => ({
    jsonrpc: '2.0',
    id,
    error: { code: -32_601, message: 'no' },
  }))
  const client = connect(host)
  await client.say({ id: 'listen:0', method: 'subscriptions/listen', params: { _meta } })
  expect(messages(client)).toMatchObject([{ id: 'listen:0', error: { code: -32_601 } }])
})

test('at the end what is under way is cancelled, and the session is over', async () => {
  const host = await startHost(
    older(
      () => 'one',
      ({ id }) => (id === undefined ? undefined : HOLD),
    ),
  )
  const client = connect(host)
  await begin(client)
  const asked = client.say({ id: 5, method: 'tools/call' })
  await eventually(() => said(host).includes('tools/call'))
  await client.bridge.close()
  await asked
  const cancel = host.heard.find(({ method }) => method === 'notifications/cancelled')
  expect(cancel?.body).toContain('"requestId":5')
  expect(said(host).at(-1)).toBe('DELETE')
})
