import { expect, test } from 'vitest'
import type { Count, Totals } from './results.ts'
import { compareTotals } from './totals.ts'

function totals(scenarios: Record<string, Count>): Totals {
  const none = { passed: 0, failed: 0 }
  return { scored: none, unscored: none, scenarios }
}

test('each scenario with other results is named', () => {
  const expected = totals({
    ping: { passed: 2, failed: 0 },
    'tools-list': { passed: 3, failed: 0 },
    caching: { passed: 8, failed: 0 },
  })
  const actual = totals({
    ping: { passed: 2, failed: 0 },
    'tools-list': { passed: 1, failed: 2 },
    'prompts-list': { passed: 2, failed: 0 },
  })
  expect(compareTotals(expected, expected)).toEqual([])
  expect(compareTotals(actual, expected)).toEqual([
    { scenario: 'tools-list', text: '1 passed, 2 failed; expected 3 passed, 0 failed' },
    { scenario: 'caching', text: 'not run; expected 8 passed, 0 failed' },
    { scenario: 'prompts-list', text: '2 passed, 0 failed; expected not run' },
  ])
})
