// The HTTP API of a whole host, for clients without WebSocket.
import { join } from 'node:path'
import type { Stack } from '@mcp-host/testkit'
import { ChatSocket, eventually, script, startStack } from '@mcp-host/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const echo = {
  name: 'echo',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
}
const slow = { ...echo, name: 'slow', notices: 3, noticeMs: 300 }
const program = join(import.meta.dirname, '..', 'packages/testkit/fixtures/asking-server.ts')
const asker = { command: process.execPath, args: [program], scope: 'session' }

let stack: Stack
let otherGateway: string
beforeAll(async () => {
  stack = await startStack({ tools: [echo, slow], servers: { asker }, toolCount: 3 })
  otherGateway = (await stack.add('gateway')).url
})
afterAll(() => stack[Symbol.asyncDispose]())

interface Event {
  readonly id: string | undefined
  readonly type: string
  readonly content: string
  readonly [field: string]: unknown
}

interface Reply<T> {
  readonly status: number
  readonly body: T
}

async function request<T = Record<string, unknown>>(
  method: string,
  path: string,
  body?: object,
): Promise<Reply<T>> {
  const response = await send(stack.url, method, path, body)
  const text = await response.text()
  return { status: response.status, body: (text === '' ? undefined : JSON.parse(text)) as T }
}

function send(url: string, method: string, path: string, body?: object): Promise<Response> {
  const json = { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  return fetch(`${url}/api/chat${path}`, { method, ...(body === undefined ? {} : json) })
}

async function newSession(title?: string): Promise<string> {
  const { body } = await request<{ sessionId: string }>(
    'POST',
    '/session',
    title === undefined ? {} : { title },
  )
  return body.sessionId
}

/** The events of a stream as they arrive. A reader that stops closes the stream. */
async function* eventsOf(response: Response): AsyncGenerator<Event> {
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  let text = ''
  for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const blocks = (text + piece).split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) {
      const [, data] = /^data: (.*)$/m.exec(block) ?? []
      const [, id] = /^id: (.*)$/m.exec(block) ?? []
      if (data !== undefined) yield { ...(JSON.parse(data) as Event), id }
    }
  }
}

/** Sends a message and returns the stream of its turn. */
async function* say(session: string, message: string, id?: string): AsyncGenerator<Event> {
  const body = id === undefined ? { message } : { message, id }
  yield* eventsOf(await send(stack.url, 'POST', `/session/${session}/message`, body))
}

/** Follows a session after an id at the other gateway until a turn is done. */
async function* follow(session: string, after: string): AsyncGenerator<Event> {
  const headers = { 'last-event-id': after }
  const response = await fetch(`${otherGateway}/api/chat/session/${session}/events`, { headers })
  for await (const event of eventsOf(response)) {
    yield event
    if (event.type === 'done') return
  }
}

const textOf = (events: readonly Event[]): string =>
  events.flatMap(({ type, content }) => (type === 'content' ? [content] : [])).join('')

const turn = script(
  { text: 'Let me see. ', calls: [{ name: 'test__echo', arguments: { text: 'hi' } }] },
  { text: 'It said hi.' },
)
const longTurn = script({ tokens: 120, tokensPerSecond: 120 })

describe('sessions', () => {
  test('a session is created, used, listed, read, renamed and deleted', async () => {
    const session = await newSession('About tea')
    const events = await Array.fromAsync(say(session, turn, 'm1'))
    expect(textOf(events)).toBe('Let me see. It said hi.')
    const tool = { tool: 'test.echo', server: 'test', callId: expect.any(String) }
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'tool_start', ...tool, arguments: { text: 'hi' } }),
    )
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'tool_result', ...tool, outcome: 'ok' }),
    )
    expect(events[0]).toMatchObject({ user: { messageId: 'm1' } })
    expect(events.at(-1)).toMatchObject({ type: 'done', outcome: 'completed', messageId: 'm1' })
    expect(events.filter(({ type }) => type === 'done')).toHaveLength(1)

    const { body: history } = await request<{ messages: { role: string; content?: string }[] }>(
      'GET',
      `/session/${session}/messages`,
    )
    expect(history.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
    ])
    expect(history.messages.at(-1)?.content).toBe('It said hi.')

    const renamed = await request('PATCH', `/session/${session}`, { title: 'About coffee' })
    expect(renamed).toMatchObject({ status: 200, body: { id: session, title: 'About coffee' } })
    // The list is eventually consistent.
    await eventually(async () => {
      const { body } = await request<{ sessions: { title: string }[] }>('GET', '/sessions')
      return body.sessions.some(({ title }) => title === 'About coffee')
    })

    expect(await request('DELETE', `/session/${session}`)).toEqual({ status: 204, body: undefined })
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['GET', '/messages', undefined],
      ['GET', '/events', undefined],
      ['POST', '/message', { message: 'still there?' }],
    ] as const) {
      const { status } = await request(method, `/session/${session}${path}`, body)
      expect([method, path, status]).toEqual([method, path, 404])
    }
  })

  test('turns of a session follow its settings, and its creation lists the tools', async () => {
    const settings = { maxToolCalls: 0, metadata: { from: 'test' } }
    const { body } = await request<{ sessionId: string; tools: object[] }>(
      'POST',
      '/session',
      settings,
    )
    expect(body).toMatchObject({ session: settings })
    expect(body.tools).toContainEqual({ server: 'test', tool: 'slow', state: 'ready' })
    const events = await Array.fromAsync(say(body.sessionId, turn))
    expect(events.find(({ type }) => type === 'tool_result')).toMatchObject({ outcome: 'refused' })
    const changed = await request('PATCH', `/session/${body.sessionId}`, { maxToolCalls: null })
    expect(changed.body).not.toHaveProperty('maxToolCalls')
    const again = await Array.fromAsync(say(body.sessionId, turn))
    expect(again.find(({ type }) => type === 'tool_result')).toMatchObject({ outcome: 'ok' })
    expect(again.at(-1)).toMatchObject({ type: 'done', content: 'It said hi.' })
  })

  test('turns of a session use only the tools of its servers', async () => {
    const outcome = async (sessionId: string): Promise<unknown> => {
      const events = await Array.fromAsync(say(sessionId, turn))
      return events.find(({ type }) => type === 'tool_result')
    }
    const { body } = await request<{ sessionId: string }>('POST', '/session', { servers: [] })
    const { sessionId } = body
    expect(body).toMatchObject({ session: { servers: [] } })
    expect(await outcome(sessionId)).toMatchObject({ outcome: 'refused' })
    await request('PATCH', `/session/${sessionId}`, { servers: ['test'] })
    expect(await outcome(sessionId)).toMatchObject({ outcome: 'ok' })
    const faulty = await request('PATCH', `/session/${sessionId}`, { servers: ['no name'] })
    expect(faulty).toMatchObject({ status: 400, body: { error: { field: 'servers.0' } } })
    const all = await request('PATCH', `/session/${sessionId}`, { servers: null })
    expect(all.body).not.toHaveProperty('servers')
  })

  test('an event stream is resumed repeatedly at another gateway', async () => {
    const session = await newSession()
    const received: Event[] = []
    for await (const event of say(session, longTurn)) {
      received.push(event)
      if (received.length === 6) break
    }
    // Reconnects after every few events with the id of the last one.
    for (let visits = 0; received.at(-1)?.type !== 'done'; visits++) {
      let left = (visits % 4) + 1
      for await (const event of follow(
        session,
        received.findLast(({ id }) => id !== undefined)?.id ?? '',
      )) {
        received.push(event)
        if (--left === 0) break
      }
    }
    const words = Array.from({ length: 120 }, (_, index) => `w${index}`)
    expect(textOf(received).trim().split(' ')).toEqual(words)
    const ids = received.flatMap(({ id }) => id ?? [])
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('a session has the same events over a socket and over HTTP', async () => {
    using socket = await ChatSocket.open({ url: otherGateway })
    const events = await Array.fromAsync(say(socket.sessionId, turn))
    await socket.turnsDone()
    expect(textOf(events)).toBe(socket.text)
    const ids = new Set(socket.events.map(({ id }) => id))
    // The two streams may split text differently.
    const toolEvents = events.filter(({ type }) => type.startsWith('tool_') || type === 'done')
    expect(toolEvents).toHaveLength(3)
    for (const { id } of toolEvents) expect(ids).toContain(id)
  })
})

describe('messages', () => {
  test('a message that is sent again is stored once and answered with its whole turn', async () => {
    const session = await newSession()
    const [one, two] = await Promise.all([
      Array.fromAsync(say(session, turn, 'same')),
      Array.fromAsync(say(session, turn, 'same')),
    ])
    const three = await Array.fromAsync(say(session, turn, 'same'))
    for (const events of [one, two, three]) {
      expect(textOf(events)).toBe('Let me see. It said hi.')
      expect(events.filter(({ user }) => user !== undefined)).toHaveLength(1)
    }
    const { body } = await request<{ messages: { role: string }[] }>(
      'GET',
      `/session/${session}/messages`,
    )
    expect(body.messages.filter(({ role }) => role === 'user')).toHaveLength(1)
  })

  test('a regenerated message has a branch of its own', async () => {
    const session = await newSession()
    await Array.fromAsync(say(session, script({ text: 'one' }), 'm1'))
    const again = await send(stack.url, 'POST', `/session/${session}/regenerate`, {
      messageId: 'm1',
      id: 'm2',
    })
    expect(textOf(await Array.fromAsync(eventsOf(again)))).toBe('one')
    const { body } = await request<{ messages: { id: string; role: string; metadata: object }[] }>(
      'GET',
      `/session/${session}/messages`,
    )
    expect(body.messages.filter(({ role }) => role === 'user')).toMatchObject([
      { id: 'm2', metadata: { branches: ['m1', 'm2'] } },
    ])
  })

  test('a queued message waits for the one before it and receives only its own turn', async () => {
    const session = await newSession()
    const first = Array.fromAsync(say(session, longTurn, 'm1'))
    await eventually(async () => {
      const { body } = await request<{ messages?: unknown[] }>(
        'GET',
        `/session/${session}/messages`,
      )
      return (body.messages?.length ?? 0) > 0
    })
    const second = await Array.fromAsync(say(session, script({ text: 'mine' }), 'm2'))
    expect(textOf(second)).toBe('mine')
    expect(second).toContainEqual(
      expect.objectContaining({ queue: [{ messageId: 'm2', position: 1 }] }),
    )
    expect((await first).at(-1)).toMatchObject({ type: 'done', messageId: 'm1' })
  })
})

test('a running turn is cancelled, which its stream states', async () => {
  const session = await newSession()
  const events: Event[] = []
  let ended: Promise<Reply<unknown>> | undefined
  for await (const event of say(session, script({ tokens: 2_000, tokensPerSecond: 100 }), 'm1')) {
    events.push(event)
    if (textOf(events).includes('w5')) ended ??= request('POST', `/session/${session}/abort`)
  }
  expect(await ended).toEqual({ status: 202, body: { messageId: 'm1' } })
  expect(events.at(-1)).toMatchObject({ type: 'done', outcome: 'cancelled', messageId: 'm1' })
  expect(textOf(events)).not.toContain('w1999')
  expect((await request('POST', `/session/${session}/abort`)).status).toBe(409)
})

test('an elicitation of a tool is answered over HTTP', async () => {
  const session = await newSession()
  const requestedSchema = {
    type: 'object',
    properties: { name: { type: 'string' } },
    required: ['name'],
  }
  const params = { message: 'Who are you?', requestedSchema }
  const asks = { name: 'asker__ask', arguments: { method: 'elicitation/create', params } }
  const events: Event[] = []
  const answers: Reply<unknown>[] = []
  for await (const event of say(session, script({ calls: [asks] }, { text: 'done' }))) {
    events.push(event)
    const input = event['input'] as { state: string; id: string } | undefined
    if (input?.state !== 'required') continue
    for (const content of [{ name: 7 }, { name: 'Ann' }, { name: 'Bob' }]) {
      const body = { id: input.id, action: 'accept', content }
      answers.push(await request('POST', `/session/${session}/answer`, body))
    }
  }
  expect(answers).toMatchObject([
    { status: 400, body: { error: { field: 'content.name' } } },
    { status: 202 },
    // The turn may have ended, and the elicitation with it.
    { status: 404, body: { error: { field: 'id' } } },
  ])
  const result = events.find(({ type }) => type === 'tool_result')
  expect(JSON.parse(result?.content ?? '')).toEqual({ action: 'accept', content: { name: 'Ann' } })
  expect(textOf(events)).toBe('done')
})

test('sockets at all gateways are listed, and receive the progress of tools as HTTP does', async () => {
  using socket = await ChatSocket.open({ url: otherGateway, headers: { 'user-agent': 'tab' } })
  const { body: open } = await request('GET', `/session/${socket.sessionId}/connections`)
  expect(open).toMatchObject({ connections: [{ userAgent: 'tab' }] })
  const calls = [{ name: 'test__slow', arguments: {} }]
  const events = await Array.fromAsync(say(socket.sessionId, script({ calls }, { text: 'done' })))
  await socket.turnsDone()
  const types = events.map(({ type }) => type).filter((type) => type.startsWith('tool_'))
  expect(types.at(0)).toBe('tool_start')
  expect(types.at(-1)).toBe('tool_result')
  const tool = { callId: expect.any(String), tool: 'test.slow', server: 'test' }
  // Fast progress is coalesced, so not every step is sent.
  const progressEvents = events.filter(({ type }) => type === 'tool_progress')
  const steps = progressEvents.map((event) => Number(event['progress']))
  expect(steps.length).toBeGreaterThan(0)
  expect(steps).toEqual(Array.from(new Set(steps)).toSorted((one, other) => one - other))
  expect(progressEvents).toEqual(
    steps.map((progress) => ({
      type: 'tool_progress',
      content: `${progress}`,
      ...tool,
      progress,
      id: undefined,
    })),
  )
  expect(socket.frames).toContainEqual({
    type: 'tool',
    payload: { state: 'progress', ...tool, tool: 'slow', progress: expect.any(Number) },
  })
})

test('a stopping gateway ends its streams, which are resumed at another', async () => {
  const { url, process: gateway } = await stack.add('gateway')
  const session = await newSession()
  const body = { message: longTurn }
  const received: Event[] = []
  for await (const event of eventsOf(
    await send(url, 'POST', `/session/${session}/message`, body),
  )) {
    received.push(event)
    if (received.length === 6) gateway.signal('SIGTERM')
  }
  expect((await gateway.gone).code).toBe(0)
  expect(received.at(-1)?.type).not.toBe('done')
  for await (const event of follow(session, received.at(-1)?.id ?? '')) received.push(event)
  const words = Array.from({ length: 120 }, (_, index) => `w${index}`)
  expect(textOf(received).trim().split(' ')).toEqual(words)
})

test.each<[string, string, unknown, number, string | undefined]>([
  ['POST', '/session/short/message', { message: 'hi' }, 400, 'id'],
  ['POST', '/session/{}/message', { message: '' }, 400, 'message'],
  ['POST', '/session/{}/message', { message: 'hi', id: 'a b' }, 400, 'id'],
  ['POST', '/session/{}/message', { message: 'hi', replaces: 'none' }, 404, 'replaces'],
  ['POST', '/session/{}/message', '{"message":', 400, undefined],
  ['POST', '/session/{}/message', { message: 'x'.repeat(1_100_000) }, 413, 'body'],
  ['POST', '/session/{}/regenerate', { messageId: 'none' }, 404, 'messageId'],
  ['POST', '/session/{}/abort', { messageId: 'none' }, 404, 'messageId'],
  ['POST', '/session/{}/answer', { id: 'none', action: 'accept' }, 404, 'id'],
  ['GET', '/session/{}/events?after=nonsense', undefined, 400, 'after'],
  ['GET', '/session/{}/events?after=999999999.1.-.0', undefined, 400, 'after'],
  ['GET', '/session/{}', undefined, 404, 'id'],
  ['GET', '/session/{}/messages', undefined, 404, 'id'],
  ['PATCH', '/session/{}', { title: 'x' }, 404, 'id'],
  ['DELETE', `/session/${'0'.repeat(32)}`, undefined, 404, 'id'],
  ['GET', '/sessions?before=nonsense', undefined, 400, 'before'],
])('an invalid %s %s is refused', async (method, path, given, status, field) => {
  const url = `${stack.url}/api/chat${path.replace('{}', await newSession())}`
  const body = typeof given === 'string' ? given : JSON.stringify(given)
  const content = { body, headers: { 'content-type': 'application/json' } }
  const response = await fetch(url, { method, ...(given === undefined ? {} : content) })
  const { error } = (await response.json()) as { error: { field?: string } }
  expect([response.status, error.field]).toEqual([status, field])
})

test('the OpenAPI document is served', async () => {
  const document = await (await fetch(`${stack.url}/openapi.json`)).json()
  expect(document).toMatchObject({ openapi: '3.1.0', paths: { '/api/chat/sessions': {} } })
})

test('a session with a file and no message is deleted with its file', async () => {
  const session = await newSession()
  const url = `${stack.url}/api/chat/session/${session}/file`
  const headers = { 'content-type': 'text/plain' }
  const stored = await fetch(url, { method: 'POST', headers, body: 'hello' })
  const { key } = (await stored.json()) as { key: string }
  expect((await fetch(`${url}/${key}`)).status).toBe(200)
  expect(await request('DELETE', `/session/${session}`)).toEqual({ status: 204, body: undefined })
  expect((await fetch(`${url}/${key}`)).status).toBe(404)
  await using bus = await stack.broker.connect()
  await eventually(async () => (await bus.blobs.find(key)) === undefined)
})
