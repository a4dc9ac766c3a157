import type { AuditRecord } from '@mcp-host/audit'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { GatewayAudit } from './gateway-audit.ts'

beforeEach(() => vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => vi.useRealTimers())

const share = { id: 's', session: 'session' }

test.each([
  ['login-refused', (audit: GatewayAudit) => audit.credentialRefused('::1', '/ws', 'not valid')],
  ['share-read', (audit: GatewayAudit) => audit.shareRead(share, '::1', 'GET /api/shared/:token')],
  ['client-registered', (audit: GatewayAudit) => audit.clientRegistered('c', 'x'.repeat(10_000))],
  ['token-reused', (audit: GatewayAudit) => audit.tokenReused('user:ann', 'c')],
])('entries of %s have a limit, and the next one counts the others', (action, cause) => {
  const records: AuditRecord[] = []
  const audit = new GatewayAudit({ record: (each) => void records.push(each) })
  for (let count = 0; count < 25; count++) cause(audit)
  expect(records).toHaveLength(20)
  expect(records[0]?.detail).not.toHaveProperty('unrecorded')
  vi.advanceTimersByTime(1_000)
  cause(audit)
  expect(records.at(-1)).toMatchObject({ action, detail: { unrecorded: 5 } })
  cause(audit)
  expect(records.at(-1)?.detail).not.toHaveProperty('unrecorded')
  for (const each of records) expect(JSON.stringify(each).length).toBeLessThan(1_000)
})
