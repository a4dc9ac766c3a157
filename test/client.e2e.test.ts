// The client package against a real host whose gateways die.
import { join } from 'node:path'
import type {
  ClientEvent,
  ClientState,
  OutFrame,
  Sent,
  SessionClientOptions,
} from '@mcp-host/client'
import { HostApi, HostError, SessionClient } from '@mcp-host/client'
import type { Stack, TcpProxy } from '@mcp-host/testkit'
import { createKey, eventually, script, startStack, startTcpProxy } from '@mcp-host/testkit'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'

const ASKER = join(import.meta.dirname, '..', 'packages/testkit/fixtures/asking-server.ts')
const stackOf = new AsyncDisposableStack()
let stack: Stack
let proxy: TcpProxy
/** URLs of both gateways. */
let gateways: readonly [string, string]
/** The header by which the client authenticates. */
let key: { readonly authorization: string }

beforeAll(async () => {
  stack = stackOf.use(
    await startStack({
      env: { AUTH: 'keys' },
      tools: [{ name: 'echo', inputSchema: { type: 'object' } }],
      servers: { asker: { command: process.execPath, args: [ASKER], scope: 'session' } },
    }),
  )
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

test('a question takes the answer of one of two clients, and refuses that of the other', async () => {
  using one = open()
  const requestedSchema = { type: 'object', properties: { name: { type: 'string' } } }
  const given = { method: 'elicitation/create', params: { message: 'Who?', requestedSchema } }
  const calls = [{ name: 'asker__ask', arguments: given }]
  // The turn goes on until it is cancelled, so that the second answer comes in time on a busy machine, too.
  const rest = { text: 'more '.repeat(1_000), tokensPerSecond: 5 }
  const said = one.client.say(script({ calls }, rest))
  await said.accepted
  using two = open({ sessionId: one.client.sessionId ?? '' })
  const questions = ({ events }: typeof one) =>
    events.flatMap(({ type, payload }) => (type === 'input' ? [payload] : []))
  const asked = (client: typeof one) =>
    eventually(() => questions(client)[0], { what: 'the question' })
  const [{ id }] = await Promise.all([asked(two), asked(one)])
  const named = (name: string) => ({ id, action: 'accept', content: { name } }) as const
  expect(await two.client.answer(named('Bob')).accepted).toEqual({ duplicate: false })
  await expect(one.client.answer(named('Ann')).accepted).rejects.toMatchObject({
    name: 'HostError',
    code: 'not-found',
    message: expect.stringContaining('it was answered already'),
  })
  one.client.cancel(said.id)
  await Promise.all([one.done(), two.done()])
  for (const { client } of [one, two]) {
    expect(client.state.state).toBe('connected')
    expect(client.unaccepted).toEqual([])
  }
  expect(questions(one)).toMatchObject([
    { id, state: 'required', message: 'Who?', requestedSchema },
    { id, state: 'answered', action: 'accept' },
  ])
  expect(two.events.filter(({ type }) => type === 'input')).toEqual(
    one.events.filter(({ type }) => type === 'input'),
  )
  const resultOf = async () => {
    const { messages } = await new HostApi(address()).messages(one.client.sessionId ?? '')
    return messages.find(({ role }) => role === 'tool')?.data?.content?.[0]?.['text']
  }
  const result = await eventually(resultOf, { what: 'the result in the history' })
  expect(JSON.parse(String(result))).toEqual({ action: 'accept', content: { name: 'Bob' } })
})

test('another message and another answer are branches, and the history has each of them', async () => {
  using chat = open()
  const texts = ['first', 'next', 'changed'].map((text) => script({ text }))
  const say = async ({ id, accepted }: Sent): Promise<string> => {
    expect(await accepted).toEqual({ duplicate: false })
    await eventually(() => isDone(id), { what: `the end of ${id}` })
    return id
  }
  const isDone = (id: string): boolean =>
    chat.events.some(
      ({ type, payload }) =>
        type === 'turn' && payload.state === 'done' && payload.messageId === id,
    )
  const first = await say(chat.client.say(texts[0] ?? ''))
  const next = await say(chat.client.say(texts[1] ?? ''))
  const changed = await say(chat.client.say(texts[2] ?? '', { replaces: first }))
  const again = await say(chat.client.regenerate(first))
  const api = new HostApi(address())
  const { sessionId = '' } = chat.client
  const branch = async (id?: string): Promise<[string, string | undefined][]> => {
    const page = await api.messages(sessionId, id === undefined ? {} : { branch: id })
    return page.messages.map(({ metadata: { messageId }, content }) => [messageId, content])
  }
  const turn = (id: string, asked: string | undefined, answer: string) => [
    [id, asked],
    [id, answer],
  ]
  const oldest = [...turn(first, texts[0], 'first'), ...turn(next, texts[1], 'next')]
  expect(await branch(first)).toEqual(oldest)
  expect(await branch(next)).toEqual(oldest)
  expect(await branch(changed)).toEqual(turn(changed, texts[2], 'changed'))
  // It repeats the message, and is the newest branch.
  expect(await branch(again)).toEqual(turn(again, texts[0], 'first'))
  expect(await branch()).toEqual(await branch(again))
  for (const id of [first, changed, again]) {
    const [user] = (await api.messages(sessionId, { branch: id })).messages
    expect(user).toMatchObject({ id, metadata: { branches: [first, changed, again] } })
  }
  await expect(chat.client.regenerate('unknown').accepted).rejects.toMatchObject({
    code: 'not-found',
  })
  await expect(api.messages(sessionId, { branch: 'unknown' })).rejects.toMatchObject({
    code: 'not-found',
  })
})

test('the usage of a session in the API is the sum of that of its turns', async () => {
  using chat = open()
  const api = new HostApi(address())
  const turns = () =>
    chat.events.flatMap(({ type, payload }) =>
      type === 'turn' && payload.state === 'done' ? [payload.usage ?? []] : [],
    )
  const calls = [{ name: 'test__echo', arguments: {} }]
  chat.client.say(script({ calls }, { text: 'with a call' }))
  chat.client.say(script({ text: 'without one' }))
  await eventually(() => turns().length === 2)
  const used = turns().flat()
  expect(used).toMatchObject([
    { provider: 'demo', model: 'demo-1', generations: 2 },
    { provider: 'demo', model: 'demo-1', generations: 1 },
  ])
  const sum = (of: 'inputTokens' | 'outputTokens'): number =>
    used.reduce((total, { [of]: count = NaN }) => total + count, 0)
  expect(sum('inputTokens')).toBeGreaterThan(0)
  const recorded = await eventually(async () => {
    // The record of the session is written a little after its answers.
    const session = await api.session(chat.client.sessionId ?? '').catch(() => undefined)
    return session?.usage[0]?.generations === 3 ? session : undefined
  })
  expect(recorded.usage).toEqual([
    {
      ...used[0],
      generations: 3,
      inputTokens: sum('inputTokens'),
      outputTokens: sum('outputTokens'),
    },
  ])
  expect(recorded.toolCallCount).toBe(1)
  // An answer in the history has its own.
  const { messages } = await api.messages(chat.client.sessionId ?? '', { limit: 1 })
  const { inputTokens, outputTokens } = used[1] ?? {}
  expect(messages.at(-1)?.metadata).toMatchObject({
    provider: 'demo',
    model: 'demo-1',
    usage: { inputTokens, outputTokens },
  })
})

/** A session with one turn. */
async function begun(): Promise<{ sessionId: string }> {
  using chat = open()
  chat.client.say(script({ text: 'hello' }))
  await chat.done()
  return { sessionId: chat.client.sessionId ?? '' }
}
