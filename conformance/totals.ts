import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { Requirements } from './cells.ts'
import { REQUIREMENTS } from './cells.ts'
import type { Count } from './results.ts'
import { Totals } from './results.ts'

const FILE = join(import.meta.dirname, 'totals.json')

/** The results of the fixture without a gateway, which a gateway must not change. */
const ExpectedTotals = z.record(z.enum(REQUIREMENTS), Totals)
export type ExpectedTotals = Readonly<Record<Requirements, Totals>>

export async function readExpected(): Promise<ExpectedTotals> {
  return ExpectedTotals.parse(JSON.parse(await readFile(FILE, 'utf8')))
}

export async function writeExpected(totals: ExpectedTotals): Promise<void> {
  await writeFile(FILE, `${JSON.stringify(totals, null, 2)}\n`)
}

export interface Difference {
  readonly scenario: string
  readonly text: string
}

/** The scenarios with other results. */
export function compareTotals(actual: Totals, expected: Totals): Difference[] {
  const names = Object.keys({ ...expected.scenarios, ...actual.scenarios })
  return names.flatMap((scenario) => {
    const found = describeCount(actual.scenarios[scenario])
    const wanted = describeCount(expected.scenarios[scenario])
    return found === wanted ? [] : [{ scenario, text: `${found}; expected ${wanted}` }]
  })
}

function describeCount(count: Count | undefined): string {
  return count === undefined ? 'not run' : `${count.passed} passed, ${count.failed} failed`
}
