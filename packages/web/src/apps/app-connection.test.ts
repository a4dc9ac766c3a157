import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { AppConnection } from './app-connection.ts'

interface Sent {
  readonly id?: unknown
  readonly method?: string
  readonly result?: Record<string, unknown>
  readonly error?: { code: number; message: string }
}

let sent: Sent[]
let happened: unknown[]
let now: number
let callTool: () => Promise<object>
let connection: AppConnection
beforeEach(() => {
  sent = []
  happened = []
  now = 0
  callTool = async () => ({ content: [] })
  connection = new AppConnection({
    actions: {
      callTool: () => callTool(),
      readResource: async () => ({ contents: [] }),
      openLink: async () => ({}),
      sendMessage: async () => ({}),
    },
    context: () => ({ theme: 'dark' }),
    send: (message) => void sent.push(message),
    onSandboxReady: () => void happened.push('sandbox'),
    onReady: () => void happened.push('ready'),
    onHeight: (height) => void happened.push(height),
    onLog: (line) => void happened.push(line),
    onFlood: () => void happened.push('flood'),
    now: () => now,
  })
})
afterEach(() => vi.useRealTimers())

function receive(message: object): void {
  connection.receive(JSON.stringify({ jsonrpc: '2.0', ...message }))
}

async function ask(method: string, params: object = {}): Promise<Sent | undefined> {
  receive({ id: 1, method, params })
  await vi.waitFor(() => expect(sent.some(({ id }) => id === 1)).toBe(true))
  return sent.find(({ id }) => id === 1)
}

test('an app learns the host and its context', async () => {
  const { result } = (await ask('ui/initialize', { protocolVersion: '2025-11-21' })) ?? {}
  expect(result).toMatchObject({
    protocolVersion: '2025-11-21',
    hostInfo: { name: 'mcp-host' },
    hostContext: { theme: 'dark' },
  })
  expect(result?.['hostCapabilities']).not.toHaveProperty('updateModelContext')
})

test('an app with an unknown revision is offered the newest one', async () => {
  const answer = await ask('ui/initialize', { protocolVersion: '2030-01-01' })
  expect(answer?.result?.['protocolVersion']).toBe('2026-01-26')
})

test('an app is told nothing before it is ready, and then everything in order', () => {
  connection.tell('input', {})
  connection.changeContext({ theme: 'light' })
  connection.tell('result', {})
  expect(sent).toEqual([])
  receive({ method: 'ui/notifications/initialized' })
  receive({ method: 'ui/notifications/initialized' })
  expect(sent.map(({ method }) => method)).toEqual(['input', 'result'])
  connection.changeContext({ theme: 'light' })
  expect(sent.at(-1)?.method).toBe('ui/notifications/host-context-changed')
  expect(happened).toEqual(['ready'])
})

test.each([
  ['ping', {}],
  ['tools/call', { content: [] }],
  ['resources/read', { contents: [] }],
  ['ui/open-link', {}],
  ['ui/message', {}],
  ['ui/request-display-mode', { mode: 'inline' }],
])('%s is answered', async (method, result) => {
  expect(await ask(method)).toEqual({ jsonrpc: '2.0', id: 1, result })
})

test.each(['ui/update-model-context', 'sampling/createMessage', 'tools/list', 'constructor'])(
  '%s is refused as unknown',
  async (method) => {
    const { error } = (await ask(method)) ?? {}
    expect(error).toEqual({ code: -32_601, message: `this host does not offer ${method}` })
  },
)

test('the reason of a failure is the answer', async () => {
  callTool = () => Promise.reject(new Error('the server is away'))
  const answer = await ask('tools/call')
  expect(answer?.error).toEqual({ code: -32_000, message: 'the server is away' })
})

test('notices of an app are passed on, as far as they make sense', () => {
  receive({ method: 'ui/notifications/sandbox-proxy-ready' })
  receive({ method: 'ui/notifications/size-changed', params: { height: 120 } })
  receive({ method: 'ui/notifications/size-changed', params: { height: '12' } })
  receive({ method: 'ui/notifications/size-changed', params: { height: null } })
  receive({ method: 'notifications/message', params: { level: 'warning', data: { a: 1 } } })
  receive({ method: 'notifications/message', params: { data: 'x'.repeat(9_000) } })
  expect(happened.slice(0, 3)).toEqual(['sandbox', 120, 'warning: {"a":1}'])
  expect(happened).toHaveLength(4)
  expect(String(happened[3])).toHaveLength(500)
})

test.each([
  'no JSON',
  'null',
  '[]',
  '"text"',
  '{"id":1,"method":"ping"}',
  '{"jsonrpc":"2.0","id":{},"method":"ping"}',
  '{"jsonrpc":"2.0","id":1,"method":7}',
  '{"jsonrpc":"2.0","id":1,"method":"ping","params":7}',
  '{"jsonrpc":"2.0","id":"teardown","result":{}}',
])('%s has no effect', async (text) => {
  connection.receive(text)
  await ask('ping')
  expect(sent).toHaveLength(1)
  expect(happened).toEqual([])
})

test('requests beyond 16 open ones are refused', async () => {
  const open = Promise.withResolvers<object>()
  callTool = () => open.promise
  for (let id = 1; id <= 17; id++) receive({ id, method: 'tools/call' })
  await vi.waitFor(() => expect(sent).toHaveLength(1))
  expect(sent[0]).toMatchObject({ id: 17, error: { message: expect.stringContaining('16') } })
  open.resolve({})
  await vi.waitFor(() => expect(sent).toHaveLength(17))
})

test('a flood of messages is told, also one past the sandbox; steady messages are not', () => {
  for (let message = 0; message < 3_000; message++) {
    now += 10
    receive({ method: 'x' })
  }
  expect(happened).toEqual([])
  now += 3_000
  for (let message = 0; message < 300; message++) connection.count()
  expect(happened).toEqual([])
  receive({ id: 1, method: 'ping' })
  expect(happened).toEqual(['flood'])
  expect(sent).toEqual([])
})

test('an app is asked before its end, and waited for', async () => {
  receive({ method: 'ui/notifications/initialized' })
  const end = connection.teardown()
  expect(sent).toMatchObject([{ id: 'teardown', method: 'ui/resource-teardown' }])
  receive({ id: 'teardown', result: {} })
  await end
})

test('an app that does not answer is not waited for long, and one that has not begun not at all', async () => {
  await connection.teardown()
  vi.useFakeTimers()
  receive({ method: 'ui/notifications/initialized' })
  const end = connection.teardown()
  vi.advanceTimersByTime(500)
  await end
})
