// The command behind `npm run test:long`: the tests that take too long for `npm test`.
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { LongTest } from './check/long-tests.ts'
import { LONG_TESTS } from './check/long-tests.ts'
import { root, runProcess, stopWithUser } from './check/run-process.ts'
import { runVitest } from './check/run-vitest.ts'
import { secondsSince } from './check/seconds-since.ts'
import { runCommand, UsageError } from './command-line.ts'

const usage = `Usage: npm run test:long [-- [--list] [name ...]]

Runs the tests that take too long for \`npm test\`, one after another; with names, only these.

  --list   print the names, what each of them tests and its usual duration on two idle cores
`

interface Options {
  readonly isList: boolean
  readonly tests: readonly LongTest[]
}

interface Tally {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

function parse(args: string[]): Options | undefined {
  const { values, positionals } = parseArgs({
    args,
    options: { list: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
    allowPositionals: true,
  })
  if (values.help === true) return undefined
  const unknown = positionals.find((name) => LONG_TESTS.every((each) => each.name !== name))
  if (unknown !== undefined) {
    const names = LONG_TESTS.map(({ name }) => name).join(', ')
    throw new UsageError(`there is no long test "${unknown}"; there are ${names}`)
  }
  const tests = LONG_TESTS.filter(
    ({ name }) => positionals.length === 0 || positionals.includes(name),
  )
  return { isList: values.list === true, tests }
}

async function run({ isList, tests }: Options): Promise<number> {
  if (isList) {
    for (const { name, summary, minutes } of tests) {
      console.log(`${name.padEnd(14)}${String(minutes).padStart(3)} min  ${summary}`)
    }
    return 0
  }
  const tallies: Tally[] = []
  for (const test of tests) {
    console.log(`\n${test.name}: ${test.summary}; about ${test.minutes} min`)
    const start = performance.now()
    const tally = await runOne(test)
    console.log(`${tally.failed === 0 ? '✓' : '✗'} ${test.name} ${secondsSince(start)}`)
    tallies.push(tally)
  }
  const sum = (state: keyof Tally) => tallies.reduce((total, tally) => total + tally[state], 0)
  console.log(`\n${sum('passed')} passed, ${sum('failed')} failed, ${sum('skipped')} skipped`)
  return sum('failed') === 0 ? 0 : 1
}

async function runOne({ run: target }: LongTest): Promise<Tally> {
  if ('command' in target) {
    const { code } = await runProcess(target.command, 'show')
    return { passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1, skipped: 0 }
  }
  const { files, strayErrors } = await runVitest(
    ['--project=long', join(root, target.path)],
    'show',
  )
  for (const error of strayErrors) console.log(error)
  const sum = (state: keyof Tally) => files.reduce((total, file) => total + file[state], 0)
  return {
    passed: sum('passed'),
    failed: sum('failed') + strayErrors.length,
    skipped: sum('skipped'),
  }
}

stopWithUser()
await runCommand({ usage, parse, run })
