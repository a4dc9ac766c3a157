// Starts, uses and stops misbehaving servers in cycles, and measures which resources remain. Prints one line of
// JSON; exits with 1 when a resource grew or a scenario ended otherwise than expected.
//
//   node packages/mcp-host/test/soak/soak.ts --cycles 2000
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'

import { MCPHost } from '../../src/index.ts'
import { Guardian } from '@mcp-host/process'
import { grown, measure, type Resources } from './resources.ts'
import { fixtureFile, type Scenario, SCENARIOS } from './scenarios.ts'

/** The time for which processes and handles may take to end. */
const SETTLE_LIMIT_MS = 10_000

const { values } = parseArgs({
  options: {
    cycles: { type: 'string', default: '2000' },
    parallel: { type: 'string', default: '4' },
    // The default lets resident memory reach its maximum: long lines fragment it.
    'warm-up': { type: 'string', default: '400' },
  },
})

const mark = crypto.randomUUID()
const folder = await mkdtemp(join(tmpdir(), 'mcp-host-soak-'))
const shared = new Guardian()
const scenarios = Object.entries(SCENARIOS)
const wrong: Record<string, number> = {}
let cycle = 0

/** Runs one scenario and returns its ending: `success`, or the error as text. */
async function runScenario({ fixture, config, use }: Scenario, index: number): Promise<string> {
  await using host = new MCPHost({
    env: process.env,
    startTimeoutMs: 20_000,
    startRetries: 0,
    stopGraceMs: 200,
    // Every second host has a guardian of its own, which starts and ends with it.
    ...(index % 2 === 0 ? { guardian: shared } : {}),
  })
  try {
    const nasty = {
      type: 'stdio' as const,
      command: process.execPath,
      args: [fixtureFile(fixture), join(folder, 'pids')],
      env: { SOAK: mark },
      cwd: folder,
      ...config,
    }
    await host.initialize({ servers: { nasty } })
    await use?.(host)
    return 'success'
  } catch (error) {
    return String(error)
  }
}

async function runUntil(limit: number): Promise<void> {
  while (cycle < limit) {
    const index = cycle
    cycle += 1
    const [name, scenario] = scenarios[index % scenarios.length] ?? []
    if (name === undefined || scenario === undefined) throw new Error('there are no scenarios')
    const ending = await runScenario(scenario, index)
    if ((scenario.error ?? /^success$/).test(ending)) continue
    const key = `${name}: ${ending}`
    wrong[key] = (wrong[key] ?? 0) + 1
  }
}

async function run(cycles: number): Promise<void> {
  const limit = cycle + cycles
  await Promise.all(Array.from({ length: Number(values.parallel) }, () => runUntil(limit)))
}

/** Measures until `isSettled` accepts a measurement, or the time for settling is over. */
async function settle(isSettled: (now: Resources) => boolean): Promise<Resources> {
  const deadline = performance.now() + SETTLE_LIMIT_MS
  for (;;) {
    const now = measure(mark)
    if (isSettled(now) || performance.now() > deadline) return now
    await delay(100)
  }
}

await run(Number(values['warm-up']))
const before = await settle((now) => now.markedProcesses === 0 && now.handles === 0)
const startedAt = performance.now()
await run(Number(values.cycles))
const seconds = Math.round((performance.now() - startedAt) / 1000)
const after = await settle((now) => grown(before, now).length === 0)
await shared[Symbol.asyncDispose]()
await rm(folder, { recursive: true })

const report = {
  cycles: Number(values.cycles),
  seconds,
  grown: grown(before, after),
  wrong,
  before,
  after,
}
process.stdout.write(`${JSON.stringify(report)}\n`)
if (report.grown.length > 0 || Object.keys(wrong).length > 0) process.exitCode = 1
