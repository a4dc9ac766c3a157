import { once } from 'node:events'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import {
  eventually,
  HOSTILE_TOOL,
  hostileServer,
  serverStates,
  startGateways,
  testFolder,
  toolServer,
} from '@mcp-host/testkit'
import { Guardian } from '@mcp-host/process'
import { peakRssMb } from '../process-usage.ts'
import { quantiles } from '../quantile.ts'
import type { Attack, AttackTarget } from './attack.ts'
import type { Calls } from './good-callers.ts'
import { GoodCallers } from './good-callers.ts'
import { gatewayFloods, SEARCH_BUNDLE, SEARCHED_TOOLS } from './gateway-floods.ts'
import { hostileServers } from './hostile-servers.ts'

const WARM_UP_MS = 1_000
const CONTROL_MS = 6_000
// About 4,500 calls, so that the 99th percentile stands on 45 of them: half of it moved by a third from run to run.
const BLAST_MS = 12_000
const GOOD = ['good1', 'good2']
const GOOD_REMOTE = 'good3'
const GOALS = { ratioP99: 2, failed: 0, rssMb: 600 }

const attacks: Readonly<Record<string, Attack>> = { ...hostileServers, ...gatewayFloods }

interface Figures {
  readonly control: Times
  readonly blast: Times
  /** Beside a flood to another process, which discards it: shows the part of the machine in the ratio. */
  readonly sink: Times | undefined
  readonly ratioP99: number
  readonly failed: number
  /** The peak of the victim. `NaN` when it has ended. */
  readonly rssMb: number
  readonly firstFault: string | undefined
  /** Beginning of the last reply to the attacker. */
  readonly answered: string
}

interface Times {
  readonly calls: number
  readonly p50: number
  readonly p99: number
  readonly max: number
}

/** Measures the calls of good servers beside each attack, on a separate host. Default: all attacks. */
export async function benchBlast(names: readonly string[]): Promise<object> {
  const figures: Record<string, Figures> = {}
  console.log(
    `${''.padEnd(20)}control p50   p99   blast p50     p99     max   ratio    sink  failed  RSS MB`,
  )
  for (const name of names.length === 0 ? Object.keys(attacks) : names) {
    const attack = attacks[name]
    if (attack === undefined) {
      throw new Error(`there is no attack "${name}"; there are ${Object.keys(attacks).join(', ')}`)
    }
    const measured = await measure(attack)
    figures[name] = measured
    console.log(line(name, measured))
    if (!isGood(measured)) process.exitCode = 1
  }
  const failed = Object.keys(figures).filter((name) => !isGood(figures[name] as Figures))
  console.log(
    failed.length === 0 ? 'all goals are met' : `goals are missed by ${failed.join(', ')}`,
  )
  return { goals: GOALS, missed: failed, figures }
}

async function measure({ victim, run }: Attack): Promise<Figures> {
  await using stack = new AsyncDisposableStack()
  const { path } = stack.use(await testFolder())
  const guardian = stack.use(new Guardian())
  const journal = join(path, 'journal.jsonl')
  const echo = toolServer([{ name: 'echo', inputSchema: { type: 'object' } }], journal)
  const searched = toolServer(SEARCHED_TOOLS, journal)
  const remote = await hostileServer(guardian, 'remote-harmless')
  const servers = {
    searched,
    ...Object.fromEntries(GOOD.map((name) => [name, echo])),
    [GOOD_REMOTE]: remote,
  }
  const bundles = join(path, 'bundles.json')
  await writeFile(bundles, JSON.stringify({ bundles: { [SEARCH_BUNDLE]: { toolSearch: true } } }))
  const env = { BUNDLES_CONFIG: bundles }
  const host = stack.use(await startGateways({ folder: path, guardian, servers, env }))
  const [url = ''] = host.urls
  const areReady = async (): Promise<boolean> => {
    const states = await serverStates(url)
    return states.filter(({ state }) => state === 'ready').length === Object.keys(servers).length
  }
  await eventually(areReady, { what: 'ready servers' })
  const tools = [...GOOD.map((name) => `${name}__echo`), `${GOOD_REMOTE}__${HOSTILE_TOOL}`]
  const callers = stack.use(await GoodCallers.open(`${url}/mcp`, tools))
  await callers.callFor(WARM_UP_MS)
  const control = await callers.callFor(CONTROL_MS)

  const addServer = (name: string, entry: object): Promise<void> =>
    addEntry(host.mcpJson, name, entry)
  const target = { url, guardian, addServer }
  const sink = victim === 'gateway' ? await callBesideSink(callers, run, target) : undefined
  const over = new AbortController()
  const running = run(target, over.signal)
  const blast = await callers.callFor(BLAST_MS)
  const rssMb = peakOf(host.pids[`${victim}-0`] ?? 0)
  over.abort()
  const answered = await running
  // A process that hangs would get half a minute to drain.
  for (const pid of Object.values(host.pids)) kill(pid)
  return {
    control: timesOf(control),
    blast: timesOf(blast),
    sink: sink && timesOf(sink),
    ratioP99: ratioOf(timesOf(blast), timesOf(control)),
    failed: blast.faults.length,
    rssMb,
    firstFault: blast.faults[0],
    answered,
  }
}

async function callBesideSink(
  callers: GoodCallers,
  run: Attack['run'],
  target: AttackTarget,
): Promise<Calls> {
  const sink = new Worker(new URL('sink.ts', import.meta.url))
  const [sinkPort] = (await once(sink, 'message')) as [number]
  const over = new AbortController()
  const running = run({ ...target, sinkPort }, over.signal)
  const calls = await callers.callFor(CONTROL_MS)
  over.abort()
  await running
  await sink.terminate()
  return calls
}

/** Replaces the file, so that a reader never sees half of it. */
async function addEntry(mcpJson: string, name: string, entry: object): Promise<void> {
  const { servers } = JSON.parse(await readFile(mcpJson, 'utf8')) as { servers: object }
  await writeFile(`${mcpJson}.new`, JSON.stringify({ servers: { ...servers, [name]: entry } }))
  await rename(`${mcpJson}.new`, mcpJson)
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // The attack has ended it.
  }
}

function peakOf(pid: number): number {
  try {
    return peakRssMb(pid)
  } catch {
    // The process has ended, which is worse than any figure.
    return Number.NaN
  }
}

function timesOf({ times }: Calls): Times {
  return { calls: times.length, ...quantiles(times, 'p50', 'p99', 'max') }
}

function ratioOf(beside: Times, control: Times): number {
  return Math.round((beside.p99 / control.p99) * 100) / 100
}

/** `false` for figures that are `NaN`. */
function isGood({ ratioP99, failed, rssMb }: Figures): boolean {
  return ratioP99 <= GOALS.ratioP99 && failed <= GOALS.failed && rssMb <= GOALS.rssMb
}

function line(name: string, figures: Figures): string {
  const { control, blast, sink, ratioP99, failed, rssMb, firstFault } = figures
  return [
    name.padEnd(20),
    control.p50.toFixed(1).padStart(11),
    control.p99.toFixed(1).padStart(6),
    blast.p50.toFixed(1).padStart(12),
    blast.p99.toFixed(1).padStart(8),
    blast.max.toFixed(0).padStart(8),
    ratioP99.toFixed(1).padStart(8),
    (sink === undefined ? '' : ratioOf(sink, control).toFixed(1)).padStart(8),
    String(failed).padStart(8),
    String(rssMb).padStart(8),
    isGood(figures)
      ? '  good'
      : `  missed${firstFault === undefined ? '' : `: ${firstFault.slice(0, 120)}`}`,
  ].join('')
}
