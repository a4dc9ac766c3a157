// The command behind `npm test`, the gate that each change passes.
import { randomInt } from 'node:crypto'
import { runSteady } from './check/run-steady.ts'
import { stopWithUser } from './check/run-process.ts'
import { runVitest } from './check/run-vitest.ts'
import { secondsSince } from './check/seconds-since.ts'
import { giveSecondChance, MAX_UNSTEADY } from './check/second-chance.ts'
import { runStaticChecks } from './check/static-checks.ts'
import { runCommand, UsageError } from './command-line.ts'

const usage = `Usage: npm test [-- [--steady N] [filter ...]]

Runs every check and test. With filters, runs only the tests whose files match. A file that fails is run once more, alone,
after the others: if it passes then, it is "unsteady", and both outputs are kept in .data/unsteady/. More than
${MAX_UNSTEADY} unsteady files, or one that fails twice, fail the run.

  --steady N   run the files N times while all cores are kept busy, and say how often each of them failed
  filter       a part of a file's path; other options are passed to vitest
`

interface Options {
  /** The number of rounds on busy cores; 0 is a normal run. */
  readonly steady: number
  /** Filters, and options of vitest. */
  readonly filters: readonly string[]
}

function parse(args: readonly string[]): Options | undefined {
  if (args.includes('--help') || args.includes('-h')) return undefined
  const at = args.indexOf('--steady')
  if (at === -1) return { steady: 0, filters: args }
  const steady = Number(args[at + 1])
  if (!Number.isInteger(steady) || steady < 1) {
    throw new UsageError('--steady takes the number of rounds, such as --steady 10')
  }
  const filters = args.toSpliced(at, 2)
  if (filters.length === 0) throw new UsageError('--steady takes the files to run')
  return { steady, filters }
}

async function run({ steady, filters }: Options): Promise<number> {
  const hasProject = filters.some((each) => each.startsWith('--project'))
  const args = hasProject ? filters : ['--project=!long', ...filters]
  if (steady > 0) return (await runSteady(steady, args)) === 0 ? 0 : 1

  const failedChecks = filters.length > 0 ? 0 : await runStaticChecks()
  const start = performance.now()
  // A second run of random inputs must meet the same ones.
  const env = { FUZZ_SEED: process.env['FUZZ_SEED'] ?? String(randomInt(2 ** 31 - 1)) }
  const first = await runVitest(args, 'show', env)
  const { files, unsteady } = await giveSecondChance(first.files, env)
  for (const error of first.strayErrors) console.log(`\nan error that belongs to no file: ${error}`)

  const sum = (state: 'passed' | 'failed' | 'skipped') =>
    files.reduce((total, file) => total + file[state], 0)
  const isTooUnsteady = unsteady.length > MAX_UNSTEADY
  const failed =
    sum('failed') + first.strayErrors.length + failedChecks + (isTooUnsteady ? unsteady.length : 0)
  console.log(`\n${failed === 0 ? '✓' : '✗'} tests ${secondsSince(start)}`)
  if (unsteady.length > 0) {
    console.log('\nunsteady: failed, then passed alone (outputs: .data/unsteady)')
    for (const name of unsteady) console.log(`  ${name}`)
    if (isTooUnsteady) console.log(`more than ${MAX_UNSTEADY} unsteady files fail the run`)
  }
  console.log(`\nunsteady: ${unsteady.length}`)
  console.log(`${sum('passed')} passed, ${failed} failed, ${sum('skipped')} skipped`)
  return failed === 0 ? 0 : 1
}

stopWithUser()
await runCommand({ usage, parse, run })
