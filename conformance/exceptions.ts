import type { Cell } from './cells.ts'
import { wordsOfCell } from './cells.ts'
import type { Count, Totals } from './results.ts'

interface Exception {
  /** In the cells that have all these words; `given`: with a server in place of the fixture. */
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
  // Seen with the everything server of the TypeScript SDK.
  {
    words: ['given', '2026-07-28', 'gateway', 'legacy'],
    scenario: 'input-required-result-capability-check',
    count: { passed: 1, failed: 1 },
    why: 'its tool looks for capabilities in the request, where older revisions do not have them',
  },
  ...[
    'tools-call-sampling',
    'tools-call-elicitation',
    'elicitation-sep1034-defaults',
    'elicitation-sep1330-enums',
  ].map((scenario) => ({
    words: ['given', '2025-11-25', 'gateway', 'modern'],
    scenario,
    count: { passed: 1, failed: 1 },
    why: 'its tool asks by a request of its own, which the SDK refuses to send from 2026-07-28 on',
  })),
  {
    words: ['given', '2025-11-25', 'gateway', 'modern'],
    scenario: 'server-sse-polling',
    count: { passed: 0, failed: 0 },
    why: 'its tool hangs up only in a session of an older revision, and else answers at once',
  },
]

/** What a cell must come to, where the server by itself comes to `direct`. `isGiven`: it is not the fixture. */
export function expectedOf(cell: Cell, direct: Totals, isGiven = false): Totals {
  const words = [...wordsOfCell(cell), ...(isGiven ? ['given'] : [])]
  const exceptions = EXCEPTIONS.filter((each) => each.words.every((word) => words.includes(word)))
  const scenarios = Object.fromEntries(exceptions.map(({ scenario, count }) => [scenario, count]))
  return { ...direct, scenarios: { ...direct.scenarios, ...scenarios } }
}
