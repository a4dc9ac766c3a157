// `npm run fuzz`: the properties of `fuzz/`, for longer than `npm test` gives them.
import { spawn, spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { delimiter, join } from 'node:path'
import { parseArgs } from 'node:util'
import { stopWithLauncher } from './lifeline.ts'

const USAGE = `Usage: npm run fuzz -- [options] [filter ...]

  --minutes N   how long all of it takes about (5)
  --seed N      of an earlier run, which printed it: the same cases again
  filter        only the files whose names have it, such as frames or mcp-json`

const root = join(import.meta.dirname, '..')
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
const PROJECT = ['--project', 'fuzz']

stopWithLauncher()
const { values, positionals } = parseArgs({
  options: { minutes: { type: 'string' }, seed: { type: 'string' }, help: { type: 'boolean' } },
  allowPositionals: true,
})
const minutes = Number(values.minutes ?? 5)
if (values.help === true) console.log(USAGE)
else if (!(minutes > 0) || Number.isNaN(Number(values.seed ?? 0))) {
  console.error(`--minutes and --seed must be numbers\n\n${USAGE}`)
  process.exitCode = 2
} else {
  const seconds = (minutes * 60 * availableParallelism()) / Math.max(1, countTests(positionals))
  const child = spawn(process.execPath, [vitest, 'run', ...PROJECT, ...positionals], {
    cwd: root,
    stdio: 'inherit',
    env: {
      ...process.env,
      PATH: [join(root, 'node_modules', '.bin'), process.env['PATH']].join(delimiter),
      FUZZ_SECONDS: String(seconds),
      ...(values.seed === undefined ? {} : { FUZZ_SEED: values.seed }),
    },
  })
  child.on('exit', (code) => (process.exitCode = code ?? 1))
}

/** The time is shared evenly among the properties. */
function countTests(filters: readonly string[]): number {
  const args = [vitest, 'list', ...PROJECT, ...filters]
  const { stdout } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' })
  return stdout.split('\n').filter((line) => line.includes(' > ')).length
}
