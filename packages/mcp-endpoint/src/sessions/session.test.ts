import { expect, test } from 'vitest'
import { newSession, readSession } from '../../test/test-sessions.ts'
import * as session from './session.ts'

test('a session id has the capabilities of its client', () => {
  const capabilities = { elicitation: { form: {}, url: {} }, 'x-ü': [1] }
  const sessionId = newSession(capabilities)
  // Valid in a header and as one token of a subject.
  expect(sessionId).toMatch(/^[\x21-\x7e]+$/)
  const read = readSession(sessionId)
  expect(read).toEqual({ id: expect.stringMatching(/^[0-9a-f]{32}$/), capabilities })
  expect(readSession(newSession(capabilities))?.id).not.toBe(read?.id)
})

test('a session id that is too long for a header keeps only capabilities that servers use', () => {
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
])('the session id "%s" is invalid', (sessionId) => {
  // With a signature that is right for all of them.
  expect(session.readSession(sessionId, () => '0'.repeat(64))).toBeUndefined()
})

test('the capabilities in a session id cannot be changed', () => {
  const [id] = newSession({ roots: {} }).split('.')
  const [, other] = newSession({ sampling: {}, elicitation: {} }).split('.')
  expect(readSession(`${id}.${other}`)).toBeUndefined()
})

test('a session id that was signed with another secret is invalid', () => {
  const issued = session.newSession({}, () => 'a'.repeat(64))
  expect(session.readSession(issued, () => 'a'.repeat(64))).toMatchObject({ capabilities: {} })
  expect(session.readSession(issued, () => 'b'.repeat(64))).toBeUndefined()
})
