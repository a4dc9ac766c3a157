import { expect, test } from 'vitest'
import { checkJournal } from './check-journal.ts'

/** The rules that a call with an outcome and a number of runs breaks. */
function broken(tool: string, outcome: string, runs: number): string[] {
  const entry = { tool, arguments: { id: 'c1' }, pid: 1 }
  const journal = Array.from({ length: runs }, () => entry)
  return checkJournal(journal, [{ id: 'c1', tool, outcome }]).map(({ rule }) => rule)
}

test('a call of `mark` runs once, or at most once when its outcome is unknown', () => {
  expect(broken('mark', 'ok', 1)).toEqual([])
  expect(broken('mark', 'unknown', 0)).toEqual([])
  expect(broken('mark', 'unknown', 1)).toEqual([])
  expect(broken('mark', 'ok', 2)).toEqual(['tool run twice'])
  expect(broken('mark', 'unknown', 2)).toEqual(['tool run twice'])
})

test('a call of `look` may run several times', () => {
  expect(broken('look', 'ok', 3)).toEqual([])
})

test('a call with the outcome ok has run, and a refused one has not', () => {
  expect(broken('look', 'ok', 0)).toEqual(['tool not run'])
  expect(broken('mark', 'ok', 0)).toEqual(['tool not run'])
  expect(broken('mark', 'refused', 0)).toEqual([])
  expect(broken('mark', 'refused', 1)).toEqual(['tool run'])
})
