import { setTimeout as delay } from 'node:timers/promises'
import type { Bus, CatalogView, LeaseView } from '@mcp-host/bus'
import type { ServerEntry } from '@mcp-host/contracts'
import {
  BusError,
  generationId,
  newEnvelope,
  newSessionId,
  runTool,
  toolCallId,
  viewServers,
} from '@mcp-host/contracts'
import { eventually, family, isAlive, startStack } from '@mcp-host/testkit'
import { quantiles } from '../quantile.ts'

const ROUNDS = 20
const KEY = 'server.test'
const ACCEPT_MS = 500

interface Round {
  /** From the kill until another supervisor has the lease. */
  readonly leaseMs: number
  /** From the kill until a tool call that was made at once has its result. */
  readonly callMs: number
  /** From the lease until the server is ready again: the time that it takes to start. */
  readonly startMs: number
  /** From the kill until every process of the dead supervisor has ended. */
  readonly goneMs: number
}

/** Repeatedly kills the supervisor that runs a server, while two others are running. */
export async function benchTakeover(): Promise<object> {
  await using stack = await startStack({
    tools: [{ name: 'echo', inputSchema: { type: 'object' } }],
  })
  const bus = await stack.broker.connect()
  const catalog = await bus.catalog.watch()
  const leases = await bus.leases.watch('server.*')
  const supervisors = new Set([stack.pids()['mcp-supervisor'] ?? 0])
  const rounds: Round[] = []
  while (rounds.length < ROUNDS) {
    while (supervisors.size < 3) supervisors.add((await stack.add('mcp-supervisor')).pid)
    // The start of the third supervisor is not measured.
    await delay(2_000)
    const round = await kill(bus, catalog, leases, supervisors)
    rounds.push(round)
    console.log(`${rounds.length}/${ROUNDS} ${JSON.stringify(round)}`)
  }
  const part = (pick: (round: Round) => number) => quantiles(rounds.map(pick), 'p50', 'max')
  const figures = {
    leaseMs: part(({ leaseMs }) => leaseMs),
    firstCallMs: part(({ callMs }) => callMs),
    serverStartMs: part(({ startMs }) => startMs),
    processesGoneMs: part(({ goneMs }) => goneMs),
  }
  for (const [name, { p50, max }] of Object.entries(figures)) {
    console.log(`${name.padEnd(16)} median ${p50}, max ${max}`)
  }
  return { rounds: ROUNDS, ...figures }
}

async function kill(
  bus: Bus,
  catalog: CatalogView,
  leases: LeaseView,
  supervisors: Set<number>,
): Promise<Round> {
  const running = (): ServerEntry | undefined =>
    viewServers(catalog.entries.values())
      .flatMap(({ instances }) => instances.map(({ entry }) => entry))
      .find(({ state }) => state === 'ready')
  const before = await eventually(() => running())
  const families = await Promise.all(Array.from(supervisors, family))
  const victims = families.find((pids) => pids.includes(before.pid ?? 0)) ?? []
  const [victim = 0] = victims
  const begin = performance.now()
  const since = (): number => Math.round(performance.now() - begin)
  process.kill(victim, 'SIGKILL')
  supervisors.delete(victim)
  const lease = eventually(() => {
    const holder = leases.holders.get(KEY)?.holder
    return holder !== undefined && holder !== before.supervisor ? since() : undefined
  })
  const ready = eventually(() => {
    const now = running()
    return now !== undefined && now.supervisor !== before.supervisor ? since() : undefined
  })
  const gone = eventually(async () => {
    const alive = await Promise.all(victims.map(isAlive))
    return alive.includes(true) ? undefined : since()
  })
  const called = callUntilDone(bus).then(since)
  const [leaseMs, readyMs, goneMs, callMs] = await Promise.all([lease, ready, gone, called])
  return { leaseMs, callMs, startMs: readyMs - leaseMs, goneMs }
}

/** Requests a tool call as an orchestrator does, and waits for its result. */
async function callUntilDone(bus: Bus): Promise<void> {
  const session = newSessionId()
  const call = toolCallId(generationId(session, 0), 0)
  const request = { session, call, attempt: 1, tool: 'echo', arguments: {}, after: 0 }
  await eventually(async () => {
    const options = { envelope: newEnvelope('local'), timeoutMs: ACCEPT_MS, expires: true }
    try {
      await bus.call(runTool, { server: 'test' }, request, options)
      return true
    } catch (error) {
      if (!['unavailable', 'deadline'].includes(BusError.from(error).code)) throw error
      return false
    }
  })
  await eventually(async () => {
    const entries = await bus.sessions.read(session, 0)
    return entries.some(({ kind, fact }) => kind === 'tool' && fact.type === 'tool-finished')
  })
}
