import type { Command } from './run-process.ts'
import { runProcess } from './run-process.ts'
import { secondsSince } from './seconds-since.ts'

const checks: Readonly<Record<string, Command>> = {
  format: ['oxfmt', '--check', '.'],
  lint: ['oxlint', '--type-aware', '--deny-warnings'],
  types: ['tsc', '--noEmit'],
  'types of the web UI': ['tsc', '--noEmit', '-p', 'packages/web'],
  'unused code': ['knip'],
  'generated docs': ['node', 'tools/generate.ts', '--check'],
}

/** Runs all checks at once, and prints the output of each when it has ended. Returns the number of failed checks. */
export async function runStaticChecks(): Promise<number> {
  const verdicts = await Promise.all(
    Object.entries(checks).map(async ([name, command]) => {
      const start = performance.now()
      const { code, output } = await runProcess(command, 'collect')
      console.log(`${code === 0 ? '✓' : '✗'} ${name} ${secondsSince(start)}`)
      if (code !== 0) console.log(`${output.trimEnd()}\n`)
      return code === 0
    }),
  )
  return verdicts.filter((isGood) => !isGood).length
}
