import { Guardian } from 'mcp-host/process'
import { rssMb } from '../process-usage.ts'
import type { Cell, Load } from './measure.ts'
import { measure } from './measure.ts'
import type { Target } from './targets.ts'
import { startTargets } from './targets.ts'

const ROUNDS = 3
const MEASURED_MS = 3_000
const WARM_UP: Load = { name: 'warm-up', callers: 16, ms: 10_000 }
const LOADS: readonly Load[] = [
  ...[1, 16, 64, 200].map((callers) => ({
    name: `${callers} at once`,
    callers,
    ms: MEASURED_MS,
  })),
  { name: '200 that come for 5', callers: 200, callsEach: 5, ms: 2_000 },
]
/** So many sessions of a peer that starts a process for each would need more memory than there is. */
const MAX_PROCESSES = 64

/** Calls of one tool through us, through what people use today, and without anything between. */
export async function benchMcp(parts: readonly string[]): Promise<object> {
  await using stack = new AsyncDisposableStack()
  const guardian = stack.use(new Guardian())
  const all = await startTargets(guardian)
  for (const target of all) stack.use(target)
  const targets = all.filter(({ name }) => parts.length === 0 || parts.includes(name))
  const cells: Cell[] = []
  for (const target of targets) {
    console.log(`warming up ${target.name}`)
    await measure(target, WARM_UP)
  }
  for (const load of LOADS) {
    const rounds = new Map<Target, Cell[]>()
    for (let round = 0; round < ROUNDS; round++) {
      // Nobody is always the first.
      const order = targets.map((_, index) => targets[(index + round) % targets.length] as Target)
      for (const target of order) {
        if (target.name === 'supergateway' && load.callers > MAX_PROCESSES) continue
        const cell = await measure(target, load)
        rounds.set(target, [...(rounds.get(target) ?? []), cell])
      }
    }
    console.log(
      `\n${load.name.padEnd(19)}  calls/s      p50      p99  CPU µs (server, callers)  errors`,
    )
    for (const [first, ...others] of rounds.values()) {
      if (first === undefined) continue
      const cell = middle([first, ...others])
      cells.push(cell)
      print(cell)
    }
  }
  const rss = Object.fromEntries(targets.map((target) => [target.name, memory(target)]))
  console.log('\nmemory, MB', rss)
  return { cells, ratios: ratios(cells, targets), rss }
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

/** Of the largest process of each name, in megabytes. */
function memory(target: Target): Record<string, number> {
  const most: Record<string, number> = {}
  for (const [pid, name] of target.processes()) {
    most[name] = Math.max(most[name] ?? 0, rssMb(pid))
  }
  return most
}

/** The round whose calls per second are in the middle, with the errors of all. */
function middle(cells: readonly [Cell, ...Cell[]]): Cell {
  const sorted = cells.toSorted((one, other) => one.callsPerSecond - other.callsPerSecond)
  const cell = sorted[Math.floor(sorted.length / 2)] ?? cells[0]
  return { ...cell, errors: cells.reduce((sum, each) => sum + each.errors, 0) }
}

/** Ours by the best of the peers. */
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
