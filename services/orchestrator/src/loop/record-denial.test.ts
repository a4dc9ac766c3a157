import type { AuditRecord } from '@mcp-host/audit'
import type { SessionId } from '@mcp-host/contracts'
import { newEnvelope } from '@mcp-host/contracts'
import type { ToolCall } from '@mcp-host/session-state'
import { expect, test } from 'vitest'
import type { TurnPolicy } from '../turn/turn.ts'
import { recordDenial } from './record-denial.ts'

const session = 'sessionsessionse'.repeat(2) as SessionId
const envelope = newEnvelope({ id: 'user:ann', roles: ['user'], scopes: [], entrance: 'ws' })
const block = { id: 'c1', name: 'files__delete', server: 'files', tool: 'delete' }
// Only what an entry has.
const call = { block: { ...block, arguments: { path: '/a' } }, attempt: 0 } as unknown as ToolCall

test.each([
  ['the policy, with the reason of its rule', 'nothing is deleted here'],
  ['the user, with the words for the model', undefined],
])('a call of a model that is denied has its entry: by %s', (_, denial) => {
  const records: AuditRecord[] = []
  const policy = { denialOf: () => denial } as unknown as TurnPolicy // the rest is not used
  // A log that cannot be written does not let the call run either.
  const audit = {
    record: async (each: AuditRecord) => {
      records.push(each)
      throw new Error('the audit log cannot be written')
    },
  }
  const message = 'not run: the user did not allow this call.'
  recordDenial({ audit, policy }, { session, envelope }, { type: 'settle', call, message })
  expect(records).toEqual([
    {
      action: 'request-refused',
      principal: 'user:ann',
      roles: ['user'],
      entrance: 'ws',
      session,
      server: 'files',
      tool: 'delete',
      call: 'c1',
      arguments: { path: '/a' },
      outcome: 'denied',
      traceId: envelope.traceparent.slice(3, 35),
      detail: { reason: denial ?? message },
    },
  ])
})
