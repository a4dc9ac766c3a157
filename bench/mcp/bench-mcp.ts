import { quantile } from '../quantile.ts'
import { rssMb } from '../process-usage.ts'
import type { Cell, Load } from './measure.ts'
import { measure } from './measure.ts'
import type { Target } from './targets.ts'
import { startAccountsPair, startSecuredPair, startTargets } from './targets.ts'

/** Of peers. */
const ROUNDS = { count: 3, ms: 3_000 }
/** Of two hosts that differ by little: short and many, so that what else the machine does affects both. */
const PAIR_ROUNDS = { count: 9, ms: 1_500 }
const WARM_UP: Load = { name: 'warm-up', callers: 16, ms: 10_000 }
const LOADS: readonly Omit<Load, 'ms'>[] = [
  ...[1, 16, 64, 200].map((callers) => ({ name: `${callers} at once`, callers })),
  { name: '200 that come for 5', callers: 200, callsEach: 5 },
]
/** Limit for a peer that starts a process for each session: more would not fit into memory. */
const MAX_PROCESSES = 64

/** Compares calls of one tool through the host, through published gateways, and directly. */
export async function benchMcp(parts: readonly string[]): Promise<object> {
  await using stack = new AsyncDisposableStack()
  if (parts.includes('--auth')) return await benchPair(await startSecuredPair(stack))
  if (parts.includes('--accounts')) return await benchPair(await startAccountsPair(stack))
  const all = await startTargets(stack)
  const targets = all.filter(({ name }) => parts.length === 0 || parts.includes(name))
  const { cells, rss } = await compare(targets, ROUNDS)
  return { cells, ratios: ratios(cells, targets), rss }
}

/** The cost of what the second host has and the first has not: the median of the shares of all rounds. */
async function benchPair(pair: readonly Target[]): Promise<object> {
  const { cells, rounds, rss } = await compare(pair, PAIR_ROUNDS)
  const shares = LOADS.map(({ name }) => {
    const [first = [], second = []] = pair.map((target) =>
      rounds.filter((cell) => cell.load === name && cell.target === target.name),
    )
    const each = second.map((cell, at) => cell.callsPerSecond / (first[at]?.callsPerSecond ?? 1))
    return { load: name, callsPerSecond: Math.round(quantile(each, 0.5) * 100) / 100 }
  })
  console.log(
    `${pair
      .map(({ name }) => name)
      .toReversed()
      .join(' by ')}:`,
    JSON.stringify(shares),
  )
  return { cells, shares, rss }
}

interface Comparison {
  /** One for each target and load. */
  readonly cells: readonly Cell[]
  /** All that was measured, in that order. */
  readonly rounds: readonly Cell[]
  readonly rss: Readonly<Record<string, object>>
}

/** Measures the targets under each load, in rounds of all of them. */
async function compare(
  targets: readonly Target[],
  { count, ms }: { readonly count: number; readonly ms: number },
): Promise<Comparison> {
  const cells: Cell[] = []
  const all: Cell[] = []
  for (const target of targets) {
    console.log(`warming up ${target.name}`)
    await measure(target, WARM_UP)
  }
  for (const load of LOADS) {
    const rounds = new Map<Target, Cell[]>()
    for (let round = 0; round < count; round++) {
      // The order rotates.
      const order = targets.map((_, index) => targets[(index + round) % targets.length] as Target)
      for (const target of order) {
        if (target.name === 'supergateway' && load.callers > MAX_PROCESSES) continue
        const cell = await measure(target, { ...load, ms })
        all.push(cell)
        rounds.set(target, [...(rounds.get(target) ?? []), cell])
      }
    }
    console.log(
      `\n${load.name.padEnd(19)}  calls/s      p50      p99  CPU µs (server, callers)  errors`,
    )
    for (const [first, ...others] of rounds.values()) {
      if (first === undefined) continue
      const cell = medianRound([first, ...others])
      cells.push(cell)
      print(cell)
    }
  }
  const rss: Record<string, object> = {}
  for (const target of targets) rss[target.name] = await memory(target)
  console.log('\nmemory, MB', rss)
  return { cells, rounds: all, rss }
}

function print(cell: Cell): void {
  const cpu = `${cell.cpuUsPerCall} (${cell.serverCpuUsPerCall}, ${cell.callersCpuUsPerCall})`
  console.log(
    [
      cell.target.padEnd(19),
      String(cell.callsPerSecond).padStart(8),
      cell.p50Ms.toFixed(2).padStart(8),
      cell.p99Ms.toFixed(2).padStart(8),
      cpu.padStart(25),
      String(cell.errors).padStart(7),
    ].join(' '),
  )
}

/** Memory of the largest process of each name, in megabytes. */
async function memory(target: Target): Promise<Record<string, number>> {
  const most: Record<string, number> = {}
  for (const [pid, name] of await target.processes()) {
    most[name] = Math.max(most[name] ?? 0, rssMb(pid))
  }
  return most
}

/** The round with the median of the calls per second, with the errors of all rounds. */
function medianRound(cells: readonly [Cell, ...Cell[]]): Cell {
  const sorted = cells.toSorted((one, other) => one.callsPerSecond - other.callsPerSecond)
  const cell = sorted[Math.floor(sorted.length / 2)] ?? cells[0]
  return { ...cell, errors: cells.reduce((sum, each) => sum + each.errors, 0) }
}

/** The figures of the host divided by those of the best peer. */
function ratios(cells: readonly Cell[], targets: readonly Target[]): object[] {
  const peers = new Set(targets.filter(({ isPeer }) => isPeer).map(({ name }) => name))
  return LOADS.flatMap(({ name }) => {
    const level = cells.filter(({ load }) => load === name)
    const ours = level.find(({ target }) => target === 'mcp-host')
    const others = level.filter(({ target, errors }) => peers.has(target) && errors === 0)
    if (ours === undefined || others.length === 0) return []
    const by = (figure: 'callsPerSecond' | 'p50Ms' | 'p99Ms' | 'cpuUsPerCall'): number => {
      const figures = others.map((each) => each[figure])
      const best = figure === 'callsPerSecond' ? Math.max(...figures) : Math.min(...figures)
      return Math.round((ours[figure] / best) * 100) / 100
    }
    const ratio = {
      load: name,
      callsPerSecond: by('callsPerSecond'),
      p50: by('p50Ms'),
      p99: by('p99Ms'),
      cpuPerCall: by('cpuUsPerCall'),
    }
    console.log("ours by the best peer's:", JSON.stringify(ratio))
    return [ratio]
  })
}
