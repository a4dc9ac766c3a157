import { setTimeout as delay } from 'node:timers/promises'
import type { Stack } from '@mcp-host/testkit'
import { script, writeLongSession } from '@mcp-host/testkit'
import { quantile } from '../quantile.ts'
import type { Strain } from './control-windows.ts'
import { now, TimedChat } from './timed-chat.ts'

const TURNS = 5_000
/** Of the newest page. */
const PAGE = 50
const GOAL_MS = 50
/** From one visit of each to the next, however fast the host is: it is their length that strains, not their number. */
const PERIOD_MS = 200
const SAID = script({ text: 'hello' })

interface Visit {
  readonly attach: number
  readonly page: number
  readonly firstText: number
}

/** A session of 10,000 messages, visited as often as one of a few. */
export async function longHistory(stack: Stack): Promise<Strain> {
  await stack.kill('orchestrator')
  const long = await writeLongSession(stack.broker, { turns: TURNS })
  await stack.restart('orchestrator')
  const cold = await visit(stack, long, PAGE)
  console.log('first visit, without a snapshot', rounded(cold))
  const visits: { long: Visit; short: Visit }[] = []
  return {
    async run(windowMs) {
      const end = now() + windowMs
      using chat = await TimedChat.open(stack.url)
      await chat.ask(SAID)
      for (let turns = 2; now() < end; turns++) {
        const next = now() + PERIOD_MS
        const short = await visit(stack, chat.sessionId, Math.min(turns, PAGE))
        visits.push({ long: await visit(stack, long, PAGE), short })
        await delay(Math.max(0, next - now()))
      }
    },
    figures: () => ({
      withoutSnapshot: rounded(cold),
      visits: visits.length,
      long: median(visits.map((each) => each.long)),
      short: median(visits.map((each) => each.short)),
      moreMs: more(visits),
      goalMs: GOAL_MS,
    }),
  }
}

/** Joins, says something, and reads the newest page, on which so many turns are to be. */
async function visit(stack: Stack, session: string, turns: number): Promise<Visit> {
  using chat = await TimedChat.open(stack.url, session)
  const { firstText, text } = await chat.ask(SAID)
  if (text !== 'hello') throw new Error(`a visitor was answered: ${text}`)
  const begin = now()
  const response = await fetch(`${stack.url}/api/chat/session/${session}/messages?limit=${PAGE}`)
  const { messages } = (await response.json()) as { messages?: { text: string }[] }
  const page = now() - begin
  if (messages?.length !== 2 * turns) {
    throw new Error(`the page has ${messages?.length} messages, not ${2 * turns}`)
  }
  return { attach: chat.attach, page, firstText }
}

function rounded({ attach, page, firstText }: Visit): Visit {
  return median([{ attach, page, firstText }])
}

function median(visits: readonly Visit[]): Visit {
  return {
    attach: quantile(
      visits.map(({ attach }) => attach),
      0.5,
    ),
    page: quantile(
      visits.map(({ page }) => page),
      0.5,
    ),
    firstText: quantile(
      visits.map(({ firstText }) => firstText),
      0.5,
    ),
  }
}

function more(visits: readonly { long: Visit; short: Visit }[]): Visit {
  const [long, short] = [
    median(visits.map((each) => each.long)),
    median(visits.map((each) => each.short)),
  ]
  const part = (pick: (visit: Visit) => number): number =>
    Math.round((pick(long) - pick(short)) * 100) / 100
  return {
    attach: part(({ attach }) => attach),
    page: part(({ page }) => page),
    firstText: part(({ firstText }) => firstText),
  }
}
