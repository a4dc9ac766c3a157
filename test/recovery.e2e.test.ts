// What is left after processes died.
import type { Bus } from '@mcp-host/bus'
import type { SessionId } from '@mcp-host/contracts'
import { applyEntry, emptySession } from '@mcp-host/contracts'
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

/** How often a tool was really called. */
async function calls(tool: string): Promise<number> {
  return (await stack.journal()).filter((each) => each.tool === tool).length
}

/** A turn that uses all four services. */
const turn = (answer: string): string =>
  script({ calls: [{ name: 'test__echo', arguments: { text: answer } }] }, { text: answer })

/** The session's messages and answers, from its log alone. */
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
  'after kill -9 of the %s and its restart the next turn works and the history is complete',
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

test('a message sent while no orchestrator and no worker is there is answered when they are', async () => {
  using chat = await ChatSocket.open(stack)
  await Promise.all([stack.kill('orchestrator'), stack.kill('llm-worker')])
  chat.say(turn('patience'))
  await chat.waitFor((frame) => frame.type === 'accepted')
  await Promise.all([stack.restart('orchestrator'), stack.restart('llm-worker')])
  await chat.turnsDone()
  expect(chat.text).toBe('patience')
})

test('a turn whose worker is killed in mid-answer is written anew, visibly', async () => {
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

test('a turn whose orchestrator is killed in mid-answer goes on and loses nothing', async () => {
  using chat = await ChatSocket.open(stack)
  chat.say(script({ tokens: 100, tokensPerSecond: 50 }))
  await eventually(() => chat.text.includes('w10'))
  await stack.kill('orchestrator')
  await stack.restart('orchestrator')
  await chat.turnsDone()
  expect(chat.frames.some(({ type }) => type === 'reset')).toBe(false)
  expect(chat.text.trim()).toBe(Array.from({ length: 100 }, (_, index) => `w${index}`).join(' '))
})

test('a tool that is running when its orchestrator is killed runs once, and its answer is used', async () => {
  using chat = await ChatSocket.open(stack)
  chat.say(script({ calls: [{ name: 'test__slow', arguments: {} }] }, { text: 'it is done' }))
  await eventually(async () => (await calls('slow')) === 1)
  await stack.kill('orchestrator')
  await stack.restart('orchestrator')
  await chat.turnsDone()
  expect(chat.text).toBe('it is done')
  expect(await calls('slow')).toBe(1)
})

test('a tool that is running when its supervisor is killed is not repeated, and that is said', async () => {
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

test('after kill -9 of nats-server alone and its restart the chat goes on', async () => {
  using chat = await ChatSocket.open(stack)
  chat.say(turn('before'))
  await chat.turnsDone()
  await stack.broker.kill()
  chat.say(turn('while away'))
  await stack.broker.start()
  await chat.turnsDone(2)
  expect(chat.text).toBe('beforewhile away')
})

test('after kill -9 of everything and a restart the sessions are there', async () => {
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

test('a turn under way when all services are killed goes on after their restart', async () => {
  const first = await ChatSocket.open(stack)
  const call = { name: 'test__slow', arguments: {} }
  const said = script({ calls: [call] }, { tokens: 40, tokensPerSecond: 40 })
  first.say(said)
  await eventually(() => first.text.length > 20)
  const { sessionId, lastId, text } = first
  const all = ['gateway', 'orchestrator', 'mcp-supervisor', 'llm-worker'] as const
  await Promise.all(all.map((name) => stack.kill(name)))
  await Promise.all(all.map((name) => stack.restart(name)))
  using back = await ChatSocket.open({ ...stack, sessionId, after: lastId })
  await back.turnsDone()
  const words = Array.from({ length: 40 }, (_, index) => `w${index}`).join(' ')
  // The worker's text died with it: it is written anew, which the client is told.
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
