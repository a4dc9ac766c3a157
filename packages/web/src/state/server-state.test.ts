import type { ServerStatus } from '@mcp-host/client'
import { expect, test } from 'vitest'
import { isBroken, missingWords, readingsOf, reasonOf, stateOf, toolCount } from './server-state.ts'

const server = (state: ServerStatus['state'], more: Partial<ServerStatus> = {}): ServerStatus => ({
  server: 'a',
  state,
  ...more,
})
const error = 'the server "a" exited with code 1'

test.each([
  [server('ready'), 'Ready', 'ready'],
  // Such as a failure of another instance
  [server('ready', { error }), 'Ready', 'ready'],
  [server('starting'), 'Starting', 'runs'],
  [server('starting', { phase: 'installing' }), 'Installing', 'runs'],
  // Hosts of earlier versions send the phase with the failure.
  [server('starting', { phase: 'installing', error }), 'Starting again', 'failed'],
  [server('unavailable', { error }), 'Not available', 'failed'],
  [server('unavailable', { error, isRestartPlanned: true }), 'Starting again', 'failed'],
])('%o is shown as %s', (status, text, mark) => {
  expect(stateOf(status)).toEqual({ mark, text })
  expect(isBroken(status)).toBe(mark === 'failed')
})

test('broken servers are counted, and that the host tries them again is said once', () => {
  const away = server('unavailable')
  const again = server('unavailable', { isRestartPlanned: true })
  const tries = (which: string) => `The host keeps trying to start ${which}. The others work.`
  expect(missingWords([away]).after).toBe('The others work.')
  expect(missingWords([again])).toEqual({
    before: '1 server is not available',
    after: tries('it'),
  })
  expect(missingWords([again, server('starting', { error })])).toEqual({
    before: '2 servers are not available',
    after: tries('them'),
  })
  expect(missingWords([away, again]).after).toBe(tries('1 of them'))
})

test('a reason does not repeat the name of its server, and is cut', () => {
  expect(reasonOf(server('ready'))).toBeUndefined()
  expect(reasonOf(server('unavailable', { error }))).toBe('exited with code 1')
  expect(reasonOf(server('unavailable', { error: 'x'.repeat(200) }))).toHaveLength(161)
  expect(reasonOf(server('unavailable', { error: `x${'😀'.repeat(90)}` }))).toMatch(/\uFFFD…$/)
})

test('readings have what is known alone', () => {
  expect(readingsOf(server('ready'))).toEqual([
    ['Supervisors', '0'],
    ['Restarts', '0'],
  ])
  const instances = [{ supervisor: 's', state: 'ready', restarts: 2 }]
  const figures = { calls: 214, failures: 2, p50Ms: 0.4, p95Ms: 1_540 }
  expect(readingsOf(server('ready', { sandbox: 'bwrap', instances, ...figures }))).toEqual([
    ['Sandbox', 'bwrap'],
    ['Supervisors', '1'],
    ['Restarts', '2'],
    ['Calls', '214'],
    ['Failed', '2'],
    ['50 % within', 'under 1 ms'],
    ['95 % within', '1.5 s'],
  ])
})

test('tools are counted in words', () => {
  expect([0, 1, 2].map(toolCount)).toEqual(['0 tools', '1 tool', '2 tools'])
})
