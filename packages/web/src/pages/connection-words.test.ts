import { expect, test } from 'vitest'
import type { ConnectionFault } from '@mcp-host/client'
import { wordsOf } from './connection-words.ts'

test.each<[ConnectionFault | undefined, RegExp]>([
  [undefined, /^Connecting again\. Nothing is lost/],
  ['restart', /^The host restarts\. Nothing is lost/],
  ['offline', /^This device has no network\. .* as soon as it is online\.$/],
  ['away', /^Nothing answers at the address of the host: it is stopped, or/],
  ['proxy', /^A proxy answers, but it does not reach the host behind it\./],
  ['stranger', /^Something else answers at this address: .* Reload the page/],
  ['unavailable', /^The host answers that it cannot serve at the moment: why\./],
])('a lost connection with the fault %s is told', (fault, words) => {
  const lost = { state: 'reconnecting', reason: 'why', attempt: 1 } as const
  expect(wordsOf(fault === undefined ? lost : { ...lost, fault }).long).toMatch(words)
})

test('a connection over HTTP names the proxy and its remedy, one over a socket says nothing', () => {
  const connected = { state: 'connected', sessionId: 's', message: '' } as const
  expect(wordsOf({ ...connected, over: 'http' }).long).toMatch(
    /proxy on the way passes no WebSockets, so .* It works; .* Upgrade and Connection for \/ws/,
  )
  expect(wordsOf({ ...connected, over: 'socket' }).long).toBeUndefined()
})

test.each([
  ['unauthenticated', /the host asks for a login\. Log in again\.$/],
  ['forbidden', /^You may not chat here: why$/],
  ['refused', /^The host refuses this chat: why$/],
  ['deleted', /was deleted/],
  ['unreachable', /does not answer\. Reload the page/],
  ['closed', /is closed\. Reload the page/],
] as const)('a connection that ended as %s is told', (why, words) => {
  expect(wordsOf({ state: 'ended', why, message: 'why' }).long).toMatch(words)
})
