// Limits that two gateways and the orchestrator apply together.
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Down } from '@mcp-host/contracts'
import type { Stack } from '@mcp-host/testkit'
import { ChatSocket, eventually, script, startStack, testFolder } from '@mcp-host/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'

const inputSchema = { type: 'object', properties: { text: { type: 'string' } } }
const POLICY = { rules: [{ name: 'rare', tool: 'rare', effect: 'allow', limit: '1/h' }] }
const run = promisify(execFile)

const cleanup = new AsyncDisposableStack()
let stack: Stack
let gateways: readonly [string, string]
/** API keys by their principal. */
const keys: Record<string, string> = {}

beforeAll(async () => {
  const policyFile = join(cleanup.use(await testFolder()).path, 'policy.json')
  await writeFile(policyFile, JSON.stringify(POLICY))
  stack = cleanup.use(
    await startStack({
      tools: ['echo', 'rare'].map((name) => ({ name, inputSchema })),
      env: {
        AUTH: 'keys',
        POLICY_CONFIG: policyFile,
        LIMIT_REQUESTS: '100/s',
        LIMIT_TOOL_CALLS: '6/h',
        LIMIT_MESSAGES: '3/h',
        LIMIT_TOKENS: '2000/d',
        LIMIT_SOCKETS: '2',
      },
    }),
  )
  gateways = [stack.url, (await stack.add('gateway')).url]
  const program = join(import.meta.dirname, '..', 'tools', 'keys.ts')
  const about = ['create', 'root', '--role', 'admin', '--nats', stack.broker.url]
  const { stdout } = await run(process.execPath, [program, ...about], {
    cwd: dirname(stack.mcpJson),
    env: { ...process.env, ...stack.broker.env },
  })
  keys['root'] = stdout.trim()
  for (const name of ['ann', 'bob', 'carl', 'dora', 'eve']) {
    const made = await ask('root', 'POST', '/api/keys', { name, principal: `user:${name}` })
    keys[name] = (JSON.parse(made.text) as { key: string }).key
  }
}, 120_000)
afterAll(() => cleanup.disposeAsync())

const bearer = (user: string) => ({ authorization: `Bearer ${keys[user]}` })

async function ask(user: string, method: string, path: string, body?: object, gateway = 0) {
  const response = await fetch(gateways[gateway] + path, {
    method,
    headers: { 'content-type': 'application/json', ...bearer(user) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, text, headers: response.headers }
}

const callTool = (user: string, name: string, gateway = 0) =>
  ask(user, 'POST', '/mcp/tools/call', { name: `test__${name}`, arguments: {} }, gateway)

async function openSocket(user: string): Promise<ChatSocket> {
  return ChatSocket.open({ url: stack.url, headers: bearer(user) })
}

test('10,000 requests at 1,000 a second to two gateways get the permits of their seconds, and the others a time to come back', async () => {
  const allowed = new Map<number, number>()
  let refused = 0
  let next = 0
  const startedAt = Date.now()
  const client = async (): Promise<void> => {
    while (next < 10_000) {
      const turn = next++
      // One each millisecond.
      await delay(startedAt + turn - Date.now())
      const { status, headers } = await ask('ann', 'GET', '/api/me', undefined, turn % 2)
      const second = Math.floor(Date.parse(headers.get('date') ?? '') / 1_000)
      if (status === 200) allowed.set(second, (allowed.get(second) ?? 0) + 1)
      else {
        expect([status, headers.get('retry-after')]).toEqual([429, '1'])
        refused += 1
      }
    }
  }
  await Promise.all(Array.from({ length: 16 }, client))
  const windows = Math.floor(Date.now() / 1_000) - Math.floor(startedAt / 1_000) + 1
  const total = Array.from(allowed.values()).reduce((sum, each) => sum + each, 0)
  expect(total + refused).toBe(10_000)
  expect(total).toBeLessThanOrEqual(windows * 100)
  // The first and the last second are not whole.
  expect(total).toBeGreaterThanOrEqual((windows - 2) * 90)
}, 60_000)

test('tool calls of a principal are counted over all entrances', async () => {
  const call = { name: 'test__echo', arguments: {} }
  const rpc = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: call }
  const params = {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 't', version: '1' },
  }
  const initialize = { jsonrpc: '2.0', id: 0, method: 'initialize', params }
  const begun = await ask('bob', 'POST', '/mcp', initialize, 1)
  const session = begun.headers.get('mcp-session-id') ?? ''
  const atMcp = async () => {
    const response = await fetch(`${gateways[1]}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'mcp-session-id': session, ...bearer('bob') },
      body: JSON.stringify(rpc),
    })
    return { status: response.status, text: await response.text() }
  }
  expect((await callTool('bob', 'echo')).status).toBe(200)
  expect((await atMcp()).text).toContain('result')
  using chat = await openSocket('bob')
  const calls = Array.from({ length: 5 }, () => ({ name: 'test__echo', arguments: {} }))
  chat.say(script({ calls }, { tokens: 1 }))
  await chat.turnsDone()
  const outcomes = chat.frames.flatMap((frame) =>
    frame.type === 'tool' && frame.payload.state === 'result' ? [frame.payload.outcome] : [],
  )
  expect(outcomes.filter((outcome) => outcome === 'refused')).toHaveLength(1)
  expect(await atMcp()).toMatchObject({
    status: 429,
    text: expect.stringContaining('retryAfterMs'),
  })
  expect(await callTool('bob', 'echo', 1)).toMatchObject({
    status: 429,
    text: expect.stringContaining('6 tool calls are allowed per hour'),
  })
  // Others are not affected.
  expect((await callTool('carl', 'echo')).status).toBe(200)
})

test('a rule of the policy limits one tool of each principal', async () => {
  expect((await callTool('carl', 'rare')).status).toBe(200)
  expect(await callTool('carl', 'rare', 1)).toMatchObject({
    status: 429,
    text: expect.stringContaining('calls of the rule rare'),
  })
  expect((await callTool('dora', 'rare')).status).toBe(200)
  expect((await callTool('carl', 'echo')).status).toBe(200)
})

test('messages over the limit are refused by the standard message, on both entrances', async () => {
  using chat = await openSocket('dora')
  for (let count = 0; count < 3; count++) {
    chat.say(script({ tokens: 1 }))
  }
  await chat.turnsDone(3)
  chat.say('one too many')
  const frame = await chat.waitFor(({ type }) => type === 'error')
  expect('payload' in frame && frame.payload).toMatchObject({
    code: 'exhausted',
    message: expect.stringMatching(/^Too many requests: 3 messages are allowed per hour/),
    retryAfterMs: expect.any(Number),
    retryable: true,
  })
  const path = `/api/chat/session/${chat.sessionId}/message`
  const refused = await ask('dora', 'POST', path, { message: 'hi' }, 1)
  expect(refused.status).toBe(429)
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(1)
})

test('a message over the limit of requests is refused by its id', async () => {
  using chat = await openSocket('carl')
  const answerTo = (id?: string) => (frame: Down) =>
    (frame.type === 'error' || frame.type === 'accepted') && frame.payload.messageId === id
  // The next second, with new permits, may begin just before the message.
  for (let attempt = 1; ; attempt++) {
    chat.frames.length = 0
    // The pings of the first round trip are accepted, since the permits are fetched meanwhile.
    await eventually(() => {
      for (let count = 0; count < 50; count++) chat.send({ type: 'ping' })
      return chat.frames.some(answerTo())
    })
    chat.say('one too many', `named${attempt}`)
    const answer = JSON.stringify(await chat.waitFor(answerTo(`named${attempt}`)))
    if (answer.includes('100 requests are allowed')) return
    expect(attempt, answer).toBeLessThan(10)
  }
})

test('the tokens of a principal are used up by its turns', async () => {
  using chat = await openSocket('eve')
  chat.say(script({ tokens: 2_500 }))
  await chat.turnsDone()
  // The count is stored after the end of the turn, and seen a second later.
  await delay(1_200)
  chat.say('more')
  const frame = await chat.waitFor(({ type }) => type === 'error')
  expect('payload' in frame && frame.payload).toMatchObject({
    message: expect.stringContaining('2000 tokens are allowed per day'),
  })
})

test('a principal has no more than its open sockets, and gets a closed one back', async () => {
  const first = await openSocket('carl')
  using _second = await openSocket('carl')
  using third = ChatSocket.start({ url: stack.url, headers: bearer('carl') })
  await eventually(() => third.closed !== undefined)
  first[Symbol.dispose]()
  await eventually(async () => {
    using again = ChatSocket.start({ url: stack.url, headers: bearer('carl') })
    await eventually(() => again.sessionId !== '' || again.closed !== undefined)
    return again.sessionId !== ''
  })
})

test('many clients that do not finish their headers are cut off, and others are served meanwhile', async () => {
  const { hostname, port } = new URL(stack.url)
  const silent = Array.from({ length: 200 }, () => connect(Number(port), hostname))
  const slow = Array.from({ length: 200 }, () => connect(Number(port), hostname))
  const answers = new Set<string>()
  for (const socket of [...silent, ...slow]) socket.on('error', () => undefined).resume()
  for (const socket of slow) {
    socket.on('data', (data) => answers.add(String(data).slice(0, 12)))
    socket.write('GET /health HTTP/1.1\r\nhost: localhost\r\nx-slow: ')
  }
  let served = 0
  const areCut = async (): Promise<boolean> => {
    for (const socket of slow) socket.write('a')
    served += Number((await ask('root', 'GET', '/api/me')).status === 200)
    await delay(1_000)
    return [...silent, ...slow].every(({ destroyed }) => destroyed)
  }
  await eventually(areCut, { limitMs: 60_000 })
  expect([...answers]).toEqual(['HTTP/1.1 408'])
  expect(served).toBeGreaterThan(10)
}, 90_000)
