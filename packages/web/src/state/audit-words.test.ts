import type { AuditVerification } from '@mcp-host/client'
import { expect, test } from 'vitest'
import { tookText, verificationText } from './audit-words.ts'

const found = { entries: 18_204, writers: 4, faultCount: 0, faults: [], isComplete: true }

test.each<[AuditVerification, string]>([
  [found, 'No fault in 18,204 entries of 4 writers, first to last.'],
  [
    { ...found, entries: 1, writers: 1, faultCount: 1 },
    '1 fault in 1 entry of 1 writer, first to last.',
  ],
  [
    { ...found, faultCount: 2, isComplete: false },
    '2 faults in the first 18,204 entries of 4 writers; npm run audit -- verify reads the others, too.',
  ],
])('a verification says what it read and found (%#)', (verification, text) => {
  expect(verificationText(verification)).toBe(text)
})

test.each([
  [undefined, '–'],
  [0.4, '0 ms'],
  [999.4, '999 ms'],
  [4_120, '4.1 s'],
])('an entry of %s milliseconds took %s', (durationMs, text) => {
  expect(tookText(durationMs === undefined ? {} : { durationMs })).toBe(text)
})
