import { setTimeout as delay } from 'node:timers/promises'
import type { Stack } from '@mcp-host/testkit'
import { machineTime } from '../process-usage.ts'
import { quantiles } from '../quantile.ts'
import type { BystanderTurn } from './bystanders.ts'
import { Bystanders } from './bystanders.ts'
import { MemoryWatch } from './memory-watch.ts'
import { now } from '../timed-chat.ts'

const SESSIONS = 10
const WINDOW_MS = 8_000
const PAIRS = 5
/** The share of CPU time that other virtual machines may take. Pairs above it do not count … */
const MAX_STOLEN = 0.03
/** … unless fewer than `PAIRS` of this many are below it. */
const MAX_PAIRS = 15
/** Turns of one window end before the next begins. */
const SETTLE_MS = 1_000

/** A load on the host. */
export interface Strain {
  /** Prepares a window. Not measured. */
  prepare?(): Promise<void>
  /** Loads the host for about `windowMs`. Throws when an answer is wrong. */
  run(windowMs: number): Promise<void>
  /** Ends what `prepare` began, and makes the checks that would take too long within the window. */
  settle?(): Promise<void>
  figures(): object
}

/** The turns of a window, and the CPU time of the machine during it. */
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
 * Compares the latency of bystanders with and without a load, in alternating windows. These clients share the machine
 * with the host, so the load also delays them.
 */
export async function compareWindows(stack: Stack, strain: Strain): Promise<object> {
  await using bystanders = new Bystanders({ url: stack.url, sessions: SESSIONS })
  // The first turns are slow.
  await runWindow(bystanders, () => delay(WINDOW_MS / 2))
  await strained(bystanders, strain, WINDOW_MS / 2)
  using memory = new MemoryWatch(stack.pids())
  const all: Pair[] = []
  let quiet: Pair[] = []
  while (quiet.length < PAIRS && all.length < MAX_PAIRS) {
    const control = await runWindow(bystanders, () => delay(WINDOW_MS))
    all.push({ control, strain: await strained(bystanders, strain, WINDOW_MS) })
    quiet = all.filter((pair) => Object.values(pair).every(isQuiet))
  }
  const pairs = quiet.length < PAIRS ? all : quiet
  await delay(SETTLE_MS)
  const rssMb = memory.figures()
  if (bystanders.faults.length > 0) throw new Error(bystanders.faults.join('\n'))
  const control = summary(pairs.map((pair) => pair.control))
  const loaded = summary(pairs.map((pair) => pair.strain))
  const ratio = (part: 'firstTextMs' | 'turnMs'): number =>
    Math.round((loaded[part].p99 / control[part].p99) * 100) / 100
  return {
    control,
    strain: loaded,
    ratioP99: { firstText: ratio('firstTextMs'), turn: ratio('turnMs') },
    pairs: { all: all.length, counted: pairs.length },
    rssMb,
    ...strain.figures(),
  }
}

async function strained(bystanders: Bystanders, strain: Strain, windowMs: number): Promise<Window> {
  await strain.prepare?.()
  const window = await runWindow(bystanders, async () => {
    await Promise.all([delay(windowMs), strain.run(windowMs)])
  })
  await strain.settle?.()
  return window
}

async function runWindow(bystanders: Bystanders, pass: () => Promise<void>): Promise<Window> {
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
  const part = (pick: (turn: BystanderTurn) => number) => quantiles(turns.map(pick), 'p50', 'p99')
  const sum = (field: 'stolen' | 'total'): number =>
    windows.reduce((total, window) => total + window[field], 0)
  return {
    turns: turns.length,
    firstTextMs: part(({ firstText }) => firstText),
    turnMs: part(({ turn }) => turn),
    /** The share of CPU time that other virtual machines took. With a high share the p99 means little. */
    stolen: Math.round((sum('stolen') / sum('total')) * 100) / 100,
  }
}
