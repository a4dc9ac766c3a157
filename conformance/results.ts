import { z } from 'zod'

const Count = z.object({ passed: z.number(), failed: z.number() })
export type Count = z.infer<typeof Count>

/** The results of one run of the suite. */
export const Totals = z.object({
  /** Checks of the scenarios that count for conformance … */
  scored: Count,
  /** … and of those that only run for information. */
  unscored: Count,
  scenarios: z.record(z.string(), Count),
})
export type Totals = z.infer<typeof Totals>

/** Reads the output of the suite, which has one line for each scenario. */
export function readTotals(output: string): Totals {
  const [, summary] = output.split('=== SUMMARY ===')
  if (summary === undefined) {
    throw new Error(`the suite ended without a summary:\n${output.slice(-2_000)}`)
  }
  const [results = '', notScored = ''] = summary.split(/^Not scored for /m)
  const counts = results.matchAll(/^[✓✗] (\S+): (\d+) passed, (\d+) failed$/gm)
  const scenarios = Array.from(counts, ([, name = '', passed, failed]): [string, Count] => [
    name,
    { passed: Number(passed), failed: Number(failed) },
  ])
  const ofNoScore = new Set(
    Array.from(notScored.matchAll(/^ {2}[✓✗] (\S+) \(/gm), ([, name]) => name),
  )
  const sum = (isScored: boolean): Count =>
    scenarios
      .filter(([name]) => ofNoScore.has(name) !== isScored)
      .map(([, count]) => count)
      .reduce(add, { passed: 0, failed: 0 })
  return { scored: sum(true), unscored: sum(false), scenarios: Object.fromEntries(scenarios) }
}

function add(one: Count, other: Count): Count {
  return { passed: one.passed + other.passed, failed: one.failed + other.failed }
}
