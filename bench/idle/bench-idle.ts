import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { runProgram, startBroker, testFolder } from '@mcp-host/testkit'
import type { ServiceName } from '@mcp-host/tools/host'
import { SERVICES, startService } from '@mcp-host/tools/host'
import { Guardian } from '@mcp-host/process'
import { rssMb } from '../process-usage.ts'
import { benchWholeHost } from './whole-host.ts'
import { quantile } from '../quantile.ts'

const ROUNDS = 5
/** After the start, garbage of the start is still collected. */
const IDLE_MS = 15_000

interface Figures {
  readonly readyMs: number
  readonly rssMb: number
}

/**
 * Parts: `host`, the whole of `npm start`; `services`, time until each service is ready, and its memory when idle: from
 * source, and as built.
 */
export async function benchIdle(parts: readonly string[] = []): Promise<object> {
  const host = parts.includes('services') ? {} : await benchWholeHost()
  return parts.includes('host') ? host : { ...host, ...(await benchServices()) }
}

async function benchServices(): Promise<object> {
  await using folder = await testFolder()
  const dist = join(folder.path, 'dist')
  await using build = await runProgram(['build', '--out', dist])
  const { code } = await build.ended()
  if (code !== 0) throw new Error(build.output())
  const cached = { NODE_COMPILE_CACHE: join(folder.path, 'compiled') }
  const uncached = { NODE_DISABLE_COMPILE_CACHE: '1' }
  const kinds = {
    source: { env: uncached },
    'source, compile cache': { env: cached },
    built: { dist, env: uncached },
    'built, compile cache': { dist, env: cached },
  }
  const results: Record<string, Record<string, Figures>> = {}
  for (const [kind, options] of Object.entries(kinds)) {
    results[kind] = await measure(join(folder.path, 'run'), options)
    console.log(kind)
    for (const [name, { readyMs, rssMb: rss }] of Object.entries(results[kind])) {
      console.log(`  ${name.padEnd(15)} ready in ${readyMs} ms, ${rss} MB`)
    }
  }
  return results
}

async function measure(
  folder: string,
  options: { readonly dist?: string; readonly env: Readonly<Record<string, string>> },
): Promise<Record<string, Figures>> {
  await using broker = await startBroker()
  const rounds: Record<string, Figures[]> = {}
  for (let round = 0; round < ROUNDS; round += 1) {
    await using guardian = new Guardian()
    const running: { name: ServiceName; pid: number; readyMs: number }[] = []
    // One after another, as each does on a machine of its own.
    for (const name of SERVICES) {
      const startedAt = performance.now()
      const { pid } = await startService(guardian, {
        ...options,
        name,
        folder,
        env: {
          PATH: process.env['PATH'],
          NATS_URL: broker.url,
          MCP_JSON_PATH: join(import.meta.dirname, 'mcp.json'),
          PORT: '0',
          LLM_CONFIG: 'none',
          ...options.env,
        },
      })
      running.push({ name, pid, readyMs: Math.round(performance.now() - startedAt) })
    }
    await delay(IDLE_MS)
    for (const { name, pid, readyMs } of running) {
      rounds[name] = [...(rounds[name] ?? []), { readyMs, rssMb: rssMb(pid) }]
    }
  }
  return Object.fromEntries(
    Object.entries(rounds).map(([name, figures]) => [
      name,
      {
        readyMs: quantile(
          figures.map((each) => each.readyMs),
          0.5,
        ),
        rssMb: quantile(
          figures.map((each) => each.rssMb),
          0.5,
        ),
      },
    ]),
  )
}
