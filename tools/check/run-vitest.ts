import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { RunResult } from './file-result.ts'
import type { OutputMode } from './run-process.ts'
import { runProcess } from './run-process.ts'

export interface VitestRun extends RunResult {
  /** Whether tests, files and vitest itself ended well. */
  readonly isGood: boolean
  /** What vitest printed; empty when it was shown. */
  readonly output: string
}

/** Runs vitest with these arguments. `env`: settings beside the environment of tests. */
export async function runVitest(
  args: readonly string[],
  mode: OutputMode,
  env: Readonly<Record<string, string>> = {},
): Promise<VitestRun> {
  const folder = mkdtempSync(join(tmpdir(), 'mcp-host-tests-'))
  const file = join(folder, 'result.json')
  try {
    const reporter = join(import.meta.dirname, 'file-reporter.ts')
    // Programs that tests start take half the time with it. It makes the measured coverage less exact.
    const hasCoverage = args.some((arg) => arg.startsWith('--coverage'))
    const cache = hasCoverage ? {} : { NODE_COMPILE_CACHE: join(folder, 'compiled') }
    const { code, output } = await runProcess(
      ['vitest', 'run', '--reporter=default', `--reporter=${reporter}`, ...args],
      mode,
      { ...env, ...cache, TEST_RESULT: file },
    )
    const result = existsSync(file)
      ? RunResult.parse(JSON.parse(readFileSync(file, 'utf8')))
      : { files: [], strayErrors: ['vitest ended without a result'] }
    const hasFailure = result.files.some(({ failed }) => failed > 0)
    const isExplained = hasFailure || result.strayErrors.length > 0
    // A run that failed for no reason that is known here must not pass.
    if (code !== 0 && !isExplained) result.strayErrors.push(`vitest ended with code ${code}`)
    return { ...result, isGood: code === 0, output }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
