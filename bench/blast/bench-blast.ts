import { once } from 'node:events'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { eventually, serverStates, startGateways, testFolder, toolServer } from '@mcp-host/testkit'
import { Guardian } from 'mcp-host/process'
import { peakRssMb } from '../process-usage.ts'
import { quantile } from '../quantile.ts'
import type { Blast, BlastTarget } from './blast.ts'
import type { Calls } from './good-callers.ts'
import { GoodCallers } from './good-callers.ts'
import { gatewayFloods, SEARCH_BUNDLE, SEARCHED_TOOLS } from './gateway-floods.ts'
import { hostileServers } from './hostile-servers.ts'

const WARM_UP_MS = 1_000
const CONTROL_MS = 3_000
const BLAST_MS = 6_000
const RSS_PERIOD_MS = 50
const GOOD = ['good1', 'good2', 'good3']
const GOALS = { ratioP99: 2, failed: 0, rssMb: 600 }

const blasts: Readonly<Record<string, Blast>> = { ...hostileServers, ...gatewayFloods }

interface Figures {
  readonly control: Times
  readonly blast: Times
  /** Beside a flood that is sent to another process, which discards it: the machine's part in the ratio. */
  readonly sink: Times | undefined
  readonly ratioP99: number
  readonly failed: number
  /** The most that the victim had; `NaN` when it ended. */
  readonly rssMb: number
  readonly firstFault: string | undefined
  /** What the attacker was told. */
  readonly answered: string
}

interface Times {
  readonly calls: number
  readonly p50: number
  readonly p99: number
  readonly max: number
}

/** How the calls of good servers fare beside each thing that harms a host, each on a host of its own. Default: all. */
export async function benchBlast(names: readonly string[]): Promise<object> {
  const figures: Record<string, Figures> = {}
  console.log(
    `${''.padEnd(20)}control p50   p99   blast p50     p99     max   ratio    sink  failed  RSS MB`,
  )
  for (const name of names.length === 0 ? Object.keys(blasts) : names) {
    const blast = blasts[name]
    if (blast === undefined) {
      throw new Error(`there is no blast "${name}"; there are ${Object.keys(blasts).join(', ')}`)
    }
    const measured = await measure(blast)
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

async function measure({ victim, strike }: Blast): Promise<Figures> {
  await using stack = new AsyncDisposableStack()
  const { path } = stack.use(await testFolder())
  const guardian = stack.use(new Guardian())
  const journal = join(path, 'journal.jsonl')
  const echo = toolServer([{ name: 'echo', inputSchema: { type: 'object' } }], journal)
  const searched = toolServer(SEARCHED_TOOLS, journal)
  const servers = { searched, ...Object.fromEntries(GOOD.map((name) => [name, echo])) }
  const bundles = join(path, 'bundles.json')
  await writeFile(bundles, JSON.stringify({ bundles: { [SEARCH_BUNDLE]: { toolSearch: true } } }))
  const env = { BUNDLES_CONFIG: bundles }
  const host = stack.use(await startGateways({ folder: path, guardian, servers, env }))
  const [url = ''] = host.urls
  const areReady = async (): Promise<boolean> => {
    const states = await serverStates(url)
    return states.filter(({ state }) => state === 'ready').length > GOOD.length
  }
  await eventually(areReady, { what: 'ready servers' })
  const tools = GOOD.map((name) => `${name}__echo`)
  const callers = stack.use(await GoodCallers.open(`${url}/mcp`, tools))
  await callers.callFor(WARM_UP_MS)
  const control = await callers.callFor(CONTROL_MS)

  const addServer = (name: string, entry: object): Promise<void> =>
    addEntry(host.mcpJson, name, entry)
  const target = { url, guardian, addServer }
  const sink = victim === 'gateway' ? await callBesideSink(callers, strike, target) : undefined
  const over = new AbortController()
  const rssMb = watchMemory(host.pids[`${victim}-0`] ?? 0, over.signal)
  const striking = strike(target, over.signal)
  const blast = await callers.callFor(BLAST_MS)
  over.abort()
  const answered = await striking
  const peak = rssMb()
  // One that hangs would be given half a minute to drain.
  for (const pid of Object.values(host.pids)) kill(pid)
  return {
    control: timesOf(control),
    blast: timesOf(blast),
    sink: sink && timesOf(sink),
    ratioP99: ratioOf(timesOf(blast), timesOf(control)),
    failed: blast.faults.length,
    rssMb: peak,
    firstFault: blast.faults[0],
    answered,
  }
}

async function callBesideSink(
  callers: GoodCallers,
  strike: Blast['strike'],
  target: BlastTarget,
): Promise<Calls> {
  const sink = new Worker(new URL('sink.ts', import.meta.url))
  const [sinkPort] = (await once(sink, 'message')) as [number]
  const over = new AbortController()
  const striking = strike({ ...target, sinkPort }, over.signal)
  const calls = await callers.callFor(CONTROL_MS)
  over.abort()
  await striking
  await sink.terminate()
  return calls
}

/** By another file in its place: half of one is not to be read. */
async function addEntry(mcpJson: string, name: string, entry: object): Promise<void> {
  // Written by ourselves.
  const { servers } = JSON.parse(await readFile(mcpJson, 'utf8')) as { servers: object }
  await writeFile(`${mcpJson}.new`, JSON.stringify({ servers: { ...servers, [name]: entry } }))
  await rename(`${mcpJson}.new`, mcpJson)
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // The blast has ended it.
  }
}

function watchMemory(pid: number, signal: AbortSignal): () => number {
  let peak = 0
  const look = (): void => {
    try {
      peak = peakRssMb(pid)
    } catch {
      // The process has ended, which is worse than any figure.
      peak = Number.NaN
    }
  }
  const timer = setInterval(look, RSS_PERIOD_MS)
  signal.addEventListener('abort', () => clearInterval(timer), { once: true })
  return () => peak
}

function timesOf({ times }: Calls): Times {
  const [p50, p99, max] = [quantile(times, 0.5), quantile(times, 0.99), quantile(times, 1)]
  return { calls: times.length, p50, p99, max }
}

function ratioOf(beside: Times, control: Times): number {
  return Math.round((beside.p99 / control.p99) * 100) / 100
}

/** `NaN` is no good figure. */
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
