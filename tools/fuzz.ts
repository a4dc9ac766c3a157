// `npm run fuzz`: runs the properties of `fuzz/` for longer than `npm test` does.
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { runProcess, stopWithUser } from './check/run-process.ts'
import { runCommand, UsageError } from './command-line.ts'

const usage = `Usage: npm run fuzz -- [options] [filter ...]

  --minutes N   approximate duration of the whole run (5)
  --inputs N    number of inputs of the auth file, instead of its share of the time
  --seed N      seed that an earlier run printed: repeats its cases
  filter        only the files whose names contain it, such as frames or mcp-json
`

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
  const seconds = (minutes * 60 * availableParallelism()) / Math.max(1, await countTests(filters))
  const { code } = await runProcess(['vitest', 'run', ...PROJECT, ...filters], 'show', {
    FUZZ_SECONDS: String(seconds),
    ...(inputs === undefined ? {} : { FUZZ_INPUTS: inputs }),
    ...(seed === undefined ? {} : { FUZZ_SEED: seed }),
  })
  return code
}

/** The number of properties, which share the time evenly. */
async function countTests(filters: readonly string[]): Promise<number> {
  const { output } = await runProcess(['vitest', 'list', ...PROJECT, ...filters], 'collect')
  return output.split('\n').filter((line) => line.includes(' > ')).length
}

stopWithUser()
await runCommand({ usage, parse, run })
