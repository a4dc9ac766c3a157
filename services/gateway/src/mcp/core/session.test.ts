import { expect, test } from 'vitest'
import { newSession, readSession } from './__fixtures__/test-sessions.ts'
import * as session from './session.ts'

test('the id of a session says what its client can be asked for', () => {
  const capabilities = { elicitation: { form: {}, url: {} }, 'x-ü': [1] }
  const sessionId = newSession(capabilities)
  // As the protocol wants it in a header, and one token for the bus.
  expect(sessionId).toMatch(/^[\x21-\x7e]+$/)
  const read = readSession(sessionId)
  expect(read).toEqual({ id: expect.stringMatching(/^[0-9a-f]{32}$/), capabilities })
  expect(readSession(newSession(capabilities))?.id).not.toBe(read?.id)
})

test('of what is too long for a header the part stays that servers can ask for', () => {
  const capabilities = {
    sampling: { tools: {} },
    roots: {},
    experimental: { x: 'x'.repeat(2_000) },
  }
  expect(readSession(newSession(capabilities))?.capabilities).toEqual({ sampling: {}, roots: {} })
})

test.each([
  '',
  'nothing',
  `${'0'.repeat(32)}.`,
  `${'0'.repeat(32)}.!`,
  `${'0'.repeat(32)}.bm8`,
  `${'0'.repeat(32)}.W10`,
  `${'0'.repeat(31)}.e30`,
  `${'0'.repeat(32)}.e30.e30`,
])('"%s" is the id of no session', (sessionId) => {
  expect(readSession(sessionId)).toBeUndefined()
})

test('an id that was signed with another secret, or not at all, is of no session', () => {
  const issued = session.newSession({}, () => 'a'.repeat(64))
  expect(session.readSession(issued, () => 'a'.repeat(64))).toMatchObject({ capabilities: {} })
  expect(session.readSession(issued, () => 'b'.repeat(64))).toBeUndefined()
})
