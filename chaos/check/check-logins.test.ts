import type { SessionEvent } from '@mcp-host/contracts'
import { expect, test } from 'vitest'
import { checkLogins, checkTokens } from './check-logins.ts'

test('a call with a token of another user is a violation', () => {
  const call = (id: string, user: string) => ({ arguments: { id }, user })
  expect(checkTokens([call('s1-0-0', 's1'), call('s12-3-1', 's12')])).toEqual([])
  expect(checkTokens([call('s12-3-1', 's1'), call('s2-0-0', 'nobody')])).toMatchObject([
    { rule: 'foreign token', where: 's12-3-1', detail: 'it had a token of s1' },
    { rule: 'foreign token', where: 's2-0-0' },
  ])
})

test('a login that ended, and a question to log in again, are violations', () => {
  const logins = [
    { user: 's0', isUsable: true },
    { user: 's1', isUsable: false },
  ]
  // The check reads these fields alone.
  const asked = {
    type: 'input',
    id: '1',
    payload: { state: 'required', message: 'Log in at user' },
  } as unknown as SessionEvent
  const streams = [{ name: 's2', events: [asked] }]
  expect(checkLogins(logins.slice(0, 1), [{ name: 's2', events: [] }])).toEqual([])
  expect(checkLogins(logins, streams)).toMatchObject([
    { rule: 'login lost', where: 's1' },
    { rule: 'login lost', where: 's2', detail: expect.stringContaining('Log in at user') },
  ])
})
