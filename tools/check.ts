// The command behind `npm test`, which runs every check. With arguments, it runs only the tests that match them.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { z } from 'zod'
import { ALL_SETTINGS } from './host/settings.ts'
import { lifelineSignal } from './lifeline.ts'

const root = join(import.meta.dirname, '..')

interface Step {
  readonly name: string
  readonly command: readonly [string, ...string[]]
}

const staticSteps: readonly Step[] = [
  { name: 'format', command: ['oxfmt', '--check', '.'] },
  { name: 'lint', command: ['oxlint', '--type-aware', '--deny-warnings'] },
  { name: 'types', command: ['tsc', '--noEmit'] },
  { name: 'types of the web UI', command: ['tsc', '--noEmit', '-p', 'packages/web'] },
  { name: 'unused code', command: ['knip'] },
  { name: 'generated docs', command: ['node', 'tools/generate.ts', '--check'] },
]

interface Tally {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

/** The part of vitest's JSON report that is counted here. */
const TestReport = z.object({
  success: z.boolean(),
  numPassedTests: z.number(),
  numFailedTests: z.number(),
  numPendingTests: z.number(),
  numTodoTests: z.number(),
  testResults: z.array(z.object({ status: z.string(), assertionResults: z.array(z.unknown()) })),
})

const running = new Set<ChildProcess>()
const env = testEnvironment(process.env)

async function main(filters: readonly string[]): Promise<number> {
  const failedSteps = filters.length > 0 ? 0 : await runStaticSteps()
  const tests = await runTests(filters)
  const failed = tests.failed + failedSteps
  console.log(`${tests.passed} passed, ${failed} failed, ${tests.skipped} skipped`)
  return failed === 0 ? 0 : 1
}

/** Runs all steps at once, and prints the output of each when it has ended. Returns the number of failed steps. */
async function runStaticSteps(): Promise<number> {
  const verdicts = await Promise.all(staticSteps.map((step) => runStep(step)))
  return verdicts.filter((isGood) => !isGood).length
}

async function runStep({ name, command }: Step): Promise<boolean> {
  const start = performance.now()
  const { code, output } = await run(command, 'collect')
  const isGood = code === 0
  console.log(`${isGood ? '✓' : '✗'} ${name} ${seconds(start)}`)
  if (!isGood) console.log(`${output.trimEnd()}\n`)
  return isGood
}

async function runTests(filters: readonly string[]): Promise<Tally> {
  const start = performance.now()
  const folder = mkdtempSync(join(tmpdir(), 'mcp-host-tests-'))
  const report = join(folder, 'report.json')
  try {
    const { code } = await run(
      [
        'vitest',
        'run',
        '--reporter=default',
        '--reporter=json',
        `--reporter=${join(import.meta.dirname, 'unstable-tests.ts')}`,
        `--outputFile.json=${report}`,
        ...filters,
      ],
      'show',
    )
    console.log(`${code === 0 ? '✓' : '✗'} tests ${seconds(start)}\n`)
    return tally(report, code)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function tally(file: string, code: number): Tally {
  if (!existsSync(file)) return { passed: 0, failed: code === 0 ? 0 : 1, skipped: 0 }
  const report = TestReport.parse(JSON.parse(readFileSync(file, 'utf8')))
  // A file that cannot be loaded has no tests that could fail, and an error between tests belongs to no test.
  const brokenFiles = report.testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0,
  ).length
  const failed = report.numFailedTests + brokenFiles
  return {
    passed: report.numPassedTests,
    failed: code === 0 ? failed : Math.max(1, failed),
    skipped: report.numPendingTests + report.numTodoTests,
  }
}

function run(
  [program, ...args]: Step['command'],
  output: 'show' | 'collect',
): Promise<{ code: number; output: string }> {
  // In its own process group, so that leftover processes of a test can be ended with it.
  const child = spawn(program, args, {
    cwd: root,
    env,
    detached: true,
    stdio: output === 'show' ? ['ignore', 'inherit', 'inherit'] : ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
    })
  }
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', () => endGroup(child, 'SIGKILL'))
    child.on('close', (code) => {
      running.delete(child)
      resolve({ code: code ?? 1, output: text })
    })
  })
}

function endGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid!, signal)
  } catch {
    // The group has no processes left.
  }
}

/** Stops all steps, by force if necessary, and then this process. */
function stop(exitCode: number): void {
  for (const child of running) endGroup(child, 'SIGTERM')
  setTimeout(() => {
    for (const child of running) endGroup(child, 'SIGKILL')
    process.exit(exitCode)
  }, 2_000)
}

/** The environment without the developer's settings, which must not affect the tests. */
function testEnvironment(outer: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const tools = ['NATS_SERVER_BIN', 'MCP_HOST_CACHE']
  const settings = new Set(
    ALL_SETTINGS.flatMap((each) => Object.values(each.settings).map(({ env: name }) => name)),
  )
  // Programs that tests write into temporary folders would stay in the compile cache forever.
  for (const name of [...tools, 'NODE_ENV', 'MCP_HOST_LIFELINE_FD', 'NODE_COMPILE_CACHE']) {
    if (tools.includes(name)) settings.delete(name)
    else settings.add(name)
  }
  const isForeign = (name: string): boolean => settings.has(name) || name.endsWith('_API_KEY')
  const kept = Object.entries(outer).filter(([name]) => !isForeign(name))
  const binaries = join(root, 'node_modules', '.bin')
  return { ...Object.fromEntries(kept), PATH: [binaries, outer['PATH']].join(delimiter) }
}

function seconds(start: number): string {
  return `${((performance.now() - start) / 1_000).toFixed(1)} s`
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => stop(128 + constants.signals[signal]))
}
lifelineSignal().addEventListener('abort', () => stop(1))
process.exitCode = await main(process.argv.slice(2))
