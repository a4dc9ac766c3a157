import { setTimeout as delay } from 'node:timers/promises'
import type { Stack } from '@mcp-host/testkit'
import { script, startStack } from '@mcp-host/testkit'
import { quantiles } from '../quantile.ts'
import { ReturningClient } from './returning-client.ts'

const SESSIONS = 1_000
/** Rounds of each kind. */
const ROUNDS = 3
/** Clients that reconnect to a gateway to warm it up. */
const WARMING = 200
/** Clients that connect at once before the gateway dies. */
const AT_ONCE = 50
/** Slow, so that the machine works on reconnects and not on text. */
const ANSWER = { tokens: 60, tokensPerSecond: 1 }
const SHORT_ANSWER = { tokens: 20, tokensPerSecond: 20 }
const EXPECTED = Array.from({ length: ANSWER.tokens }, (_, index) => `w${index} `).join('')
const LIMIT_MS = 60_000
const GOAL_MS = 2_000

interface Round {
  /** From the death of the gateway until each client has reconnected, in milliseconds. */
  readonly reconnected: number[]
  /** The same until its next text. */
  readonly text: number[]
  readonly faults: string[]
}

/**
 * Kills the gateway of 1,000 running turns. All clients reconnect at once to another gateway, which has served clients
 * before (warm) or not (cold), and share the machine with it.
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
    await Promise.all(next.map((each) => each.opened.promise))
    await Promise.all(next.map((each) => each.ask(script(ANSWER))))
    all.push(...next)
  }
  const at = performance.now()
  await stack.kill('gateway')
  await inTime(all.map((each) => each.returned.promise))
  await inTime(all.map((each) => each.done.promise))
  const since = (time = Infinity): number => time - at
  return {
    reconnected: all.map(({ back }) => since(back.reconnected)),
    text: all.map(({ back }) => since(back.text)),
    faults: all.flatMap(({ fault, text }) => {
      if (fault !== undefined) return [fault]
      return text === EXPECTED ? [] : [`a text is not as written: ${text}`]
    }),
  }
}

/** Lets clients lose their connection during an answer, and reconnect. */
async function warmUp(url: string): Promise<void> {
  using clients = new DisposableStack()
  const all = Array.from({ length: WARMING }, () => clients.use(new ReturningClient(url, url)))
  await Promise.all(all.map((each) => each.opened.promise))
  await Promise.all(all.map((each) => each.ask(script(SHORT_ANSWER))))
  for (const each of all) each.drop()
  await Promise.all(all.map((each) => each.done.promise))
}

/** Waits for events, within the limit. Those that are missing show in the figures. */
async function inTime(events: readonly Promise<void>[]): Promise<void> {
  await Promise.race([Promise.all(events), delay(LIMIT_MS, undefined, { ref: false })])
}

function summary(rounds: readonly Round[]) {
  const reconnected = rounds.flatMap((round) => round.reconnected)
  const text = rounds.flatMap((round) => round.text)
  return {
    reconnectedMs: quantiles(reconnected, 'p50', 'p95', 'max'),
    nextTextMs: quantiles(text, 'p50', 'p95', 'max'),
    errors: rounds.flatMap(({ faults }) => faults).length,
  }
}
