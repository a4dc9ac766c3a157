import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { family, runProgram, testFolder } from '@mcp-host/testkit'
import { freePort } from '@mcp-host/tools/host'
import { pssMb, rssMb } from '../process-usage.ts'

/** After the start, each process still collects what the start has left. */
const IDLE_MS = 60_000
const SERVERS = ['memory', 'sequential-thinking', 'everything', 'filesystem', 'memory']

interface HostFigures {
  /** Of a start whose programs are built and compiled. */
  readonly readyMs: number
  readonly rssMb: number
  /** Memory that several processes share counts once. */
  readonly pssMb: number
}

/** `npm start`, idle for a minute: without MCP servers, then with five of npm. */
export async function benchWholeHost(): Promise<Record<string, HostFigures>> {
  const servers = SERVERS.map((name, index) => [
    `${name}-${index}`,
    { command: 'npx', args: ['-y', `@modelcontextprotocol/server-${name}`, '.'] },
  ])
  return {
    'without servers': await measure({}),
    'with 5 servers': await measure(Object.fromEntries(servers)),
  }
}

async function measure(mcpServers: Readonly<Record<string, unknown>>): Promise<HostFigures> {
  await using folder = await testFolder()
  const mcpJson = join(folder.path, 'mcp.json')
  await writeFile(mcpJson, JSON.stringify({ mcpServers }))
  // npm fetches the servers at the first start.
  const certificates = process.env['NODE_EXTRA_CA_CERTS']
  const env = {
    DATA_DIR: join(folder.path, 'data'),
    MCP_JSON_PATH: mcpJson,
    PORT: String(await freePort()),
    LLM_PROVIDER: 'demo',
    ...(certificates === undefined ? {} : { NODE_EXTRA_CA_CERTS: certificates }),
  }
  const count = Object.keys(mcpServers).length
  // The first start builds, compiles and installs.
  for (const isWarm of [false, true]) {
    const startedAt = performance.now()
    await using host = await runProgram(['start'], env)
    await host.says('Ctrl-C stops everything')
    const readyMs = Math.round(performance.now() - startedAt)
    if (!isWarm) continue
    await delay(IDLE_MS)
    const pids = await family(host.process.pid)
    const rows = pids.map((pid) => [nameOf(pid), rssMb(pid), pssMb(pid)] as const)
    for (const [name, rss, pss] of rows) console.log(`  ${name.padEnd(60)} ${rss} MB, ${pss} MB`)
    const sum = (place: 1 | 2): number => rows.reduce((total, row) => total + row[place], 0)
    const figures = { readyMs, rssMb: sum(1), pssMb: sum(2) }
    console.log(`${count} servers: ready in ${readyMs} ms, ${figures.rssMb} MB (RSS)`)
    console.log(`  ${figures.pssMb} MB with shared memory counted once`)
    return figures
  }
  throw new Error('there was no second start')
}

/** The end of the command line of a process. */
function nameOf(pid: number): string {
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
    .replaceAll(/[\0\s]+/g, ' ')
    .trim()
    .slice(-60)
}
