import { setTimeout as delay } from 'node:timers/promises'
import type { Stack } from '@mcp-host/testkit'
import { script, writeLongSession } from '@mcp-host/testkit'
import { quantile } from '../quantile.ts'
import type { Strain } from './control-windows.ts'
import { now, TimedChat } from '../timed-chat.ts'

const TURNS = 5_000
/** Turns on one page. */
const PAGE = 50
const GOAL_MS = 50
/**
 * Time between two visits of each session, however fast the host is: the load is the length of the history, not the
 * number of visits.
 */
const PERIOD_MS = 200
const MESSAGE = script({ text: 'hello' })

interface Visit {
  readonly attach: number
  readonly page: number
  readonly firstText: number
}

/** Visits a session of 10,000 messages as often as a short one. */
export async function longHistory(stack: Stack): Promise<Strain> {
  await stack.kill('orchestrator')
  const long = await writeLongSession(stack.broker, { turns: TURNS })
  await stack.restart('orchestrator')
  const cold = await visit(stack, long, PAGE)
  console.log('first visit, without a snapshot', median([cold]))
  const visits: { long: Visit; short: Visit }[] = []
  return {
    async run(windowMs) {
      const end = now() + windowMs
      using chat = await TimedChat.open(stack.url)
      await chat.ask(MESSAGE)
      for (let turns = 2; now() < end; turns++) {
        const next = now() + PERIOD_MS
        const short = await visit(stack, chat.sessionId, Math.min(turns, PAGE))
        visits.push({ long: await visit(stack, long, PAGE), short })
        await delay(Math.max(0, next - now()))
      }
    },
    figures() {
      const ofLong = median(visits.map((each) => each.long))
      const ofShort = median(visits.map((each) => each.short))
      return {
        withoutSnapshot: median([cold]),
        visits: visits.length,
        long: ofLong,
        short: ofShort,
        moreMs: difference(ofLong, ofShort),
        goalMs: GOAL_MS,
      }
    },
  }
}

/** Joins a session, runs a turn, and reads the newest page, which must have `turns` turns. */
async function visit(stack: Stack, session: string, turns: number): Promise<Visit> {
  using chat = await TimedChat.open(stack.url, session)
  const { firstText, text } = await chat.ask(MESSAGE)
  if (text !== 'hello') throw new Error(`a visitor got a wrong answer: ${text}`)
  const begin = now()
  const response = await fetch(`${stack.url}/api/chat/session/${session}/messages?limit=${PAGE}`)
  const { messages } = (await response.json()) as { messages?: { text: string }[] }
  const page = now() - begin
  if (messages?.length !== 2 * turns) {
    throw new Error(`the page has ${messages?.length} messages, not ${2 * turns}`)
  }
  return { attach: chat.attach, page, firstText }
}

function median(visits: readonly Visit[]): Visit {
  const part = (name: keyof Visit): number => {
    const values = visits.map((each) => each[name])
    return quantile(values, 0.5)
  }
  return { attach: part('attach'), page: part('page'), firstText: part('firstText') }
}

/** How much longer visits of the long session take. */
function difference(long: Visit, short: Visit): Visit {
  const part = (name: keyof Visit): number => Math.round((long[name] - short[name]) * 100) / 100
  return { attach: part('attach'), page: part('page'), firstText: part('firstText') }
}
