import { join } from 'node:path'
import type { Cell, Target } from './cells.ts'
import { nameOfCell, nameOfTarget } from './cells.ts'
import { openTarget } from './open-target.ts'
import type { Totals } from './results.ts'
import { runSuite } from './suite.ts'

export interface CellResult {
  readonly cell: Cell
  readonly seconds: number
  /** The results, or the reason why there are none. */
  readonly outcome: { readonly totals: Totals } | { readonly error: string }
  /** The folder of the results of its scenarios. */
  readonly folder: string
}

export interface ConformanceRun {
  readonly cells: readonly Cell[]
  /** Starts another server instead of the fixture. */
  readonly command?: string | undefined
  /** Folder for logs and results. */
  readonly folder: string
  /** Prints a line of progress. */
  readonly say: (line: string) => void
}

/** Runs the suite once for each cell. Starts each target once for all its cells. */
export async function runConformance({
  cells,
  folder,
  say,
  command,
}: ConformanceRun): Promise<CellResult[]> {
  const results: CellResult[] = []
  for (const [target, ofTarget] of Map.groupBy(cells, (cell) => cell.target)) {
    const place = join(folder, nameOfTarget(target).replaceAll(' ', '-'))
    results.push(...(await runTarget(target, ofTarget, { folder: place, say, command })))
  }
  return results
}

async function runTarget(
  target: Target,
  cells: readonly Cell[],
  { folder, say, command }: Omit<ConformanceRun, 'cells'>,
): Promise<CellResult[]> {
  try {
    await using open = await openTarget(target, folder, command)
    const results: CellResult[] = []
    for (const cell of cells) {
      const result = await runCell(cell, open.url, join(folder, cell.requirements))
      say(`${nameOfCell(cell)}: ${describeOutcome(result)}`)
      results.push(result)
    }
    return results
  } catch (error) {
    // The other targets still run.
    say(`${nameOfTarget(target)} did not start: ${(error as Error).message}`)
    const outcome = { error: (error as Error).message }
    return cells.map((cell) => ({ cell, seconds: 0, outcome, folder }))
  }
}

async function runCell(cell: Cell, url: string, folder: string): Promise<CellResult> {
  const { requirements } = cell
  const startedAt = performance.now()
  const outcome = await runSuite({ url, requirements, folder }).then(
    (totals) => ({ totals }),
    (error: unknown) => ({ error: error instanceof Error ? error.message : String(error) }),
  )
  return { cell, outcome, folder, seconds: (performance.now() - startedAt) / 1_000 }
}

export function describeOutcome({ outcome, seconds }: CellResult): string {
  if ('error' in outcome) return outcome.error
  const { scored, unscored } = outcome.totals
  return (
    `${scored.passed} passed, ${scored.failed} failed; ` +
    `unscored ${unscored.passed} passed, ${unscored.failed} failed; ${seconds.toFixed(1)} s`
  )
}
