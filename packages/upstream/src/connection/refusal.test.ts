import { describe, expect, test } from 'vitest'

import { isSessionLost } from './refusal.ts'

const ID = 1_000_000_000
const failure = (code: number, message: string, id: unknown = null): string =>
  JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } })

describe('a refusal', () => {
  test.each<[number, string]>([
    [404, ''],
    [404, 'session not found'],
    [404, failure(-32_601, 'no such thing')],
    [404, failure(-32_001, 'Session not found', ID)],
    [410, '<html></html>'],
    [400, failure(-32_000, 'Bad Request: Mcp-Session-Id header is required')],
    [400, failure(-32_600, 'Bad Request: Missing session ID', 'server-error')],
    [400, '{"code":-32603,"message":"Session ID missing"}'],
    [400, 'Unknown or expired session'],
    [400, 'The session has timed out'],
    [401, 'Unauthorized: Session not found'],
    [403, 'invalid session id'],
    [409, 'session closed'],
    [422, 'Unexpected message, expect initialize request'],
    [400, 'Server uninitialized'],
  ])('a refusal with %i and %j says that the session is lost', (status, body) => {
    expect(isSessionLost({ status, body }, ID)).toBe(true)
  })

  test.each<[number, string]>([
    [404, failure(-32_602, 'no such tool', ID)],
    [404, failure(-32_002, 'the session of last year was not found', ID)],
    [400, failure(-32_000, 'your session has expired', ID)],
    [400, failure(-32_000, 'the city is missing')],
    [400, 'Bad Request'],
    [401, 'the token has expired'],
    [429, 'too many requests in this session, no more now'],
    [500, 'session store not available'],
    [503, ''],
  ])('a refusal with %i and %j says nothing about the session', (status, body) => {
    expect(isSessionLost({ status, body }, ID)).toBe(false)
  })

  test('of a long body only the beginning is searched', () => {
    const body = 'session '.repeat(1_000_000)
    expect(isSessionLost({ status: 400, body }, ID)).toBe(false)
    expect(isSessionLost({ status: 400, body: `session lost ${body}` }, ID)).toBe(true)
  })
})
