import { join } from 'node:path'
import { text as readText } from 'node:stream/consumers'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { type McpConfig } from '@mcp-host/mcp-json'
import { MCPHost } from 'mcp-host'
import { type StdioServerConfig } from '@mcp-host/upstream'
import { Guardian, spawnGuarded } from '@mcp-host/process'
import { quantile, quantiles } from '../quantile.ts'

const ROUNDS = 9
const LEVELS = [
  { concurrency: 1, calls: 1_500 },
  { concurrency: 16, calls: 6_000 },
  { concurrency: 64, calls: 8_000 },
]
const SERVERS = 50
const BURST = 1_000

type CallEcho = (text: string) => Promise<unknown>

interface Round {
  readonly callsPerSecond: number
  readonly p50: number
  readonly p99: number
}

/** Compares `MCPHost.callTool` with the bare SDK client, on the same stdio server. */
export async function benchHost(): Promise<object> {
  return {
    baseRssMb: await baseRss(),
    levels: await compareCalls(),
    burst: await burst(),
    parallelStart: await parallelStart(),
  }
}

/** Alternates rounds of both in one process, so that both run under the same load of the machine. */
async function compareCalls(): Promise<object[]> {
  await using host = await startHost({ echo: echoServer() })
  await using bare = await connectBare()
  const targets: Readonly<Record<'bare' | 'host', CallEcho>> = {
    bare: bare.call,
    host: (text) => host.callTool('echo.echo', { text }),
  }
  console.log('warming up')
  for (const call of Object.values(targets)) await runRound(call, 16, 8_000)
  const results: object[] = []
  for (const { concurrency, calls } of LEVELS) {
    const rounds: Record<'bare' | 'host', Round[]> = { bare: [], host: [] }
    for (let index = 0; index < ROUNDS; index += 1) {
      // The order alternates.
      const order = index % 2 === 0 ? (['bare', 'host'] as const) : (['host', 'bare'] as const)
      for (const name of order) {
        rounds[name].push(await runRound(targets[name], concurrency, calls))
      }
    }
    const ratios = rounds.host.map(
      ({ callsPerSecond }, index) => callsPerSecond / (rounds.bare[index]?.callsPerSecond ?? 1),
    )
    const result = {
      concurrency,
      bare: summarize(rounds.bare),
      host: summarize(rounds.host),
      /** Ratio of the calls per second: the median of the rounds. */
      ratio: quantile(ratios, 0.5),
    }
    console.log(JSON.stringify(result))
    results.push(result)
  }
  return results
}

async function runRound(call: CallEcho, concurrency: number, calls: number): Promise<Round> {
  const latencies: number[] = []
  let left = calls
  const startedAt = performance.now()
  const lane = async (): Promise<void> => {
    while (left > 0) {
      left -= 1
      const calledAt = performance.now()
      await call('hello')
      latencies.push(performance.now() - calledAt)
    }
  }
  await Promise.all(Array.from({ length: concurrency }, lane))
  const seconds = (performance.now() - startedAt) / 1000
  return { callsPerSecond: calls / seconds, ...quantiles(latencies, 'p50', 'p99') }
}

function summarize(rounds: readonly Round[]): Round {
  const median = (of: (each: Round) => number): number => quantile(rounds.map(of), 0.5)
  return {
    callsPerSecond: Math.round(median((each) => each.callsPerSecond)),
    p50: median((each) => each.p50),
    p99: median((each) => each.p99),
  }
}

async function burst(): Promise<object> {
  await using host = await startHost({ echo: echoServer() })
  const startedAt = performance.now()
  const calls = Array.from({ length: BURST }, (_, index) =>
    host.callTool('echo.echo', { text: String(index) }),
  )
  const results = await Promise.allSettled(calls)
  const errors = results.filter(({ status }) => status === 'rejected').length
  const result = { calls: BURST, errors, ms: Math.round(performance.now() - startedAt) }
  console.log(JSON.stringify({ burst: result }))
  return result
}

async function parallelStart(): Promise<object> {
  const startMs = async (count: number): Promise<number> => {
    const servers = Array.from(
      { length: count },
      (_, index) => [`echo${index}`, echoServer()] as const,
    )
    const startedAt = performance.now()
    await using _host = await startHost(Object.fromEntries(servers))
    return Math.round(performance.now() - startedAt)
  }
  const result = { oneMs: await startMs(1), servers: SERVERS, allMs: await startMs(SERVERS) }
  console.log(JSON.stringify({ parallelStart: result }))
  return result
}

/** Resident memory of an idle process: of Node alone, with the SDK client, with a host. */
async function baseRss(): Promise<object> {
  await using guardian = new Guardian()
  const measure = async (name: string): Promise<number> => {
    const args = ['--expose-gc', join(import.meta.dirname, 'base-rss.ts'), name]
    const options = { command: process.execPath, args, cwd: import.meta.dirname, env: process.env }
    const { stdout } = await spawnGuarded(guardian, { ...options, stderr: 'inherit' })
    return stdout === null ? Number.NaN : Number(await readText(stdout))
  }
  const result = {
    node: await measure('node'),
    sdk: await measure('sdk'),
    host: await measure('host'),
  }
  console.log(JSON.stringify({ baseRssMb: result }))
  return result
}

function echoServer(): StdioServerConfig {
  const file = join(import.meta.dirname, 'echo-server.ts')
  const cwd = import.meta.dirname
  return { type: 'stdio', command: process.execPath, args: [file], env: {}, cwd }
}

async function startHost(servers: McpConfig['servers']): Promise<MCPHost> {
  const host = new MCPHost({ env: process.env })
  await host.initialize({ servers })
  return host
}

async function connectBare(): Promise<AsyncDisposable & { readonly call: CallEcho }> {
  const { command, args } = echoServer()
  const client = new Client({ name: 'bare', version: '1.0.0' })
  await client.connect(new StdioClientTransport({ command, args: [...args] }))
  await client.listTools()
  return {
    call: (text) => client.callTool({ name: 'echo', arguments: { text } }),
    [Symbol.asyncDispose]: () => client.close(),
  }
}
