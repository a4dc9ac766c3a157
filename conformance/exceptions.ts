import type { Cell } from './cells.ts'
import { wordsOfCell } from './cells.ts'
import type { Count, Totals } from './results.ts'

interface Exception {
  /** In the cells that have all these words. */
  readonly words: readonly string[]
  readonly scenario: string
  /** What it comes to there. */
  readonly count: Count
  readonly why: string
}

/** Where a gateway between makes a difference. What counts neither as passed nor as failed is a warning or a note. */
const EXCEPTIONS: readonly Exception[] = [
  {
    words: ['2025-11-25', 'gateway'],
    scenario: 'server-sse-multiple-streams',
    count: { passed: 1, failed: 0 },
    why: 'lists are answered as JSON, of which the suite makes a note',
  },
  {
    words: ['2026-07-28', 'gateway', 'legacy'],
    scenario: 'server-stateless',
    count: { passed: 26, failed: 2 },
    why: 'an older server cannot say which capability it misses, and changes the lists of a process that no other request has',
  },
  {
    words: ['2026-07-28', 'gateway', 'legacy'],
    scenario: 'input-required-result-basic-elicitation',
    count: { passed: 1, failed: 1 },
    why: 'an older server has no name for its question; the suite wants "user_name"',
  },
]

/** What a cell must come to, where the server by itself comes to `direct`. */
export function expectedOf(cell: Cell, direct: Totals): Totals {
  const words = wordsOfCell(cell)
  const exceptions = EXCEPTIONS.filter((each) => each.words.every((word) => words.includes(word)))
  const scenarios = Object.fromEntries(exceptions.map(({ scenario, count }) => [scenario, count]))
  return { ...direct, scenarios: { ...direct.scenarios, ...scenarios } }
}
