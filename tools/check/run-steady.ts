import { availableParallelism } from 'node:os'
import { relative } from 'node:path'
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { root } from './run-process.ts'
import { runVitest } from './run-vitest.ts'

/**
 * Runs test files repeatedly while all cores are kept busy, and prints how often each of them failed. Returns the number
 * of files that failed at least once.
 */
export async function runSteady(times: number, filters: readonly string[]): Promise<number> {
  const failures = new Map<string, number>()
  let strayErrors = 0
  const stopLoad = keepCoresBusy()
  try {
    for (let round = 1; round <= times; round++) {
      console.log(`\nround ${round} of ${times}`)
      const run = await runVitest(filters, 'show')
      for (const { path, failed } of run.files) {
        failures.set(path, (failures.get(path) ?? 0) + (failed > 0 ? 1 : 0))
      }
      strayErrors += run.strayErrors.length
      for (const error of run.strayErrors) console.log(error)
    }
  } finally {
    stopLoad()
  }
  console.log(`\nfailed rounds of ${times}, on busy cores:`)
  for (const [path, count] of [...failures].toSorted((a, b) => b[1] - a[1])) {
    console.log(`  ${String(count).padStart(3)}  ${relative(root, path)}`)
  }
  if (strayErrors > 0) console.log(`  and ${strayErrors} errors that belong to no file`)
  return [...failures.values()].filter((count) => count > 0).length + (strayErrors > 0 ? 1 : 0)
}

/** A busy loop for each core. Returns what ends them. */
function keepCoresBusy(): () => void {
  // The loops end by themselves when this process is killed.
  const loop = `const parent = process.ppid; for (;;) if (process.ppid !== parent) process.exit()`
  const loops: ChildProcess[] = Array.from({ length: availableParallelism() }, () =>
    spawn(process.execPath, ['--eval', loop], { stdio: 'ignore' }),
  )
  return () => {
    for (const each of loops) each.kill('SIGKILL')
  }
}
