// `npm run fuzz`: runs the properties of `fuzz/` for longer than `npm test` does.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { delimiter, join } from 'node:path'
import { parseArgs } from 'node:util'
import { runCommand, UsageError } from './command-line.ts'
import { stopWithLauncher } from './lifeline.ts'

const usage = `Usage: npm run fuzz -- [options] [filter ...]

  --minutes N   approximate duration of the whole run (5)
  --inputs N    number of inputs of the auth file, instead of its share of the time
  --seed N      seed that an earlier run printed: repeats its cases
  filter        only the files whose names contain it, such as frames or mcp-json
`

const root = join(import.meta.dirname, '..')
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
const PROJECT = ['--project', 'fuzz']

interface Options {
  readonly minutes: number
  readonly inputs: string | undefined
  readonly seed: string | undefined
  readonly filters: readonly string[]
}

function parse(args: string[]): Options | undefined {
  const { values, positionals } = parseArgs({
    args,
    options: {
      minutes: { type: 'string' },
      inputs: { type: 'string' },
      seed: { type: 'string' },
      help: { type: 'boolean' },
    },
    allowPositionals: true,
  })
  if (values.help === true) return undefined
  const minutes = Number(values.minutes ?? 5)
  const isRight = minutes > 0 && Number(values.inputs ?? 1) > 0
  if (!isRight || Number.isNaN(Number(values.seed ?? 0))) {
    throw new UsageError('--minutes, --inputs and --seed must be numbers')
  }
  return { minutes, inputs: values.inputs, seed: values.seed, filters: positionals }
}

async function run({ minutes, inputs, seed, filters }: Options): Promise<number> {
  const seconds = (minutes * 60 * availableParallelism()) / Math.max(1, countTests(filters))
  const child = spawn(process.execPath, [vitest, 'run', ...PROJECT, ...filters], {
    cwd: root,
    stdio: 'inherit',
    env: {
      ...process.env,
      PATH: [join(root, 'node_modules', '.bin'), process.env['PATH']].join(delimiter),
      FUZZ_SECONDS: String(seconds),
      ...(inputs === undefined ? {} : { FUZZ_INPUTS: inputs }),
      ...(seed === undefined ? {} : { FUZZ_SEED: seed }),
    },
  })
  const [code] = (await once(child, 'exit')) as [number | null]
  return code ?? 1
}

/** The number of properties, which share the time evenly. */
function countTests(filters: readonly string[]): number {
  const args = [vitest, 'list', ...PROJECT, ...filters]
  const { stdout } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' })
  return stdout.split('\n').filter((line) => line.includes(' > ')).length
}

stopWithLauncher()
await runCommand({ usage, parse, run })
