import type { CellResult } from './run-conformance.ts'
import type { ExpectedTotals } from './totals.ts'

/** Replaces the expected results by those of the direct cells. */
export function updateExpected(
  expected: ExpectedTotals,
  results: readonly CellResult[],
): ExpectedTotals {
  const found = results.flatMap(({ cell, outcome }) =>
    cell.target.kind === 'direct' && 'totals' in outcome
      ? [[cell.requirements, outcome.totals] as const]
      : [],
  )
  return { ...expected, ...Object.fromEntries(found) }
}
