import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Bus } from '@mcp-host/bus'
import { connectBus } from '@mcp-host/bus'
import type { LogEntry, SessionId } from '@mcp-host/contracts'
import type { Run } from './check-run.ts'
import { checkRun, excuseSessions, found } from './check-run.ts'
import type { Violation } from './check/violation.ts'
import { Deletions } from './deletions.ts'
import type { Fault, FaultKind, Target } from './faults.ts'
import { planFaults, ROLLING } from './faults.ts'
import type { Fleet } from './fleet.ts'
import { startFleet } from './fleet.ts'
import type { Struck } from './pauses.ts'
import { summarizePauses } from './pauses.ts'
import type { Report } from './report.ts'
import { makeReport } from './report.ts'
import { ChaosSession } from './session.ts'

/** After the last fault every turn ends within this. */
const LAST_TURNS_MS = 120_000
const WATCHERS_MS = 30_000
const PROGRESS_MS = 5_000
/** A cluster of nats-server 2.15 that loses its leader in its first seconds loses its streams with it. */
const YOUNG_CLUSTER_MS = 15_000
/** When no turn ends for so long none ever will. */
const STALLED_MS = 180_000
/** So long after damage to the log the turns of messages from before it are given up. */
const GIVE_UP_MS = 25_000

export interface ChaosOptions {
  readonly seed: number
  readonly sessions: number
  readonly targets: readonly Target[]
  readonly kinds: readonly FaultKind[]
  /** How many nats-servers keep the data together: 1 or 3. */
  readonly natsServers: number
  /** Goes on until so many turns have ended and so many faults have landed in mid-turn … */
  readonly turns: number
  readonly faults: number
  /** … or, when it is given, for so long. */
  readonly seconds?: number | undefined
  /** Keep logs and streams also when nothing is wrong. */
  readonly isKept: boolean
  /** Tells a person how it goes. */
  readonly say: (line: string) => void
}

/** Strikes processes while sessions chat, and checks all that every client saw. */
export async function runChaos(options: ChaosOptions): Promise<Report> {
  const { say, seed } = options
  const folder = await mkdtemp(join(tmpdir(), 'mcp-host-chaos-'))
  const count = isRolling(options) ? 'one' : 'two'
  say(
    `seed ${seed}; ${options.natsServers} nats-server and ${count} of each service; logs in ${folder}`,
  )
  const report = await runIn(folder, options)
  if (report.violations === 0 && !options.isKept) {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
    return report
  }
  say(`logs, streams and the journal are kept in ${folder}`)
  return { ...report, folder }
}

async function runIn(folder: string, options: ChaosOptions): Promise<Report> {
  const { seed, natsServers } = options
  const startedAt = performance.now()
  const instances = isRolling(options) ? 1 : 2
  const hasSmallDisks = options.kinds.includes('disk-full')
  await using fleet = await startFleet({ folder, natsServers, instances, hasSmallDisks })
  const isDamaged = options.kinds.includes('corrupt')
  const stopChat = new AbortController()
  await using stack = new AsyncDisposableStack()
  const sessions = Array.from({ length: options.sessions }, (_, number) =>
    stack.use(
      new ChaosSession({ seed, number, urls: fleet.urls, signal: stopChat.signal, isDamaged }),
    ),
  )
  const deletions = stack.use(new Deletions({ seed, urls: fleet.urls, signal: stopChat.signal }))
  const struck: Struck[] = []
  const progress = setInterval(
    () => options.say(progressLine(sessions, struck, fleet, startedAt)),
    PROGRESS_MS,
  )
  stack.defer(() => clearInterval(progress))

  if (natsServers > 1) await delay(YOUNG_CLUSTER_MS)
  await strike(fleet, sessions, struck, options)
  stopChat.abort()
  const violations: Violation[] = []
  const ends = [...sessions.map((session) => session.over), deletions.over]
  const over = Promise.all(ends).then(() => true)
  if (!(await Promise.race([over, delay(LAST_TURNS_MS, false, { ref: false })]))) {
    options.say(`some turns did not end within ${LAST_TURNS_MS} ms`)
  }
  for (const session of sessions) {
    if (await session.settle(WATCHERS_MS)) continue
    const detail = 'the watcher did not get as far as the user'
    violations.push({ rule: 'tabs differ', where: session.name, detail })
  }
  const connectedAt = Date.now()
  await using bus = await connect(fleet)
  const logs = await readLogs(bus, sessions)
  const reported = (await bus.sessions.counts()).lost.filter(({ at }) => at < connectedAt)
  const lost = reported.filter(({ at }) => !fleet.hasConnected(at))
  const excused = excuseSessions(sessions, logs, lost)
  const run = { sessions, logs, lost, excused, journal: await fleet.journal() }
  violations.push(...found(fleet, sessions, excused), ...checkRun(run))
  violations.push(...(await deletions.check(bus, lost)))
  if (isRolling(options)) violations.push(...checkRestarts(sessions, struck, natsServers))
  await writeEvidence(folder, run, violations)
  const durationMs = performance.now() - startedAt
  const deleted = deletions.sessions.length
  return makeReport({
    options,
    sessions,
    deleted,
    struck,
    violations,
    logs,
    excused,
    lost,
    durationMs,
  })
}

function isRolling({ kinds }: ChaosOptions): boolean {
  return kinds.includes(ROLLING)
}

/** What clients must not notice of a rolling restart. */
function checkRestarts(
  sessions: readonly ChaosSession[],
  struck: readonly Struck[],
  natsServers: number,
): Violation[] {
  const streams = sessions.map(({ client }) => client.received)
  const late = Object.entries(summarizePauses(struck, streams, natsServers))
    .filter(([, { max, goal }]) => max > goal)
    .map(([where, { max, goal }]) => {
      return { rule: 'paused', where, detail: `for ${max} ms, at most ${goal} are allowed` }
    })
  const broken = sessions.flatMap(({ name, clients }) =>
    clients.flatMap(({ breaks }) =>
      breaks.map((detail) => ({ rule: 'connection lost', where: name, detail })),
    ),
  )
  return [...late, ...broken]
}

/** One fault after another until there were enough. */
async function strike(
  fleet: Fleet,
  sessions: readonly ChaosSession[],
  struck: Struck[],
  { seed, targets, kinds, seconds, turns, faults }: ChaosOptions,
): Promise<void> {
  const endAt = performance.now() + (seconds ?? Number.POSITIVE_INFINITY) * 1_000
  let progress = { turns: 0, at: performance.now() }
  const isEnough = (): boolean => {
    if (turnsDone(sessions) > progress.turns) {
      progress = { turns: turnsDone(sessions), at: performance.now() }
    } else if (performance.now() - progress.at > STALLED_MS) return true
    if (seconds !== undefined) return performance.now() >= endAt
    const landed = struck.filter((each) => each.sessions.length > 0).length
    return turnsDone(sessions) >= turns && landed >= faults
  }
  const replicas = (target: Target): number => fleet.replicas(target).length
  for (const fault of planFaults({ seed, targets, kinds, replicas })) {
    await delay(Math.min(fault.pauseBeforeMs, Math.max(0, endAt - performance.now())))
    if (isEnough()) return
    const running = sessions.flatMap(({ client }, number) =>
      client.check.running === undefined ? [] : [number],
    )
    struck.push({ fault, at: performance.now(), sessions: running })
    if (fault.kind === 'hostile-server') await fleet.sufferServer(fault.server, fault.downMs)
    else if (fault.kind === 'corrupt') {
      await fleet.corrupt(fault)
      const backAt = performance.now()
      setTimeout(() => {
        for (const { client } of sessions) client.giveUp(backAt)
      }, GIVE_UP_MS).unref()
    } else await fleet.replicas(fault.target)[fault.replica]?.suffer(fault)
  }
}

function connect({ natsUrl: url, natsServers: replicas }: Fleet): Promise<Bus> {
  const silent = { info: () => {}, warn: () => {}, error: () => {} }
  return connectBus({ url, name: 'chaos', logger: silent, replicas })
}

async function readLogs(
  bus: Bus,
  sessions: readonly ChaosSession[],
): Promise<Map<ChaosSession, readonly LogEntry[]>> {
  const logs = new Map<ChaosSession, readonly LogEntry[]>()
  for (const session of sessions) {
    const id = session.client.start?.sessionId as SessionId | undefined
    logs.set(session, id === undefined ? [] : await bus.sessions.read(id, 0))
  }
  return logs
}

function turnsDone(sessions: readonly ChaosSession[]): number {
  return sessions.reduce((sum, session) => sum + session.turnsDone, 0)
}

function progressLine(
  sessions: readonly ChaosSession[],
  struck: readonly Struck[],
  fleet: Fleet,
  startedAt: number,
): string {
  const seconds = Math.round((performance.now() - startedAt) / 1_000)
  const landed = struck.filter((each) => each.sessions.length > 0).length
  const last = struck.at(-1)?.fault
  const now = last === undefined ? '' : `, last ${describeFault(last)}`
  return `${seconds} s: ${turnsDone(sessions)} turns, ${struck.length} faults (${landed} in mid-turn)${now}, ${found(fleet, sessions).length} violations`
}

function describeFault(fault: Fault): string {
  if (fault.kind === 'hostile-server') return `${fault.kind} ${fault.server}`
  if (fault.kind === 'corrupt') return `${fault.kind} ${fault.damage.how} ${fault.damage.bytes}`
  return `${fault.kind} ${fault.target}-${fault.replica}`
}

async function writeEvidence(
  folder: string,
  { logs, lost, excused }: Run,
  violations: readonly Violation[],
): Promise<void> {
  const write = (name: string, values: readonly unknown[]): Promise<void> =>
    writeFile(join(folder, name), values.map((each) => JSON.stringify(each)).join('\n'))
  await write('violations.jsonl', violations)
  await write('losses.jsonl', [
    ...lost,
    ...[...excused].map(([{ name, clients }, messages]) => ({
      session: name,
      restarts: clients.map(({ restarts }) => restarts),
      messages: Object.fromEntries(messages),
    })),
  ])
  for (const [{ name, client, tab }, log] of logs) {
    await write(`${name}-log.jsonl`, log)
    await write(`${name}-stream.jsonl`, client.received)
    if (tab !== undefined) await write(`${name}-tab.jsonl`, tab.received)
  }
}
