// LIMIT_TURNS over two gateways and two orchestrators, one of which is killed.
import type { Bus } from '@mcp-host/bus'
import type { SessionId, TurnEvent } from '@mcp-host/contracts'
import type { Stack } from '@mcp-host/testkit'
import { ChatSocket, createKey, eventually, script, startStack } from '@mcp-host/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'

let stack: Stack
let gateways: readonly [string, string]
beforeAll(async () => {
  stack = await startStack({
    env: { AUTH: 'keys', LIMIT_TURNS: '2', DEMO_TOKENS_PER_SECOND: '20' },
  })
  gateways = [stack.url, (await stack.add('gateway')).url]
  await stack.add('orchestrator')
}, 120_000)
afterAll(() => stack[Symbol.asyncDispose]())

test('a principal has two turns at a time; others wait, and run after an orchestrator was killed', async () => {
  const bus = await stack.broker.connect()
  const headers = await createKey(bus, 'user:ann')
  await using cleanup = new AsyncDisposableStack()
  const chats = await Promise.all(
    Array.from({ length: 6 }, async (_, at) =>
      cleanup.use(await ChatSocket.open({ url: gateways[at % 2] ?? '', headers })),
    ),
  )
  const isBegun = ({ frames }: ChatSocket) =>
    frames.some((frame) => frame.type === 'turn' && frame.payload.state === 'started')
  const isDone = ({ frames }: ChatSocket) =>
    frames.some((frame) => frame.type === 'turn' && frame.payload.state === 'done')
  for (const chat of chats) chat.say(script({ tokens: 40 }))
  await eventually(() => chats.filter(isBegun).length === 2)
  using other = await ChatSocket.open({
    url: gateways[0],
    headers: await createKey(bus, 'user:bob'),
  })
  other.say(script({ tokens: 1 }))
  await other.turnsDone()
  expect(chats.filter(isDone).length).toBeLessThan(6)
  await stack.kill('orchestrator')
  await Promise.all(chats.map((chat) => chat.turnsDone()))
  // By the times of the log: two gateways do not deliver at the same moment.
  const turns = await Promise.all(chats.map((chat) => turnTimes(bus, chat.sessionId as SessionId)))
  const running = turns.map(({ begin }) => turns.filter((turn) => isDuring(turn, begin)).length)
  expect(Math.max(...running)).toBe(2)
}, 120_000)

interface TurnTimes {
  readonly begin: number
  readonly end: number
}
const isDuring = ({ begin, end }: TurnTimes, time: number): boolean => begin <= time && time < end

/** When a session's only turn began and ended, in epoch milliseconds. */
async function turnTimes(bus: Bus, session: SessionId): Promise<TurnTimes> {
  const entries = await bus.sessions.read(session, 0)
  const timesOf = (type: TurnEvent['type']): readonly number[] =>
    entries.flatMap(({ kind, fact, time }) => (kind === 'turn' && fact.type === type ? time : []))
  return { begin: Math.min(...timesOf('turn-claimed')), end: Math.max(...timesOf('turn-done')) }
}
