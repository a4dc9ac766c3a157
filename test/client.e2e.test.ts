// The client package against a real host whose gateways die.
import type { ClientEvent, ClientState, OutFrame, SessionClientOptions } from '@mcp-host/client'
import { HostApi, HostError, SessionClient } from '@mcp-host/client'
import type { Stack, TcpProxy } from '@mcp-host/testkit'
import { createKey, eventually, script, startStack, startTcpProxy } from '@mcp-host/testkit'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'

const stackOf = new AsyncDisposableStack()
let stack: Stack
let proxy: TcpProxy
/** URLs of both gateways. */
let gateways: readonly [string, string]
/** The header by which the client authenticates. */
let key: { readonly authorization: string }

beforeAll(async () => {
  stack = stackOf.use(await startStack({ env: { AUTH: 'keys' } }))
  gateways = [stack.url, (await stack.add('gateway')).url]
  proxy = stackOf.use(await startTcpProxy())
  key = await createKey(await stack.broker.connect(), 'user:ann')
})
afterAll(() => stackOf.disposeAsync())
beforeEach(() => proxy.route(...gateways))

const address = () => ({ url: proxy.url, headers: () => key })

/** A client, and all that it saw. */
function open(options: Partial<SessionClientOptions> = {}) {
  const events: ClientEvent[] = []
  const states: ClientState[] = []
  const client = new SessionClient({
    ...address(),
    onEvent: (event) => void events.push(event),
    onState: (state) => void states.push(state),
    ...options,
  })
  const text = () =>
    events.map((each) => (each.type === 'text' ? each.payload.content : '')).join('')
  const done = () =>
    eventually(() =>
      events.some(({ type, payload }) => type === 'turn' && payload.state === 'done'),
    )
  return { client, events, states, text, done, [Symbol.dispose]: () => client.close() }
}

test('an answer goes on without a gap when its gateway is cut off again and again', async () => {
  using chat = open()
  const words = Array.from({ length: 200 }, (_, index) => `word${index}`).join(' ')
  const { accepted } = chat.client.say(script({ text: words, tokensPerSecond: 100 }))
  expect(await accepted).toEqual({ duplicate: false })
  let cuts = 0
  for (let length = 100; length < words.length; length += 400) {
    await eventually(() => chat.text().length >= length)
    proxy.reset(gateways[++cuts % 2] ?? '')
  }
  await chat.done()
  expect(chat.text()).toBe(words)
  expect(cuts).toBeGreaterThan(2)
  expect(chat.states.filter(({ state }) => state === 'reconnecting').length).toBeGreaterThan(2)
})

test('what is said without a network waits, and is answered once', async () => {
  using chat = open()
  await eventually(() => chat.client.state.state === 'connected')
  proxy.reset()
  await eventually(() => chat.client.state.state === 'reconnecting')
  const { id, accepted } = chat.client.say(script({ text: 'late' }))
  expect(chat.client.unaccepted).toMatchObject([{ payload: { id } }])
  proxy.route(...gateways)
  expect(await accepted).toEqual({ duplicate: false })
  await chat.done()
  expect(chat.text()).toBe('late')
  expect(chat.client.unaccepted).toEqual([])
})

test('a later client sends what an earlier one kept, and nothing counts twice', async () => {
  let kept: readonly OutFrame[] = []
  const outbox = { load: () => kept, save: (frames: readonly OutFrame[]) => void (kept = frames) }
  const { sessionId } = await begun()
  proxy.reset()
  {
    using first = open({ sessionId, outbox })
    first.client.say(script({ text: 'kept' }), { id: 'kept1' })
  }
  proxy.route(...gateways)
  using second = open({ sessionId, outbox })
  using third = open({ sessionId, outbox })
  // A client that joins after the end of the turn sees nothing of it.
  const sent = [second, third].map(({ client }) => client)
  await eventually(() => sent.every(({ state }) => state.state === 'connected'))
  await eventually(() => kept.length === 0 && sent.every(({ unaccepted }) => !unaccepted.length))
  const { messages } = await new HostApi(address()).messages(sessionId)
  expect(messages.filter(({ id }) => id === 'kept1')).toHaveLength(1)
})

test('a message is ended before it is accepted', async () => {
  using chat = open()
  const { id } = chat.client.say(script({ text: 'never '.repeat(1_000), tokensPerSecond: 10 }))
  chat.client.cancel(id)
  await chat.done()
  expect(chat.events.findLast(({ type }) => type === 'turn')).toMatchObject({
    payload: { messageId: id, outcome: 'cancelled' },
  })
})

test('a refused message rejects with its reason, and the connection stays', async () => {
  using chat = open()
  const { accepted } = chat.client.say(' ')
  await expect(accepted).rejects.toMatchObject({ code: 'invalid', message: /must not be empty/ })
  expect(chat.client.state.state).toBe('connected')
})

test('a client ends where it cannot go on, and says why', async () => {
  using stranger = open({ headers: () => ({ authorization: 'Bearer mh_0' }) })
  await eventually(() => stranger.client.state.state === 'ended')
  expect(stranger.client.state).toMatchObject({ why: 'unauthenticated' })
  using lost = open({ url: 'http://127.0.0.1:1', giveUpAfterMs: 300 })
  await eventually(() => lost.client.state.state === 'ended')
  expect(lost.client.state).toMatchObject({ why: 'unreachable' })
  await expect(lost.client.say('x').accepted).rejects.toBeInstanceOf(HostError)
  const { sessionId } = await begun()
  using wrong = open({ sessionId, after: '999999.0.-.0' })
  await eventually(() => wrong.client.state.state === 'ended')
  expect(wrong.client.state).toMatchObject({ why: 'refused', message: /after/ })
  using member = open({ sessionId })
  await eventually(() => member.client.state.state === 'connected')
  await new HostApi(address()).deleteSession(sessionId)
  await eventually(() => member.client.state.state === 'ended')
  expect(member.client.state).toMatchObject({ why: 'deleted' })
})

test('the API has sessions, messages, files and links, and errors with their field', async () => {
  const api = new HostApi(address())
  expect((await api.me()).id).toBe('user:ann')
  const { sessionId } = await begun()
  const file = await api.storeFile(sessionId, 'a.txt', new Blob(['hello'], { type: 'text/plain' }))
  const stored = await fetch(api.fileUrl(sessionId, file), { headers: key })
  expect(await stored.text()).toBe('hello')
  expect(await api.updateSession(sessionId, { title: 'Trip' })).toMatchObject({ title: 'Trip' })
  expect((await api.sessions({ limit: 1 })).sessions).toMatchObject([{ id: sessionId }])
  expect((await api.models()).default?.provider).toBe('demo')
  const { id, url } = await api.share(sessionId, 1)
  expect((await fetch(url.replace(/^http:\/\/[^/]+/, proxy.url))).status).toBe(200)
  await eventually(async () => (await api.shares(sessionId)).some((share) => share.id === id))
  await api.revokeShare(sessionId, id)
  await api.deleteSession(sessionId)
  await expect(api.session(sessionId)).rejects.toMatchObject({ code: 'not-found', status: 404 })
  await expect(api.sessions({ limit: 0 })).rejects.toMatchObject({
    code: 'invalid',
    field: 'limit',
  })
})

/** A session with one turn. */
async function begun(): Promise<{ sessionId: string }> {
  using chat = open()
  chat.client.say(script({ text: 'hello' }))
  await chat.done()
  return { sessionId: chat.client.sessionId ?? '' }
}
