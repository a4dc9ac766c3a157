import { nameOfCell } from './cells.ts'
import type { CellResult } from './run-conformance.ts'

export interface JudgedCell {
  readonly result: CellResult
  /** The unexpected results. */
  readonly differences: readonly string[]
}

const HEAD = ['cell', 'passed', 'failed', 'unscored passed', 'unscored failed', 'as expected']

/** A table of all cells, followed by the unexpected results. */
export function describeReport(cells: readonly JudgedCell[]): string {
  const rows = [HEAD, ...cells.map(rowOf)]
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const table = rows.map((row) =>
    row
      .map((text, column) => text.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
  const details = cells
    .filter(({ differences }) => differences.length > 0)
    .map(({ result, differences }) => [`${nameOfCell(result.cell)}:`, ...differences].join('\n  '))
  return [table.join('\n'), ...details].join('\n\n')
}

function rowOf({ result: { cell, outcome }, differences }: JudgedCell): string[] {
  const name = nameOfCell(cell)
  if ('error' in outcome) return [name, '-', '-', '-', '-', 'no']
  const { scored, unscored } = outcome.totals
  const counts = [scored.passed, scored.failed, unscored.passed, unscored.failed]
  return [name, ...counts.map(String), differences.length === 0 ? 'yes' : 'no']
}
