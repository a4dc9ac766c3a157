import { setTimeout as delay } from 'node:timers/promises'
import type { Stack } from '@mcp-host/testkit'
import { script, startStack } from '@mcp-host/testkit'
import { quantile } from '../quantile.ts'
import { ReturningClient } from './returning-client.ts'

const SESSIONS = 1_000
/** Of each kind. */
const ROUNDS = 3
/** A gateway is warm that so many clients have come back to before. */
const WARMING = 200
/** So many connect at a time before the gateway dies. */
const AT_ONCE = 50
/** Slow, so that the machine is busy with coming back and not with text. */
const ANSWER = { tokens: 60, tokensPerSecond: 1 }
const SHORT_ANSWER = { tokens: 20, tokensPerSecond: 20 }
const EXPECTED = Array.from({ length: ANSWER.tokens }, (_, index) => `w${index} `).join('')
const LIMIT_MS = 60_000
const GOAL_MS = 2_000

interface Round {
  /** From the death of the gateway, in milliseconds. */
  readonly reconnected: number[]
  readonly text: number[]
  readonly faults: string[]
}

/**
 * Sessions in mid-answer whose gateway is killed: all their clients go to the other one at once, which has
 * served others before (warm), or nobody yet (cold). These 1,000 clients share the machine with the gateway
 * that they come back to.
 */
export async function benchResume(): Promise<object> {
  const rounds = { warm: [] as Round[], cold: [] as Round[] }
  for (let round = 0; round < ROUNDS; round++) {
    for (const kind of ['warm', 'cold'] as const) {
      await using stack = await startStack({ env: { MAX_GENERATIONS: String(2 * SESSIONS) } })
      const figures = await killGateway(stack, kind)
      console.log(`round ${round + 1}, ${kind}`, summary([figures]))
      rounds[kind].push(figures)
    }
  }
  const faults = [...rounds.warm, ...rounds.cold].flatMap((round) => round.faults)
  for (const fault of new Set(faults)) console.error(fault)
  if (faults.length > 0) process.exitCode = 1
  const { warm, cold } = rounds
  return {
    sessions: SESSIONS,
    rounds: ROUNDS,
    warm: summary(warm),
    cold: summary(cold),
    goalMs: GOAL_MS,
  }
}

async function killGateway(stack: Stack, kind: 'warm' | 'cold'): Promise<Round> {
  const { url: fallback } = await stack.add('gateway')
  if (kind === 'warm') await warmUp(fallback)
  using clients = new DisposableStack()
  const all: ReturningClient[] = []
  while (all.length < SESSIONS) {
    const next = Array.from({ length: AT_ONCE }, () =>
      clients.use(new ReturningClient(stack.url, fallback)),
    )
    await Promise.all(next.map((each) => each.opened()))
    await Promise.all(next.map((each) => each.ask(script(ANSWER))))
    all.push(...next)
  }
  const at = performance.now()
  await stack.kill('gateway')
  await inTime(all.map((each) => each.returned()))
  await inTime(all.map((each) => each.done()))
  const since = (time = Infinity): number => time - at
  return {
    reconnected: all.map(({ back }) => since(back.reconnected)),
    text: all.map(({ back }) => since(back.text)),
    faults: all.flatMap(({ fault, text }) => {
      if (fault !== undefined) return [fault]
      return text === EXPECTED ? [] : [`a text is not what was written: ${text}`]
    }),
  }
}

/** Lets clients lose their connection in mid-answer, and come back. */
async function warmUp(url: string): Promise<void> {
  using clients = new DisposableStack()
  const all = Array.from({ length: WARMING }, () => clients.use(new ReturningClient(url, url)))
  await Promise.all(all.map((each) => each.opened()))
  await Promise.all(all.map((each) => each.ask(script(SHORT_ANSWER))))
  for (const each of all) each.drop()
  await Promise.all(all.map((each) => each.done()))
}

/** What has not happened in time shows in the figures. */
async function inTime(events: readonly Promise<void>[]): Promise<void> {
  await Promise.race([Promise.all(events), delay(LIMIT_MS, undefined, { ref: false })])
}

function summary(rounds: readonly Round[]) {
  const part = (values: readonly number[]) => ({
    p50: quantile(values, 0.5),
    p95: quantile(values, 0.95),
    max: quantile(values, 1),
  })
  return {
    reconnectedMs: part(rounds.flatMap(({ reconnected }) => reconnected)),
    nextTextMs: part(rounds.flatMap(({ text }) => text)),
    errors: rounds.flatMap(({ faults }) => faults).length,
  }
}
