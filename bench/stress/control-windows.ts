import { setTimeout as delay } from 'node:timers/promises'
import type { Stack } from '@mcp-host/testkit'
import { quantile } from '../quantile.ts'
import type { BystanderTurn } from './bystanders.ts'
import { Bystanders } from './bystanders.ts'
import { machineTime } from './machine.ts'
import { MemoryWatch } from './memory-watch.ts'
import { now } from './timed-chat.ts'

const SESSIONS = 10
const WINDOW_MS = 8_000
const PAIRS = 5
/** A pair counts when no more of the machine's CPU time was taken by its own host, */
const MAX_STOLEN = 0.03
/** and when there were too few such pairs after so many, all count. */
const MAX_PAIRS = 15
/** What one window began is over before the next. */
const SETTLE_MS = 1_000

/** Something that is hard on the host. */
export interface Strain {
  /** Makes ready for a window, which does not count. */
  prepare?(): Promise<void>
  /** Strains the host for about so long. Throws when an answer is wrong. */
  run(windowMs: number): Promise<void>
  /** Ends what `prepare` began, and checks what is too much to do it in the window. */
  settle?(): Promise<void>
  figures(): object
}

/** A window's turns, and how much of the machine others took meanwhile. */
interface Window {
  readonly turns: readonly BystanderTurn[]
  readonly total: number
  readonly stolen: number
}

interface Pair {
  readonly control: Window
  readonly strain: Window
}

/**
 * How people fare beside a strain: windows with it and without take turns. These clients share the machine
 * with the host, so a strain also slows down those who measure.
 */
export async function compareWindows(stack: Stack, strain: Strain): Promise<object> {
  await using bystanders = new Bystanders({ url: stack.url, sessions: SESSIONS })
  // The first time of everything is slow.
  await oneWindow(bystanders, () => delay(WINDOW_MS / 2))
  await strained(bystanders, strain, WINDOW_MS / 2)
  using memory = new MemoryWatch(stack.pids())
  const all: Pair[] = []
  let quiet: Pair[] = []
  while (quiet.length < PAIRS && all.length < MAX_PAIRS) {
    const control = await oneWindow(bystanders, () => delay(WINDOW_MS))
    all.push({ control, strain: await strained(bystanders, strain, WINDOW_MS) })
    quiet = all.filter((pair) => Object.values(pair).every(isQuiet))
  }
  const pairs = quiet.length < PAIRS ? all : quiet
  await delay(SETTLE_MS)
  const rssMb = memory.figures()
  if (bystanders.faults.length > 0) throw new Error(bystanders.faults.join('\n'))
  const control = summary(pairs.map((pair) => pair.control))
  const strain_ = summary(pairs.map((pair) => pair.strain))
  const ratio = (part: 'firstTextMs' | 'turnMs'): number =>
    Math.round((strain_[part].p99 / control[part].p99) * 100) / 100
  return {
    control,
    strain: strain_,
    ratioP99: { firstText: ratio('firstTextMs'), turn: ratio('turnMs') },
    pairs: { all: all.length, counted: pairs.length },
    rssMb,
    ...strain.figures(),
  }
}

async function strained(bystanders: Bystanders, strain: Strain, windowMs: number): Promise<Window> {
  await strain.prepare?.()
  const window = await oneWindow(bystanders, async () => {
    await Promise.all([delay(windowMs), strain.run(windowMs)])
  })
  await strain.settle?.()
  return window
}

async function oneWindow(bystanders: Bystanders, pass: () => Promise<void>): Promise<Window> {
  const [begin, before] = [now(), machineTime()]
  await pass()
  const [end, after] = [now(), machineTime()]
  await delay(SETTLE_MS)
  return {
    turns: bystanders.between(begin, end),
    total: after.total - before.total,
    stolen: after.stolen - before.stolen,
  }
}

function isQuiet({ stolen, total }: Window): boolean {
  return stolen <= MAX_STOLEN * total
}

function summary(windows: readonly Window[]) {
  const turns = windows.flatMap((window) => window.turns)
  const part = (pick: (turn: BystanderTurn) => number) => ({
    p50: quantile(turns.map(pick), 0.5),
    p99: quantile(turns.map(pick), 0.99),
  })
  const sum = (field: 'stolen' | 'total'): number =>
    windows.reduce((total, window) => total + window[field], 0)
  return {
    turns: turns.length,
    firstTextMs: part(({ firstText }) => firstText),
    turnMs: part(({ turn }) => turn),
    /** Of the machine's CPU time, by its own host: with much of it the p99 says little. */
    stolen: Math.round((sum('stolen') / sum('total')) * 100) / 100,
  }
}
