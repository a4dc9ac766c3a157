import { cpus } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from '@mcp-host/testkit'
import { cpuMs } from '../process-usage.ts'
import { quantile } from '../quantile.ts'
import type { McpClient } from './mcp-client.ts'
import type { Target } from './targets.ts'

/** What the whole machine may take of a core at most before calls begin. */
const QUIET = 0.2
const QUIET_MS = 500
const QUIET_LIMIT_MS = 120_000

export interface Load {
  readonly name: string
  /** At once, each with a session and a connection of its own. */
  readonly callers: number
  /** How many calls each makes before it leaves, its connect in the time; without it, as many as there is time for. */
  readonly callsEach?: number
  /** How long, in milliseconds; who leaves is followed by others for so long. */
  readonly ms: number
}

export interface Cell {
  readonly target: string
  readonly load: string
  readonly callsPerSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Of everything between, of the server behind it, and of the callers here, which have the same cores. */
  readonly cpuUsPerCall: number
  readonly serverCpuUsPerCall: number
  readonly callersCpuUsPerCall: number
  readonly errors: number
}

interface Usage {
  own: number
  server: number
  callers: number
}

/** Calls of one target, once the machine is quiet. */
export async function measure(target: Target, load: Load): Promise<Cell> {
  let times: readonly number[] = []
  const used: Usage = { own: 0, server: 0, callers: 0 }
  let errors = 0
  let tookMs = 0
  while (tookMs < load.ms) {
    await eventually(isQuiet, { what: 'a machine that is quiet', limitMs: QUIET_LIMIT_MS })
    const visit = await callAtOnce(target, load)
    times = [...times, ...visit.times]
    errors += visit.errors
    tookMs += visit.ms
    for (const who of ['own', 'server', 'callers'] as const) used[who] += visit.used[who]
  }
  const perCall = (ms: number): number => Math.round((ms * 1_000) / Math.max(1, times.length))
  return {
    target: target.name,
    load: load.name,
    callsPerSecond: Math.round(times.length / (tookMs / 1_000)),
    p50Ms: quantile(times, 0.5),
    p99Ms: quantile(times, 0.99),
    cpuUsPerCall: perCall(used.own),
    serverCpuUsPerCall: perCall(used.server),
    callersCpuUsPerCall: perCall(used.callers),
    errors,
  }
}

interface Visit {
  readonly times: readonly number[]
  readonly errors: number
  readonly ms: number
  readonly used: Readonly<Usage>
}

async function callAtOnce(target: Target, { callers, callsEach, ms }: Load): Promise<Visit> {
  const connect = (): Promise<McpClient[]> =>
    Promise.all(Array.from({ length: callers }, () => target.connect()))
  const connected = callsEach === undefined ? await connect() : undefined
  const before = usage(target)
  const times: number[] = []
  let errors = 0
  const begin = performance.now()
  const isOver = (count: number): boolean =>
    callsEach === undefined ? performance.now() - begin >= ms : count === callsEach
  const clients = connected ?? (await connect())
  const callAgain = async (client: McpClient, caller: number): Promise<void> => {
    for (let count = 0; !isOver(count); count++) {
      const at = performance.now()
      try {
        await client.call(`c${caller}-${count}.`)
        times.push(performance.now() - at)
      } catch {
        errors++
      }
    }
  }
  await Promise.all(clients.map(callAgain))
  const tookMs = performance.now() - begin
  const after = usage(target)
  await Promise.all(clients.map((client) => client.close()))
  const used = {
    own: after.own - before.own,
    server: after.server - before.server,
    callers: after.callers - before.callers,
  }
  return { times, errors, ms: tookMs, used }
}

/** Some have a core busy for many seconds after their callers have gone, for which the next would pay. */
async function isQuiet(): Promise<boolean> {
  const busyMs = (): number =>
    cpus().reduce((sum, { times: { user, nice, sys } }) => sum + user + nice + sys, 0)
  const before = busyMs()
  await sleep(QUIET_MS)
  return busyMs() - before < QUIET_MS * QUIET
}

/** In milliseconds of CPU. */
function usage(target: Target): Usage {
  const { user, system } = process.cpuUsage()
  const sum = { own: 0, server: 0, callers: (user + system) / 1_000 }
  for (const [pid, name] of target.processes()) {
    sum[name === 'server' ? 'server' : 'own'] += cpuMs(pid)
  }
  return sum
}
