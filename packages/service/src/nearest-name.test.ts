import { expect, test } from 'vitest'
import { nearestName } from './nearest-name.ts'

test.each([
  ['gemni', ['demo', 'gemini'], undefined, 'gemini'],
  ['MAX_TOOL_CALL', ['MAX_TURN_MS', 'MAX_TOOL_CALLS'], 2, 'MAX_TOOL_CALLS'],
  ['HOSTILE', ['HOST', 'PORT'], 2, undefined],
  ['x', [], undefined, undefined],
])('the name nearest to %s of %j within %s is %s', (name, candidates, limit, expected) => {
  expect(nearestName(name, candidates, limit)).toBe(expected)
})
