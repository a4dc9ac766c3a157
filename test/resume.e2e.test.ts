// Several sockets of one session, and sockets that reconnect.
import type { SessionEvent } from '@mcp-host/contracts'
import type { Stack } from '@mcp-host/testkit'
import { ChatSocket, eventually, script, startStack } from '@mcp-host/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'

const echo = {
  name: 'echo',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
  delayMs: 150,
}

let stack: Stack
let otherGateway: string
beforeAll(async () => {
  stack = await startStack({ tools: [echo] })
  otherGateway = (await stack.add('gateway')).url
})
afterAll(() => stack[Symbol.asyncDispose]())

/** A message whose turn reasons, calls a tool and writes for about a second. */
const longTurn = script(
  {
    reasoning: 'thinking about it',
    text: 'First some words. ',
    tokensPerSecond: 100,
    calls: [{ name: 'test__echo', arguments: { text: 'hi' } }],
  },
  { tokens: 150, tokensPerSecond: 150 },
)

const isTurnDone = (event: SessionEvent): boolean =>
  event.type === 'turn' && event.payload.state === 'done'
const isNoText = ({ type }: SessionEvent): boolean => type !== 'text' && type !== 'thinking'
const textOf = (events: readonly SessionEvent[]): string =>
  events
    .filter((event) => event.type === 'text')
    .map(({ payload }) => payload.content)
    .join('')

test('two sockets of one session see the same events with the same ids', async () => {
  using one = await ChatSocket.open(stack)
  using other = await ChatSocket.open({ ...stack, sessionId: one.sessionId })
  one.say(longTurn)
  await Promise.all([one.turnsDone(), other.turnsDone()])
  expect(one.events.length).toBeGreaterThan(15)
  expect(other.events).toEqual(one.events)
})

test.each([
  ['the same gateway', () => stack.url],
  ['another gateway', () => otherGateway],
])('a socket that reconnects repeatedly ends with the same text: %s', async (_, url) => {
  using stayed = await ChatSocket.open(stack)
  const { sessionId } = stayed
  const received: SessionEvent[] = []
  let visits = 0
  let after: string | undefined
  stayed.say(longTurn)
  // Reconnects after every few events with the id of the last one.
  for (; !received.some(isTurnDone); visits++) {
    const from = after === undefined ? {} : { after }
    using chat = await ChatSocket.open({ url: url(), sessionId, ...from })
    const take = (visits % 4) + 1
    await eventually(() => chat.events.length >= take || chat.events.some(isTurnDone))
    received.push(...chat.events.slice(0, take))
    after = received.at(-1)?.id
    if (visits === 1) {
      expect(chat.frames[0]).toMatchObject({ payload: { state: 'reconnected' } })
    }
  }
  await stayed.turnsDone()
  expect(visits).toBeGreaterThan(6)
  expect(textOf(received)).toBe(stayed.text)
  expect(new Set(received.map(({ id }) => id)).size).toBe(received.length)
  expect(received.filter(isNoText)).toEqual(stayed.events.filter(isNoText))
})

test('a socket that joins in mid-answer gets the running turn from its beginning', async () => {
  using one = await ChatSocket.open(stack)
  one.say(script({ text: 'an earlier answer' }))
  await one.turnsDone()
  one.say(script({ tokens: 60, tokensPerSecond: 100 }))
  await eventually(() => one.text.includes('w10'))
  using late = await ChatSocket.open({ url: otherGateway, sessionId: one.sessionId })
  await Promise.all([one.turnsDone(2), late.turnsDone()])
  expect(late.text).toBe(one.text.replace('an earlier answer', ''))
  expect(late.events[0]).toMatchObject({ type: 'user' })
})

test('a socket that joins between turns gets only later events', async () => {
  using one = await ChatSocket.open(stack)
  one.say(script({ text: 'old' }))
  await one.turnsDone()
  using late = await ChatSocket.open({ ...stack, sessionId: one.sessionId })
  one.say(script({ text: 'new' }))
  await late.turnsDone()
  expect(late.text).toBe('new')
})

test('a cursor beyond the end of the log is refused', async () => {
  using one = await ChatSocket.open(stack)
  using lost = ChatSocket.start({ ...stack, sessionId: one.sessionId, after: '999999999.1.-.0' })
  expect(await lost.hasClosed()).toMatchObject({ code: 1008 })
  expect(lost.frames[0]).toMatchObject({ payload: { state: 'error' } })
})

test('a turn continues without sockets and is complete for one that reconnects', async () => {
  const one = await ChatSocket.open(stack)
  one.say(script({ tokens: 40, tokensPerSecond: 80 }))
  await eventually(() => one.text.includes('w5'))
  const { sessionId, lastId, text } = one
  one.socket.terminate()
  using watcher = await ChatSocket.open({ ...stack, sessionId })
  await watcher.turnsDone()
  using back = await ChatSocket.open({ ...stack, sessionId, after: lastId })
  await back.turnsDone()
  expect(text + back.text).toBe(watcher.text)
})
