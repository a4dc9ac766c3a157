// Recovery of turns after the death of processes.
import { isDeepStrictEqual } from 'node:util'
import type { Bus } from '@mcp-host/bus'
import type { SessionId } from '@mcp-host/contracts'
import { storageFault } from '@mcp-host/contracts'
import { applyEntry, emptySession } from '@mcp-host/session-state'
import type { Stack } from '@mcp-host/testkit'
import { ChatSocket, eventually, script, startStack } from '@mcp-host/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'

const echo = {
  name: 'echo',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
}

const slow = { name: 'slow', inputSchema: { type: 'object' }, delayMs: 6_000 }

let stack: Stack
let bus: Bus
beforeAll(async () => {
  stack = await startStack({ tools: [echo, slow] })
  bus = await stack.broker.connect()
})
afterAll(() => stack[Symbol.asyncDispose]())

/** The number of calls that reached a tool. */
async function calls(tool: string): Promise<number> {
  return (await stack.journal()).filter((each) => each.tool === tool).length
}

/** A message whose turn uses all four services. */
const turn = (answer: string): string =>
  script({ calls: [{ name: 'test__echo', arguments: { text: answer } }] }, { text: answer })

/** Messages and answers of a session, read from its log. */
async function history(session: string): Promise<string[]> {
  const state = emptySession()
  for (const entry of await bus.sessions.read(session as SessionId, 0)) applyEntry(state, entry)
  return Array.from(state.turns.values(), ({ done, generations }) => {
    const last = generations.findLast(({ isVoid }) => !isVoid)
    const texts = last?.result?.content.filter((block) => block.type === 'text') ?? []
    return `${done?.outcome}: ${texts.map(({ text }) => text).join('')}`
  })
}

test.each(['gateway', 'orchestrator', 'mcp-supervisor', 'llm-worker'] as const)(
  'the next turn completes and the history is whole after the %s was killed and restarted',
  async (name) => {
    const first = await ChatSocket.open(stack)
    first.say(turn('before'))
    await first.turnsDone()
    const { sessionId, lastId } = first
    await stack.kill(name)
    await stack.restart(name)
    first.socket.terminate()
    using back = await ChatSocket.open({ ...stack, sessionId, after: lastId })
    back.say(turn('after'))
    await back.turnsDone()
    expect(back.text).toBe('after')
    expect(await history(sessionId)).toEqual(['completed: before', 'completed: after'])
  },
)

test('a message that is sent without orchestrator and worker is answered once they start', async () => {
  using chat = await ChatSocket.open(stack)
  await Promise.all([stack.kill('orchestrator'), stack.kill('llm-worker')])
  chat.say(turn('patience'))
  await chat.waitFor((frame) => frame.type === 'accepted')
  await Promise.all([stack.restart('orchestrator'), stack.restart('llm-worker')])
  await chat.turnsDone()
  expect(chat.text).toBe('patience')
})

test('a turn whose worker is killed in mid-answer is generated again after a reset', async () => {
  using chat = await ChatSocket.open(stack)
  chat.say(script({ tokens: 100, tokensPerSecond: 50 }))
  await eventually(() => chat.text.includes('w10'))
  await stack.kill('llm-worker')
  await stack.restart('llm-worker')
  await chat.turnsDone()
  const reset = chat.frames.findIndex(({ type }) => type === 'reset')
  expect(reset).toBeGreaterThan(0)
  const anew = chat.frames
    .slice(reset)
    .filter((frame) => frame.type === 'text')
    .map(({ payload }) => payload.content)
    .join('')
  expect(anew.trim()).toBe(Array.from({ length: 100 }, (_, index) => `w${index}`).join(' '))
})

test('a turn whose orchestrator is killed in mid-answer continues without a loss', async () => {
  using chat = await ChatSocket.open(stack)
  chat.say(script({ tokens: 100, tokensPerSecond: 50 }))
  await eventually(() => chat.text.includes('w10'))
  await stack.kill('orchestrator')
  await stack.restart('orchestrator')
  await chat.turnsDone()
  expect(chat.frames.some(({ type }) => type === 'reset')).toBe(false)
  expect(chat.text.trim()).toBe(Array.from({ length: 100 }, (_, index) => `w${index}`).join(' '))
})

test('a running call whose orchestrator is killed runs once, and its result is used', async () => {
  using chat = await ChatSocket.open(stack)
  chat.say(script({ calls: [{ name: 'test__slow', arguments: {} }] }, { text: 'it is done' }))
  await eventually(async () => (await calls('slow')) === 1)
  await stack.kill('orchestrator')
  await stack.restart('orchestrator')
  await chat.turnsDone()
  expect(chat.text).toBe('it is done')
  expect(await calls('slow')).toBe(1)
})

test('a running call whose supervisor is killed is not retried but reported as unknown', async () => {
  using chat = await ChatSocket.open(stack)
  const before = await calls('slow')
  chat.say(script({ calls: [{ name: 'test__slow', arguments: {} }] }, { text: 'so be it' }))
  await eventually(async () => (await calls('slow')) === before + 1)
  await stack.kill('mcp-supervisor')
  await stack.restart('mcp-supervisor')
  await chat.turnsDone()
  expect(chat.text).toBe('so be it')
  expect(await calls('slow')).toBe(before + 1)
  const result = chat.events.find(
    (event) => event.type === 'tool' && event.payload.state === 'result',
  )
  expect(result?.payload).toMatchObject({ outcome: 'unknown', server: 'test', tool: 'slow' })
})

test('a chat continues after nats-server was killed and restarted', async () => {
  using chat = await ChatSocket.open(stack)
  chat.say(turn('before'))
  await chat.turnsDone()
  await stack.broker.kill()
  chat.say(turn('while away'))
  await stack.broker.start()
  await chat.turnsDone(2)
  expect(chat.text).toBe('beforewhile away')
})

test('a gateway says in its health and readiness that another process cannot store', async () => {
  const orchestrator = await stack.broker.connect('orchestrator')
  const fault = 'the host cannot store: no room'
  const ask = async (path: string): Promise<unknown> =>
    (await fetch(new URL(path, stack.url))).json()
  orchestrator.emit(storageFault, {}, { fault })
  const notReady = { status: 'not ready', reason: fault, part: 'storage' }
  await eventually(async () => isDeepStrictEqual(await ask('/ready'), notReady))
  expect(await ask('/health')).toMatchObject({ status: 'degraded', storage: [fault] })
  await eventually(async () => isDeepStrictEqual(await ask('/ready'), { status: 'ready' }))
})

test('sessions are kept after all processes were killed and restarted', async () => {
  const first = await ChatSocket.open(stack)
  first.say(turn('kept'))
  await first.turnsDone()
  const { sessionId, lastId } = first
  const all = ['gateway', 'orchestrator', 'mcp-supervisor', 'llm-worker'] as const
  await Promise.all([...all.map((name) => stack.kill(name)), stack.broker.kill()])
  await stack.broker.start()
  await Promise.all(all.map((name) => stack.restart(name)))
  using back = await ChatSocket.open({ ...stack, sessionId, after: lastId })
  back.say(turn('and more'))
  await back.turnsDone()
  expect(await history(sessionId)).toEqual(['completed: kept', 'completed: and more'])
})

test('a running turn continues after all services were killed and restarted', async () => {
  const first = await ChatSocket.open(stack)
  const call = { name: 'test__slow', arguments: {} }
  const message = script({ calls: [call] }, { tokens: 40, tokensPerSecond: 40 })
  first.say(message)
  await eventually(() => first.text.length > 20)
  const { sessionId, lastId, text } = first
  const all = ['gateway', 'orchestrator', 'mcp-supervisor', 'llm-worker'] as const
  await Promise.all(all.map((name) => stack.kill(name)))
  await Promise.all(all.map((name) => stack.restart(name)))
  using back = await ChatSocket.open({ ...stack, sessionId, after: lastId })
  await back.turnsDone()
  const words = Array.from({ length: 40 }, (_, index) => `w${index}`).join(' ')
  // The text of the killed worker is lost: the client receives a reset.
  const reset = back.events.findIndex(({ type }) => type === 'reset')
  expect(reset).toBeGreaterThanOrEqual(0)
  const anew = back.events.slice(reset).filter((event) => event.type === 'text')
  expect(
    anew
      .map(({ payload }) => payload.content)
      .join('')
      .trim(),
  ).toBe(words)
  expect(words.startsWith(text.trim())).toBe(true)
  expect((await history(sessionId)).map((each) => each.trim())).toEqual([`completed: ${words}`])
})
