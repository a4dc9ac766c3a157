import type { CellResult } from './run-conformance.ts'
import { expectedOf } from './exceptions.ts'
import { readFaults } from './faults.ts'
import type { ExpectedTotals } from './totals.ts'
import { compareTotals } from './totals.ts'

/** The unexpected results of a cell. `isGiven`: the server is not the fixture. */
export async function judgeCell(
  { cell, outcome, folder }: CellResult,
  expected: ExpectedTotals,
  isGiven = false,
): Promise<string[]> {
  if ('error' in outcome) return [outcome.error]
  const lines: string[] = []
  const wanted = expectedOf(cell, expected[cell.requirements], isGiven)
  for (const { scenario, text } of compareTotals(outcome.totals, wanted)) {
    const faults = await readFaults(folder, scenario)
    lines.push(`${scenario}: ${text}`, ...faults.map((fault) => `  ${fault}`))
  }
  return lines
}
