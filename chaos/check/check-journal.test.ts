import { expect, test } from 'vitest'
import { checkJournal } from './check-journal.ts'

/** The rules that calls break which ended so and ran so often. */
function broken(tool: string, outcome: string, runs: number): string[] {
  const entry = { tool, arguments: { id: 'c1' }, pid: 1 }
  const journal = Array.from({ length: runs }, () => entry)
  return checkJournal(journal, [{ id: 'c1', tool, outcome }]).map(({ rule }) => rule)
}

test('a mark runs once, or at most once when its end is unknown', () => {
  expect(broken('mark', 'ok', 1)).toEqual([])
  expect(broken('mark', 'unknown', 0)).toEqual([])
  expect(broken('mark', 'unknown', 1)).toEqual([])
  expect(broken('mark', 'ok', 2)).toEqual(['tool run twice'])
  expect(broken('mark', 'unknown', 2)).toEqual(['tool run twice'])
})

test('a look may run again', () => {
  expect(broken('look', 'ok', 3)).toEqual([])
})

test('what is told to be done was done, and what was refused was not', () => {
  expect(broken('look', 'ok', 0)).toEqual(['tool not run'])
  expect(broken('mark', 'ok', 0)).toEqual(['tool not run'])
  expect(broken('mark', 'refused', 0)).toEqual([])
  expect(broken('mark', 'refused', 1)).toEqual(['tool run'])
})
