import type { Cell } from './cells.ts'
import { wordsOfCell } from './cells.ts'
import type { Count, Totals } from './results.ts'

interface Exception {
  /** Applies to cells with all these words. `given`: with a server of `--server`. */
  readonly words: readonly string[]
  readonly scenario: string
  /** The expected checks of the scenario in these cells. */
  readonly count: Count
  readonly why: string
}

/** Scenarios whose results differ behind a gateway. Warnings and notes count neither as passed nor as failed. */
const EXCEPTIONS: readonly Exception[] = [
  {
    words: ['2025-11-25', 'gateway'],
    scenario: 'server-sse-multiple-streams',
    count: { passed: 1, failed: 0 },
    why: 'the gateway answers lists as JSON, which the suite reports as a note',
  },
  {
    words: ['2026-07-28', 'gateway', 'legacy'],
    scenario: 'server-stateless',
    count: { passed: 26, failed: 2 },
    why: 'an older server cannot name a missing capability, and changes the lists of a process that only one client uses',
  },
  {
    words: ['2026-07-28', 'gateway', 'legacy'],
    scenario: 'input-required-result-basic-elicitation',
    count: { passed: 1, failed: 1 },
    why: 'an older server has no name for its question, for which the suite expects "user_name"',
  },
  // Known from the everything server of the TypeScript SDK.
  {
    words: ['given', '2026-07-28', 'gateway', 'legacy'],
    scenario: 'input-required-result-capability-check',
    count: { passed: 1, failed: 1 },
    why: 'its tool reads the capabilities from the request, which has none in older revisions',
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
    why: 'its tool sends a separate request, which the SDK refuses from 2026-07-28 on',
  })),
  {
    words: ['given', '2025-11-25', 'gateway', 'modern'],
    scenario: 'server-sse-polling',
    count: { passed: 0, failed: 0 },
    why: 'its tool closes the stream only in sessions of older revisions, and answers at once in others',
  },
]

/** The expected results of a cell, given the results without a gateway. `isGiven`: the server is not the fixture. */
export function expectedOf(cell: Cell, direct: Totals, isGiven = false): Totals {
  const words = [...wordsOfCell(cell), ...(isGiven ? ['given'] : [])]
  const exceptions = EXCEPTIONS.filter((each) => each.words.every((word) => words.includes(word)))
  const scenarios = Object.fromEntries(exceptions.map(({ scenario, count }) => [scenario, count]))
  return { ...direct, scenarios: { ...direct.scenarios, ...scenarios } }
}
