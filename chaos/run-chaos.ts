import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Bus } from '@mcp-host/bus'
import type { LogEntry, SessionId } from '@mcp-host/contracts'
import { createKey, eventually, isReady } from '@mcp-host/testkit'
import { connectQuietly } from '@mcp-host/tools/host'
import { buildWeb, webFolder } from '../tools/web/build-web.ts'
import type { Run } from './check-run.ts'
import { checkRun, excuseSessions, found } from './check-run.ts'
import { checkAudit, readAudit } from './check/check-audit.ts'
import type { Violation } from './check/violation.ts'
import type { Credential } from './client.ts'
import { startComposeFleet } from './compose-fleet.ts'
import { Deletions } from './deletions.ts'
import type { Fault, Target } from './faults.ts'
import { planFaults, ROLLING } from './faults.ts'
import type { Fleet } from './fleet.ts'
import { startFleet } from './fleet.ts'
import { OpenPages } from './open-pages.ts'
import type { ChaosOptions } from './options.ts'
import type { InjectedFault } from './pauses.ts'
import { summarizePauses } from './pauses.ts'
import { countRecoveries } from './recoveries.ts'
import type { Report } from './report.ts'
import { makeReport } from './report.ts'
import { ChaosSession } from './session.ts'
import { SERVERS } from './planned-turn.ts'
import { TOOL_COUNT, TOOLS } from './servers/tool-servers.ts'
import { USER_SERVER, UserServer } from './servers/user-server.ts'

/** Settings of a host whose clients authenticate. The limits are never reached: they must only not be in the way. */
const AUTHENTICATED = {
  AUTH: 'keys',
  LIMIT_ADDRESS: '100000/s',
  LIMIT_REQUESTS: '10000/s',
  LIMIT_MESSAGES: '10000/m',
  LIMIT_SESSION_MESSAGES: '10000/m',
  LIMIT_TOOL_CALLS: '10000/m',
  LIMIT_TOKENS: '1000000000/d',
}
const AUDITED = { ...AUTHENTICATED, AUDIT: 'required' }
/** Settings of a host whose users log in at MCP servers. Nobody opens its pages. */
const WITH_LOGINS = { PUBLIC_URL: 'http://127.0.0.1:1' }
/** Limit for the last turns after the last fault. */
const LAST_TURNS_MS = 120_000
const WATCHERS_MS = 30_000
const PROGRESS_MS = 5_000
/** A cluster of nats-server 2.15 loses its streams when it loses its leader within the first seconds. */
const YOUNG_CLUSTER_MS = 15_000
/** A run in which no turn ends for this long is stopped. */
const STALLED_MS = 180_000
/** Time after damage to the log until the turns of earlier messages are given up. */
const GIVE_UP_MS = 25_000

/** Injects faults while sessions chat, and checks everything that the clients received. */
export async function runChaos(options: ChaosOptions): Promise<Report> {
  const { say, seed } = options
  const folder = await mkdtemp(join(tmpdir(), 'mcp-host-chaos-'))
  const each = `${instancesOf(options)} of each service`
  say(`seed ${seed}; ${options.natsServers} nats-server and ${each}; logs in ${folder}`)
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
  const { logins = 0, pages: count = 0 } = options
  await using users = logins === 0 ? undefined : await UserServer.open()
  await using fleet = await start(folder, options, users)
  const isDamaged = options.kinds.includes('corrupt')
  const stopChat = new AbortController()
  await using stack = new AsyncDisposableStack()
  const names = Array.from({ length: options.sessions + 1 }, (_, number) => `user:u${number}`)
  const isSecured = options.hasAuth === true || users !== undefined
  const [deleter, ...credentials] = isSecured ? await createCredentials(fleet, names) : []
  // The first principal has no session.
  await logIn(fleet, users, names.slice(1, 1 + logins))
  const common = { seed, urls: fleet.urls, signal: stopChat.signal }
  const sessions = Array.from({ length: options.sessions }, (_, number) => {
    const servers = number < logins ? [...SERVERS, USER_SERVER] : SERVERS
    const own = { number, headers: credentials[number], isDamaged, servers }
    return stack.use(new ChaosSession({ ...common, ...own }))
  })
  const deletions = stack.use(new Deletions({ ...common, headers: deleter }))
  const pages =
    count === 0 ? undefined : stack.use(await OpenPages.open(sessions.slice(0, count), fleet.urls))
  const injected: InjectedFault[] = []
  const progress = setInterval(
    () => options.say(progressLine(sessions, injected, fleet, startedAt)),
    PROGRESS_MS,
  )
  stack.defer(() => clearInterval(progress))

  if (natsServers > 1) await delay(YOUNG_CLUSTER_MS)
  await injectFaults(fleet, sessions, injected, options)
  stopChat.abort()
  const violations: Violation[] = []
  const ends = [...sessions.map((session) => session.over), deletions.over]
  const over = Promise.all(ends).then(() => true)
  if (!(await Promise.race([over, delay(LAST_TURNS_MS, false, { ref: false })]))) {
    options.say(`some turns did not end within ${LAST_TURNS_MS} ms`)
  }
  for (const session of sessions) {
    if (await session.settle(WATCHERS_MS)) continue
    const detail = 'the second client did not receive the last events'
    violations.push({ rule: 'tabs differ', where: session.name, detail })
  }
  violations.push(...((await pages?.check()) ?? []))
  const connectedAt = Date.now()
  await using bus = await connectQuietly(fleet.broker, 'chaos', natsServers)
  const logs = await readLogs(bus, sessions)
  const reported = (await bus.sessions.counts()).lost.filter(({ at }) => at < connectedAt)
  const lost = reported.filter(({ at }) => !fleet.hasConnected(at))
  const excused = excuseSessions(sessions, logs, lost)
  const journal = [...(await fleet.journal()), ...(users?.journal ?? [])]
  const run = { sessions, logs, lost, excused, journal }
  violations.push(...found(fleet, sessions, excused), ...checkRun(run))
  violations.push(...(await deletions.check(bus, lost)))
  if (users !== undefined) {
    await using gateway = await connectAsGateway(fleet)
    violations.push(...(await users.check(gateway, sessions)))
  }
  if (options.hasAuth === true) {
    violations.push(...checkAudit(await readAudit(bus), run.journal))
  }
  if (isRolling(options)) violations.push(...checkRestarts(sessions, injected, natsServers))
  await writeEvidence(folder, run, violations)
  const durationMs = performance.now() - startedAt
  const deleted = deletions.sessions.length
  const recoveries = await countRecoveries(folder)
  const rest = { recoveries, violations, durationMs }
  return makeReport({ options, run, injected, deleted, logins: users?.figures, ...rest })
}

async function start(
  folder: string,
  options: ChaosOptions,
  users: UserServer | undefined,
): Promise<Fleet> {
  const { natsServers, kinds, hasAccounts = false, isCompose = false } = options
  const instances = instancesOf(options)
  const TOKEN_ENC_KEY = randomBytes(32).toString('base64')
  const env = {
    ...(users === undefined ? {} : { ...AUTHENTICATED, ...WITH_LOGINS, TOKEN_ENC_KEY }),
    ...(options.hasAuth === true ? AUDITED : {}),
  }
  if (isCompose) return startComposeFleet({ folder, instances, env })
  return startFleet({
    folder,
    natsServers,
    instances,
    hasSmallDisks: kinds.includes('disk-full'),
    hasAccounts,
    servers: users === undefined ? {} : { [USER_SERVER]: users.entry },
    env: { ...env, ...(await webSettings(options)) },
  })
}

/** The number of processes of each service. */
function instancesOf(options: ChaosOptions): number {
  if (isRolling(options)) return 1
  return options.isCompose === true ? 3 : 2
}

async function webSettings({ pages = 0 }: ChaosOptions): Promise<{ WEB_FOLDER?: string }> {
  if (pages === 0) return {}
  const folder = webFolder()
  await buildWeb(folder)
  return { WEB_FOLDER: folder }
}

async function createCredentials(
  { broker, natsServers }: Fleet,
  principals: readonly string[],
): Promise<Credential[]> {
  await using bus = await connectQuietly(broker, 'chaos', natsServers)
  const credentials: Credential[] = []
  for (const principal of principals) credentials.push(await createKey(bus, principal))
  return credentials
}

/** Connects to the broker as a gateway, since others may not log users in. */
function connectAsGateway({ broker, natsServers }: Fleet): Promise<Bus> {
  return connectQuietly(broker, 'gateway', natsServers)
}

/** Logs principals in at the MCP server of users, where each has the name of its session. */
async function logIn(
  fleet: Fleet,
  users: UserServer | undefined,
  principals: readonly string[],
): Promise<void> {
  if (users === undefined) return
  await using bus = await connectAsGateway(fleet)
  for (const [number, principal] of principals.entries()) {
    await users.logIn(bus, principal, `s${number}`)
  }
  for (const url of fleet.urls) {
    const what = 'the tools of the server with logins'
    await eventually(() => isReady(url, TOOL_COUNT + TOOLS.length), { what })
  }
}

function isRolling({ kinds }: ChaosOptions): boolean {
  return kinds.includes(ROLLING)
}

/** Checks that clients do not notice a rolling restart. */
function checkRestarts(
  sessions: readonly ChaosSession[],
  injected: readonly InjectedFault[],
  natsServers: number,
): Violation[] {
  const streams = sessions.map(({ client }) => client.received)
  const late = Object.entries(summarizePauses(injected, streams, natsServers))
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

/** Injects one fault after another until the run is to end. */
async function injectFaults(
  fleet: Fleet,
  sessions: readonly ChaosSession[],
  injected: InjectedFault[],
  { seed, targets, kinds, seconds, turns, faults }: ChaosOptions,
): Promise<void> {
  const endAt = performance.now() + (seconds ?? Number.POSITIVE_INFINITY) * 1_000
  let progress = { turns: 0, at: performance.now() }
  const isEnough = (): boolean => {
    if (turnsDone(sessions) > progress.turns) {
      progress = { turns: turnsDone(sessions), at: performance.now() }
    } else if (performance.now() - progress.at > STALLED_MS) return true
    if (seconds !== undefined) return performance.now() >= endAt
    const landed = injected.filter((each) => each.sessions.length > 0).length
    return turnsDone(sessions) >= turns && landed >= faults
  }
  const replicas = (target: Target): number => fleet.replicas(target).length
  for (const fault of planFaults({ seed, targets, kinds, replicas })) {
    await delay(Math.min(fault.pauseBeforeMs, Math.max(0, endAt - performance.now())))
    if (isEnough()) return
    const running = sessions.flatMap(({ client }, number) =>
      client.check.running === undefined ? [] : [number],
    )
    injected.push({ fault, at: performance.now(), sessions: running })
    if (fault.kind === 'hostile-server') await fleet.runHostileServer(fault.server, fault.downMs)
    else if (fault.kind === 'clock') await fleet.moveClock(fault)
    else if (fault.kind === 'corrupt') {
      await fleet.corrupt(fault)
      const backAt = performance.now()
      setTimeout(() => {
        for (const { client } of sessions) client.giveUp(backAt)
      }, GIVE_UP_MS).unref()
    } else await fleet.replicas(fault.target)[fault.replica]?.inject(fault)
  }
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
  injected: readonly InjectedFault[],
  fleet: Fleet,
  startedAt: number,
): string {
  const seconds = Math.round((performance.now() - startedAt) / 1_000)
  const landed = injected.filter((each) => each.sessions.length > 0).length
  const last = injected.at(-1)?.fault
  const now = last === undefined ? '' : `, last ${describeFault(last)}`
  return `${seconds} s: ${turnsDone(sessions)} turns, ${injected.length} faults (${landed} in mid-turn)${now}, ${found(fleet, sessions).length} violations`
}

function describeFault(fault: Fault): string {
  if (fault.kind === 'hostile-server') return `${fault.kind} ${fault.server}`
  if (fault.kind === 'corrupt') return `${fault.kind} ${fault.damage.how} ${fault.damage.bytes}`
  const offset = fault.kind === 'clock' ? ` by ${fault.offsetMs} ms` : ''
  return `${fault.kind} ${fault.target}-${fault.replica}${offset}`
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
