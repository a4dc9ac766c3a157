// The socket with invalid, hostile and disconnecting clients.
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { get } from 'node:http'
import { text as bodyOf } from 'node:stream/consumers'
import type { Down } from '@mcp-host/contracts'
import type { Stack } from '@mcp-host/testkit'
import { ChatSocket, eventually, script, startStack } from '@mcp-host/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const KEY = 'AIza-a-key-nobody-may-see'
const services = ['gateway', 'orchestrator', 'mcp-supervisor', 'llm-worker'] as const

let stack: Stack
beforeAll(async () => {
  stack = await startStack({
    env: { HEARTBEAT_MS: '500', LLM_PROVIDER: 'demo', GEMINI_API_KEY: KEY },
  })
})
afterAll(() => stack[Symbol.asyncDispose]())

async function fetchFrom(
  path: string,
  headers: Record<string, string> = {},
): Promise<{ status: number | undefined; type: string | undefined; body: string }> {
  const request = get(new URL(path, stack.url), { headers, agent: false })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  const type = response.headers['content-type']
  return { status: response.statusCode, type, body: await bodyOf(response) }
}

function payloads(chat: ChatSocket, type: Down['type']): unknown[] {
  return chat.frames
    .filter((frame) => frame.type === type)
    .map((frame) => ('payload' in frame ? frame.payload : undefined))
}

describe('invalid frames', () => {
  const message = (payload: unknown): string => JSON.stringify({ type: 'message', payload })
  test.each<[string, string | Buffer, { message: RegExp; field?: string }]>([
    ['that is not JSON', 'hello', { message: /not JSON/ }],
    ['of binary data', Buffer.from(message({ text: 'hi' })), { message: /not binary/ }],
    [
      'of an unknown type',
      '{"type":"shout"}',
      {
        message: /"message", "regenerate", "cancel", "cancel-call", "answer", "ping"/,
        field: 'type',
      },
    ],
    ['without a type', '{}', { message: /type/, field: 'type' }],
    ['without a payload', '{"type":"message"}', { message: /payload/, field: 'payload' }],
    ['without a text', message({}), { message: /text/, field: 'payload.text' }],
    ['whose text is a number', message({ text: 7 }), { message: /text/, field: 'payload.text' }],
    ['whose text is empty', message({ text: '' }), { message: /empty/, field: 'payload.text' }],
    [
      'whose text is control characters',
      message({ text: '\u0000\u0007\u001B' }),
      { message: /empty/, field: 'payload.text' },
    ],
    [
      'with a wrong id',
      message({ text: 'hi', id: 'no spaces' }),
      { message: /1 to 64/, field: 'payload.id' },
    ],
    ['of 2 MB', message({ text: 'x'.repeat(2_000_000) }), { message: /frame of 20000\d\d bytes/ }],
  ])('a frame %s is answered by an error on an open socket', async (_, frame, expected) => {
    using chat = await ChatSocket.open(stack)
    chat.socket.send(frame)
    const refusal = await chat.waitFor(({ type }) => type === 'error')
    expect(refusal).toMatchObject({
      payload: {
        code: 'invalid',
        retryable: false,
        ...expected,
        message: expect.stringMatching(expected.message),
      },
    })
    chat.say(script({ text: 'still here' }))
    await chat.turnsDone()
    expect(chat.text).toBe('still here')
    expect(payloads(chat, 'error')).toHaveLength(1)
  })
})

test('a frame over the hard limit ends the connection', async () => {
  using chat = await ChatSocket.open(stack)
  chat.socket.send('x'.repeat(17_000_000))
  expect(await chat.hasClosed()).toMatchObject({ code: 1009 })
})

test('control characters are removed from messages', async () => {
  using chat = await ChatSocket.open(stack)
  chat.say('a\u0000b\nc', 'm1')
  await chat.turnsDone()
  expect(payloads(chat, 'user')).toEqual([{ messageId: 'm1', text: 'ab\nc' }])
})

test('messages of one socket keep their order', async () => {
  using chat = await ChatSocket.open(stack)
  const ids = Array.from({ length: 25 }, (_, index) => `m${index}`)
  for (const id of ids) chat.say(script({ text: `${id} ` }), id)
  await chat.turnsDone(ids.length)
  expect(payloads(chat, 'user')).toMatchObject(ids.map((messageId) => ({ messageId })))
  expect(chat.text.trim().split(' ')).toEqual(ids)
})

test('every socket receives the queue, also one that joins later', async () => {
  using chat = await ChatSocket.open(stack)
  chat.say(script({ tokens: 60, tokensPerSecond: 20 }), 'm1')
  for (const id of ['m2', 'm3']) chat.say(script({ text: id }), id)
  const waiting = [
    { messageId: 'm2', position: 1 },
    { messageId: 'm3', position: 2 },
  ]
  await eventually(() => payloads(chat, 'queue').length > 0)
  expect(payloads(chat, 'queue').at(-1)).toEqual({ messages: waiting })
  using late = await ChatSocket.open({ ...stack, sessionId: chat.sessionId })
  await late.waitFor(({ type }) => type === 'queue')
  expect(payloads(late, 'queue')).toEqual([{ messages: waiting }])
  await chat.turnsDone(3)
  await eventually(() => JSON.stringify(payloads(chat, 'queue').at(-1)) === '{"messages":[]}')
})

test('a message that replaces an unknown one is refused on an open socket', async () => {
  using chat = await ChatSocket.open(stack)
  chat.say(script({ text: 'one' }), 'm1')
  await chat.turnsDone()
  chat.send({ type: 'message', payload: { text: 'better', id: 'm2', replaces: 'm9' } })
  chat.send({ type: 'regenerate', payload: { messageId: 'm8', id: 'm3' } })
  await eventually(() => payloads(chat, 'error').length === 2)
  expect(payloads(chat, 'error')).toMatchObject([
    { code: 'not-found', field: 'payload.replaces', messageId: 'm2', retryable: false },
    { code: 'not-found', field: 'payload.messageId', messageId: 'm3', retryable: false },
  ])
  chat.send({ type: 'regenerate', payload: { messageId: 'm1', id: 'm4' } })
  await chat.turnsDone(2)
  expect(chat.text).toBe('oneone')
})

test('a ping is answered by a pong', async () => {
  using chat = await ChatSocket.open(stack)
  chat.send({ type: 'ping' })
  expect(await chat.waitFor(({ type }) => type === 'pong')).toEqual({ type: 'pong' })
})

test.each(['/health', '/metrics', '/', '/openapi.json', '/api/chat/sessions', '/nothing'])(
  'a WebSocket at %s is refused',
  async (path) => {
    const headers = {
      connection: 'upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
    }
    const upgrade = get(new URL(path, stack.url), { headers, agent: false })
    const [response] = await Promise.race([once(upgrade, 'response'), once(upgrade, 'upgrade')])
    upgrade.destroy()
    expect((response as IncomingMessage).statusCode).toBe(path === '/nothing' ? 404 : 400)
  },
)

describe('web pages', () => {
  test.each([
    ['of another origin', { origin: 'https://evil.example' }, 'Origin'],
    ['of an opaque origin', { origin: 'null' }, 'Origin'],
    ['under a forged host name', { host: 'evil.example:3000' }, 'Host'],
  ])('a page %s gets no socket and no answer', async (_, headers, field) => {
    using chat = ChatSocket.start({ ...stack, headers })
    const [, response] = await once(chat.socket, 'unexpected-response')
    expect((response as IncomingMessage).statusCode).toBe(403)
    for (const path of ['/health', '/metrics', '/']) {
      const { status, body } = await fetchFrom(path, headers)
      expect(status).toBe(403)
      expect(JSON.parse(body)).toMatchObject({ error: { code: 'denied', field } })
    }
  })

  test('a page of localhost may connect', async () => {
    const headers = { origin: 'http://localhost:5173' }
    using chat = await ChatSocket.open({ ...stack, headers })
    expect(chat.sessionId).not.toBe('')
  })
})

describe('invalid queries', () => {
  test.each([
    ['a session id that is too short', { sessionId: 'short' }, 'sessionId'],
    ['a session id that would widen a subject', { sessionId: 'a.>.*.bcdefghijklmno' }, 'sessionId'],
    ['an invalid cursor', { sessionId: 'a'.repeat(20), after: 'nonsense' }, 'after'],
    ['a cursor without a session', { after: '1.0.-.0' }, 'sessionId'],
  ])('%s is answered by an error, then the connection is closed', async (_, query, field) => {
    using chat = await ChatSocket.open({ ...stack, ...query })
    expect(payloads(chat, 'connection')).toMatchObject([
      { state: 'error', message: expect.stringContaining(field) },
    ])
    expect(await chat.hasClosed()).toMatchObject({ code: 1008 })
  })
})

test('a socket that does not answer pings is closed, and its session can be joined again', async () => {
  using alive = await ChatSocket.open(stack)
  using silent = await ChatSocket.open({ ...stack, autoPong: false })
  silent.say(script({ text: 'a word' }))
  await silent.turnsDone()
  expect(await silent.hasClosed()).toMatchObject({ code: 1006 })
  expect(alive.closed).toBeUndefined()
  const { sessionId, lastId } = silent
  using back = await ChatSocket.open({ ...stack, sessionId, after: lastId })
  back.say(script({ text: 'another' }))
  await back.turnsDone()
  expect(back.text).toBe('another')
})

describe('stopping gateways', () => {
  test('a stopping gateway closes its sockets, which are resumed at another', async () => {
    const { url, process } = await stack.add('gateway')
    using one = await ChatSocket.open({ url })
    one.say(script({ tokens: 60, tokensPerSecond: 60 }))
    await eventually(() => one.text.includes('w5'))
    process.signal('SIGTERM')
    const { code, reason } = await one.hasClosed()
    const { sessionId, lastId, text } = one
    expect(code).toBe(1012)
    expect(reason).toBe(`sessionId=${sessionId}&after=${lastId}`)
    expect(one.frames.at(-1)).toMatchObject({
      type: 'connection',
      id: one.events.at(-1)?.id,
      payload: {
        state: 'reconnecting',
        message: 'This gateway is going down; connect again',
        sessionId,
      },
    })
    using back = await ChatSocket.open({ ...stack, sessionId, after: lastId })
    await back.turnsDone()
    const words = Array.from({ length: 60 }, (_, index) => `w${index}`)
    expect((text + back.text).trim().split(' ')).toEqual(words)
    expect((await process.gone).code).toBe(0)
  })

  test('a stopping gateway does not wait for an unresponsive client', async () => {
    // With the default interval of pings: shorter ones would end such a client.
    await using slow = await startStack()
    const { url, process } = await slow.add('gateway')
    using deaf = await ChatSocket.open({ url })
    deaf.socket.pause()
    process.signal('SIGTERM')
    expect((await process.gone).code).toBe(0)
  })
})

test('an unknown path is answered in JSON', async () => {
  const { status, type, body } = await fetchFrom('/nowhere?secret=1')
  expect(status).toBe(404)
  expect(type).toContain('application/json')
  expect(JSON.parse(body)).toEqual({
    error: { code: 'not-found', message: 'there is no GET /nowhere' },
  })
})

test.each(services)('the %s serves its health', async (name) => {
  const url = stack.urlOf(name)
  const health = await fetch(`${url}/health`)
  expect(await health.json()).toMatchObject({ ok: true, service: name })
  const ready = await fetch(`${url}/ready`)
  expect(ready.status).toBe(200)
  const metrics = await fetch(`${url}/metrics`)
  expect(metrics.headers.get('content-type')).toContain('text/plain')
  expect(await metrics.text()).toContain(`process_cpu_seconds_total{service="${name}"}`)
})

test('services are not ready during an outage of the broker, and ready after it', async () => {
  const statuses = async (): Promise<number[]> =>
    Promise.all(services.map(async (name) => (await fetch(`${stack.urlOf(name)}/ready`)).status))
  await stack.broker.kill()
  await eventually(async () => (await statuses()).every((status) => status === 503))
  const reply = await fetch(`${stack.url}/ready`)
  expect(await reply.json()).toEqual({
    status: 'not ready',
    reason: 'nats-server does not answer',
  })
  expect((await fetch(`${stack.url}/health`)).status).toBe(200)
  await stack.broker.start()
  await eventually(async () => (await statuses()).every((status) => status === 200))
  using chat = await ChatSocket.open(stack)
  chat.say(script({ text: 'back again' }))
  await chat.turnsDone()
  expect(chat.text).toBe('back again')
})

// The last test of this file: all logs have been written by then.
test.each(services)('logs and metrics of the %s have no secrets', async (name) => {
  const log = await stack.log(name)
  expect(log).toContain('"message":"ready"')
  const metrics = await fetch(`${stack.urlOf(name)}/metrics`)
  const health = await fetch(`${stack.urlOf(name)}/health`)
  expect(log + (await metrics.text()) + (await health.text())).not.toContain(KEY)
})
