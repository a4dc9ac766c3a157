import type { CellResult } from './run-conformance.ts'
import type { ExpectedTotals } from './totals.ts'

/** What the fixture itself has come to takes the place of what it came to before. */
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
