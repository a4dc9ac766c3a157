// Resumed requests: a legacy client loses its connection and resumes at another gateway.
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Stack } from '@mcp-host/testkit'
import { eventually, startStack } from '@mcp-host/testkit'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'

const inputSchema = { type: 'object', properties: { text: { type: 'string' } } }
const asking = join(import.meta.dirname, '../packages/testkit/fixtures/asking-server.ts')
const NOTICES = 20
const ALL = Array.from({ length: NOTICES }, (_, index) => index + 1)

let stack: Stack
/** The gateway that is killed, or whose connection is cut. */
let first: Awaited<ReturnType<Stack['add']>>
beforeAll(async () => {
  stack = await startStack({
    tools: [
      { name: 'telling', inputSchema, notices: NOTICES, noticeMs: 100 },
      { name: 'silent', inputSchema, delayMs: 1_500 },
      { name: 'large', inputSchema, delayMs: 1_500, bytes: 3_000_000 },
    ],
    toolCount: 4,
    servers: { asking: { command: process.execPath, args: [asking], scope: 'session' } },
  })
})
afterAll(() => stack[Symbol.asyncDispose]())
beforeEach(async () => {
  first = await stack.add('gateway')
})
afterEach(async () => {
  first.process.signal('SIGKILL')
  await first.process.gone
})

const usual = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
const capabilities = { elicitation: {} }

interface Event {
  readonly id?: string
  readonly data: string
}

interface Message {
  readonly id?: unknown
  readonly method?: string
  readonly params?: { readonly progress: number }
  readonly result?: { readonly content: { text: string }[] }
  readonly error?: { readonly code: number; readonly data: object }
}

type Headers = Readonly<Record<string, string>>

/** Starts a session of this version and returns its headers. */
async function begin(version: string): Promise<Headers> {
  const clientInfo = { name: 'test', version: '1' }
  const params = { protocolVersion: version, capabilities, clientInfo }
  const response = await fetch(`${first.url}/mcp`, {
    method: 'POST',
    headers: usual,
    body: JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params }),
  })
  await response.arrayBuffer()
  const session = response.headers.get('mcp-session-id') ?? ''
  return { ...usual, 'mcp-session-id': session, 'mcp-protocol-version': version }
}

interface Open {
  readonly response: Response
  readonly events: AsyncGenerator<Event>
  /** Cuts the connection, as a network failure. */
  readonly cut: () => void
}

async function open(url: string, init: RequestInit): Promise<Open> {
  const left = new AbortController()
  const response = await fetch(`${url}/mcp`, { ...init, signal: left.signal })
  return { response, events: eventsOf(response), cut: () => left.abort() }
}

function call(headers: Headers, name: string, args: object): Promise<Open> {
  const params = { name, arguments: args, _meta: { progressToken: 'p' } }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/call', params })
  return open(first.url, { method: 'POST', headers, body })
}

function resume(headers: Headers, lastEventId: string | undefined): Promise<Open> {
  return open(stack.url, { headers: { ...headers, 'last-event-id': lastEventId ?? '' } })
}

/** The events until the stream ends or is cut. */
async function* eventsOf({ body }: Response): AsyncGenerator<Event> {
  let text = ''
  const decoder = new TextDecoder()
  try {
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      text += decoder.decode(chunk, { stream: true })
      const blocks = text.split('\n\n')
      text = blocks.pop() ?? ''
      for (const block of blocks) {
        const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1]
        const id = field('id')
        if (id !== undefined) yield { id, data: field('data') ?? '' }
      }
    }
  } catch {
    // The connection was cut.
  }
}

const messagesOf = (events: readonly Event[]): Message[] =>
  events.flatMap(({ data }) => (data === '' ? [] : [JSON.parse(data) as Message]))

const progressOf = (events: readonly Event[]): unknown[] =>
  messagesOf(events).flatMap(({ params }) => (params === undefined ? [] : [params.progress]))

/** The first `count` events. */
async function take({ events }: Open, count: number): Promise<Event[]> {
  const taken: Event[] = []
  while (taken.length < count) {
    const { value, done } = await events.next()
    if (done === true) break
    taken.push(value)
  }
  return taken
}

/** The number of calls of a tool with this text. */
async function callsOf(text: string): Promise<number> {
  const journal = await stack.journal()
  return journal.filter((entry) => JSON.stringify(entry).includes(text)).length
}

describe.each(['2025-03-26', '2025-11-25'])('a client of %s', (version) => {
  test.each([
    ['its connection is cut', (stream: Open) => stream.cut()],
    ['its gateway is killed', () => void first.process.signal('SIGKILL')],
  ])('a client gets all missed messages once when %s', async (how, lose) => {
    const headers = await begin(version)
    const text = `${version}: ${how}`
    const stream = await call(headers, 'test__telling', { text })
    const before = await take(stream, 6)
    lose(stream)
    const { events } = await resume(headers, before.at(-1)?.id)
    const after = await Array.fromAsync(events)
    expect(progressOf([...before, ...after])).toEqual(ALL)
    expect(messagesOf(after).at(-1)).toMatchObject({
      id: 7,
      result: { content: [{ text: JSON.stringify({ text }) }] },
    })
    expect(await callsOf(text)).toBe(1)
  })
})

const LATEST = '2025-11-25'

test('an answer without earlier messages is resumed after its gateway was killed', async () => {
  const headers = await begin(LATEST)
  const stream = await call(headers, 'test__silent', { text: 'silent' })
  const [primed] = await take(stream, 1)
  expect(primed?.data).toBe('')
  first.process.signal('SIGKILL')
  const { events } = await resume(headers, primed?.id)
  const messages = messagesOf(await Array.fromAsync(events))
  expect(messages).toMatchObject([{ id: 7, result: { content: [{ text: '{"text":"silent"}' }] } }])
  expect(await callsOf('silent')).toBe(1)
})

test('a large result can be resumed twice', async () => {
  const headers = await begin(LATEST)
  const stream = await call(headers, 'test__large', {})
  const [primed] = await take(stream, 1)
  stream.cut()
  for (let time = 0; time < 2; time++) {
    const { events } = await resume(headers, primed?.id)
    const [answer] = messagesOf(await Array.fromAsync(events))
    expect(answer?.result?.content[0]?.text).toHaveLength(3_000_000)
  }
})

test('a server request is sent again with its id, and answered at any gateway', async () => {
  const headers = await begin(LATEST)
  const question = {
    method: 'elicitation/create',
    params: { message: 'Who?', requestedSchema: { type: 'object', properties: {} } },
  }
  const stream = await call(headers, 'asking__ask', question)
  const [primed, asked] = await take(stream, 2)
  stream.cut()
  const again = await resume(headers, primed?.id)
  const [, askedAgain] = await take(again, 2)
  expect(askedAgain).toEqual(asked)
  const { id } = JSON.parse(asked?.data ?? '') as Message
  const body = JSON.stringify({ jsonrpc: '2.0', id, result: { action: 'decline' } })
  await fetch(`${stack.url}/mcp`, { method: 'POST', headers, body })
  const messages = messagesOf(await Array.fromAsync(again.events))
  expect(messages).toMatchObject([
    { id: 7, result: { content: [{ text: '{"action":"decline"}' }] } },
  ])
})

test('a resumed stream replaces the former one without duplicates', async () => {
  const headers = await begin(LATEST)
  const stream = await call(headers, 'test__telling', { text: 'taken over' })
  const before = await take(stream, 4)
  const { events } = await resume(headers, before.at(-1)?.id)
  const [after, rest] = await Promise.all([Array.fromAsync(events), Array.fromAsync(stream.events)])
  // A message in flight may arrive on both streams.
  expect(rest.length).toBeLessThan(5)
  expect(progressOf([...before, ...after])).toEqual(ALL)
  expect(messagesOf(rest).some(({ result }) => result !== undefined)).toBe(false)
})

test('a request of another session or that has ended is not resumed', async () => {
  const headers = await begin(LATEST)
  const stream = await call(headers, 'test__telling', { text: 'mine' })
  const before = await take(stream, 3)
  const { events } = await resume(await begin(LATEST), before.at(-1)?.id)
  const stolen = messagesOf(await Array.fromAsync(events))
  expect(stolen).toMatchObject([
    { id: 7, error: { code: -32_000, data: { reason: 'unknown-outcome' } } },
  ])
  const mine = await Array.fromAsync(stream.events)
  expect(progressOf([...before, ...mine])).toEqual(ALL)
  const { response } = await resume(headers, mine.at(-1)?.id)
  expect(response.status).toBe(405)
})

type Call = (onprogress: (notice: { progress: number }) => void) => Promise<unknown>

const info = { name: 'test', version: '1' }
const calling = { name: 'test__telling', arguments: { text: 'by itself' } }

/** A client behind a balancer, which sends requests to the other gateway when the first one refuses. */
const balanced: typeof fetch = async (input, init) => {
  try {
    return await fetch(new URL('/mcp', first.url), init)
  } catch {
    return fetch(input, init)
  }
}

test.each<[string, (url: URL) => Promise<Call>]>([
  [
    'v1',
    async (url) => {
      const client = new OldClient(info)
      await client.connect(new OldTransport(url, { fetch: balanced }))
      return (onprogress) => client.callTool(calling, undefined, { onprogress })
    },
  ],
  [
    'v2',
    async (url) => {
      const client = new Client(info, { versionNegotiation: { mode: 'legacy' } })
      await client.connect(new StreamableHTTPClientTransport(url, { fetch: balanced }))
      return (onprogress) => client.callTool(calling, { onprogress })
    },
  ],
])('%s of the SDK resumes by itself', async (_, connect) => {
  const before = await callsOf('by itself')
  const callTool = await connect(new URL(`${stack.url}/mcp`))
  const steps: number[] = []
  const answered = callTool(({ progress }) => void steps.push(progress))
  await eventually(() => steps.length > 5, { what: 'some progress' })
  first.process.signal('SIGKILL')
  expect(await answered).toMatchObject({ content: [{ text: '{"text":"by itself"}' }] })
  expect(steps).toEqual(ALL)
  expect(await callsOf('by itself')).toBe(before + 1)
})

test(
  'a request whose supervisor has died is answered with an error when it is resumed',
  { timeout: 60_000 },
  async () => {
    const headers = await begin(LATEST)
    const stream = await call(headers, 'test__silent', { text: 'lost' })
    const [primed] = await take(stream, 1)
    stream.cut()
    await stack.kill('mcp-supervisor')
    const { events } = await resume(headers, primed?.id)
    const messages = messagesOf(await Array.fromAsync(events))
    expect(messages).toMatchObject([
      { id: 7, error: { code: -32_000, data: { reason: 'unknown-outcome', retryable: false } } },
    ])
  },
)
