import type { Principal } from '@mcp-host/contracts'
import type { AuditRecord } from '@mcp-host/audit'
import { LOCAL } from '@mcp-host/contracts'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { GatewayAudit } from './gateway-audit.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

const share = { id: 's', session: 'session' }

function open(): { readonly audit: GatewayAudit; readonly records: AuditRecord[] } {
  const records: AuditRecord[] = []
  return { audit: new GatewayAudit({ record: (each) => void records.push(each) }), records }
}

type Cause = (audit: GatewayAudit, address: string) => void

test.each<[string, Cause]>([
  ['login-refused', (audit, from) => audit.credentialRefused(from, '/ws', 'not valid')],
  ['share-read', (audit, from) => audit.shareRead(share, from, 'GET /api/shared/:token')],
  ['client-registered', (audit, from) => audit.clientRegistered(from, 'c', 'x'.repeat(10_000))],
  ['token-reused', (audit, from) => audit.tokenReused(from, 'user:ann', 'c')],
])('entries of %s have a limit, and one entry counts the others', (action, cause) => {
  const { audit, records } = open()
  for (let count = 0; count < 25; count++) cause(audit, '192.0.2.1')
  expect(records).toHaveLength(20)
  cause(audit, '192.0.2.2')
  expect(records).toHaveLength(21)
  vi.advanceTimersByTime(1_000)
  const detail = { address: '192.0.2.1', unrecorded: 5 }
  expect(records.slice(21)).toEqual([{ action, principal: 'nobody', detail }])
  cause(audit, '192.0.2.1')
  expect(records).toHaveLength(23)
  for (const each of records) expect(JSON.stringify(each).length).toBeLessThan(1_000)
})

test('strangers with many addresses have a limit, too', () => {
  const { audit, records } = open()
  for (let count = 0; count < 300; count++) {
    audit.credentialRefused(`192.0.2.${count % 100}`, '/ws', 'not valid')
  }
  expect(records).toHaveLength(200)
  audit[Symbol.dispose]()
  const detail = { unrecorded: 100 }
  expect(records.slice(200)).toEqual([{ action: 'login-refused', principal: 'nobody', detail }])
})

test('faulty tokens hide no guess of a password', () => {
  const { audit, records } = open()
  for (let count = 0; count < 300; count++) {
    audit.credentialRefused(`192.0.2.${count % 100}`, '/ws', 'not valid')
  }
  audit.credentialRefused('192.0.2.1', '/login', 'account ann: wrong password or disabled')
  expect(records.at(-1)?.detail).toMatchObject({ path: '/login' })
})

test('no use of a foreign session by an admin is hidden by others', () => {
  const { audit, records } = open()
  const admin: Principal = { ...LOCAL, id: 'user:admin' }
  const read = (session: string) =>
    audit.foreignSessionUsed(admin, { session, owner: 'user:ann', route: 'GET /ws' })
  for (let count = 0; count < 300; count++) read('decoy')
  read('other')
  expect(records).toHaveLength(301)
  expect(records.at(-1)).toMatchObject({ session: 'other' })
})
