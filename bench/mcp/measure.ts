import { cpus } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { eventually } from '@mcp-host/testkit'
import { cpuMs } from '../process-usage.ts'
import { quantile } from '../quantile.ts'
import type { McpClient } from './mcp-client.ts'
import type { Target } from './targets.ts'

/** The share of one core that the machine may use before a measurement begins. */
const QUIET = 0.2
const QUIET_MS = 500
const QUIET_LIMIT_MS = 120_000

export interface Load {
  readonly name: string
  /** Concurrent callers, each with its own session and connection. */
  readonly callers: number
  /** Calls of each caller, which also connects within the measured time. Default: as many as fit into `ms`. */
  readonly callsEach?: number
  /** Measured time. Callers with `callsEach` are followed by others until it has passed. */
  readonly ms: number
}

export interface Cell {
  readonly target: string
  readonly load: string
  readonly callsPerSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** CPU time of the target, of the server behind it, and of the callers, which share the cores. */
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

/** Measures the calls of one target, after the machine has become quiet. */
export async function measure(target: Target, load: Load): Promise<Cell> {
  let times: readonly number[] = []
  const used: Usage = { own: 0, server: 0, callers: 0 }
  let errors = 0
  let tookMs = 0
  while (tookMs < load.ms) {
    await eventually(isQuiet, { what: 'a quiet machine', limitMs: QUIET_LIMIT_MS })
    const visit = await callAtOnce(target, load)
    times = [...times, ...visit.times]
    errors += visit.errors
    tookMs += visit.ms
    for (const part of ['own', 'server', 'callers'] as const) used[part] += visit.used[part]
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
  const before = await usage(target)
  const times: number[] = []
  let errors = 0
  const begin = performance.now()
  const isOver = (count: number): boolean =>
    callsEach === undefined ? performance.now() - begin >= ms : count === callsEach
  const clients = connected ?? (await connect())
  const callUntilOver = async (client: McpClient, caller: number): Promise<void> => {
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
  await Promise.all(clients.map(callUntilOver))
  const tookMs = performance.now() - begin
  const after = await usage(target)
  await Promise.all(clients.map((client) => client.close()))
  const used = {
    own: after.own - before.own,
    server: after.server - before.server,
    callers: after.callers - before.callers,
  }
  return { times, errors, ms: tookMs, used }
}

/** Some targets use a core for many seconds after their callers have left, which would slow down the next target. */
async function isQuiet(): Promise<boolean> {
  const busyMs = (): number =>
    cpus().reduce((sum, { times: { user, nice, sys } }) => sum + user + nice + sys, 0)
  const before = busyMs()
  await delay(QUIET_MS)
  return busyMs() - before < QUIET_MS * QUIET
}

/** CPU time so far, in milliseconds. */
async function usage(target: Target): Promise<Usage> {
  const processes = await target.processes()
  const { user, system } = process.cpuUsage()
  const sum = { own: 0, server: 0, callers: (user + system) / 1_000 }
  for (const [pid, name] of processes) sum[name === 'server' ? 'server' : 'own'] += cpuMs(pid)
  return sum
}
