import { Guardian } from 'mcp-host/process'
import { cpuMs, rssMb } from '../process-usage.ts'
import { quantile } from '../quantile.ts'
import type { McpClient } from './mcp-client.ts'
import type { Target } from './targets.ts'
import { startTargets } from './targets.ts'

const MEASURED_MS = 5_000
const WARM_UP_MS = 3_000
const ROUNDS = 3
/** Callers at once, each with a session and a connection of its own. */
const LEVELS = [1, 16, 64, 200]
/** So many sessions of a peer that starts a process for each would need more memory than there is. */
const MAX_PROCESSES = 64

interface Cell {
  readonly target: string
  readonly callers: number
  readonly callsPerSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Of everything but the server behind it, and of that. */
  readonly cpuUsPerCall: number
  readonly serverCpuUsPerCall: number
  readonly errors: number
}

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
    await measure(target, 16, WARM_UP_MS)
  }
  for (const callers of LEVELS) {
    const rounds = new Map<Target, Cell[]>()
    for (let round = 0; round < ROUNDS; round++) {
      // Nobody is always the first.
      const order = targets.map((_, index) => targets[(index + round) % targets.length] as Target)
      for (const target of order) {
        if (target.name === 'supergateway' && callers > MAX_PROCESSES) continue
        const cell = await measure(target, callers, MEASURED_MS)
        rounds.set(target, [...(rounds.get(target) ?? []), cell])
      }
    }
    console.log(`\n${callers} at once        calls/s      p50      p99   CPU µs (server)  errors`)
    for (const [target, [first, ...others]] of rounds) {
      if (first === undefined) continue
      const cell = middle([first, ...others])
      cells.push(cell)
      console.log(
        [
          target.name.padEnd(14),
          String(cell.callsPerSecond).padStart(9),
          cell.p50Ms.toFixed(2).padStart(9),
          cell.p99Ms.toFixed(2).padStart(9),
          `${cell.cpuUsPerCall} (${cell.serverCpuUsPerCall})`.padStart(18),
          String(cell.errors).padStart(7),
        ].join(' '),
      )
    }
  }
  const rss = Object.fromEntries(targets.map((target) => [target.name, memory(target)]))
  console.log('\nmemory, MB', rss)
  return { cells, ratios: ratios(cells, targets), rss }
}

/** Of the largest process of each name, in megabytes. */
function memory(target: Target): Record<string, number> {
  const most: Record<string, number> = {}
  for (const [pid, name] of target.processes()) {
    most[name] = Math.max(most[name] ?? 0, rssMb(pid))
  }
  return most
}

/** Everybody calls again and again for so long. */
async function measure(target: Target, callers: number, ms: number): Promise<Cell> {
  const clients = await Promise.all(Array.from({ length: callers }, () => target.connect()))
  const before = usage(target)
  const times: number[] = []
  let errors = 0
  const begin = performance.now()
  const call = async (client: McpClient, caller: number): Promise<void> => {
    for (let count = 0; performance.now() - begin < ms; count++) {
      const at = performance.now()
      try {
        await client.call(`c${caller}-${count}.`)
        times.push(performance.now() - at)
      } catch {
        errors++
      }
    }
  }
  await Promise.all(clients.map(call))
  const tookMs = performance.now() - begin
  const after = usage(target)
  await Promise.all(clients.map((client) => client.close()))
  const perCall = (from: number, to: number): number =>
    Math.round(((to - from) * 1_000) / Math.max(1, times.length))
  return {
    target: target.name,
    callers,
    callsPerSecond: Math.round(times.length / (tookMs / 1_000)),
    p50Ms: quantile(times, 0.5),
    p99Ms: quantile(times, 0.99),
    cpuUsPerCall: perCall(before.own, after.own),
    serverCpuUsPerCall: perCall(before.server, after.server),
    errors,
  }
}

function usage(target: Target): { own: number; server: number } {
  const sum = { own: 0, server: 0 }
  for (const [pid, name] of target.processes()) {
    sum[name === 'server' ? 'server' : 'own'] += cpuMs(pid)
  }
  return sum
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
  return LEVELS.flatMap((callers) => {
    const level = cells.filter((cell) => cell.callers === callers)
    const ours = level.find(({ target }) => target === 'mcp-host')
    const others = level.filter(({ target, errors }) => peers.has(target) && errors === 0)
    if (ours === undefined || others.length === 0) return []
    const by = (figure: 'callsPerSecond' | 'p50Ms' | 'p99Ms' | 'cpuUsPerCall'): number => {
      const figures = others.map((each) => each[figure])
      const best = figure === 'callsPerSecond' ? Math.max(...figures) : Math.min(...figures)
      return Math.round((ours[figure] / best) * 100) / 100
    }
    const ratio = {
      callers,
      callsPerSecond: by('callsPerSecond'),
      p50: by('p50Ms'),
      p99: by('p99Ms'),
      cpuPerCall: by('cpuUsPerCall'),
    }
    console.log(`\nours by the best peer's, ${callers} at once:`, ratio)
    return [ratio]
  })
}
