// A credential acts as admin by the scope `admin` and the role together, at every place of the host that admits admins.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CatalogEntry, Principal, ServerName, SessionId } from '@mcp-host/contracts'
import {
  catalogKey,
  childEnvelope,
  LOCAL,
  newEnvelope,
  SCOPES,
  SessionRecord,
} from '@mcp-host/contracts'
import { applyEntry, emptySession } from '@mcp-host/session-state'
import { describe, expect, test } from 'vitest'
import { envelopeHeaders, readEnvelope } from '../packages/bus/src/codec.ts'
import { ApprovalQueue } from '../services/gateway/src/approvals/approval-queue.ts'
import { checkAccess } from '../services/gateway/src/auth/access.ts'
import { GatewayAudit } from '../services/gateway/src/gateway-audit.ts'
import { FakeBus } from '../services/gateway/src/http/__fixtures__/fake-bus.ts'
import { sessionRecord } from '../services/gateway/src/http/__fixtures__/session-record.ts'
import { checkSession } from '../services/gateway/src/session/check-session.ts'
import { capabilities } from '../services/gateway/src/status-summary.ts'
import { ownRecord } from '../services/orchestrator/src/sessions/own-record.ts'

const SESSION = 'sessionsessionse'.repeat(2) as SessionId
const ann: Principal = { ...LOCAL, id: 'user:ann', method: 'key', roles: ['user'] }
const root: Principal = { ...ann, id: 'user:root', roles: ['admin'] }

/** The record of a chat of Ann's. */
const record = SessionRecord.parse(sessionRecord(SESSION, ann.id))

/** The envelope of a principal's request, as the next service but one reads it. */
const received = (principal: Principal) => {
  const sent = childEnvelope(newEnvelope(principal))
  return readEnvelope({ headers: envelopeHeaders(sent) }, 'the request')
}

/** A chat whose first message is Ann's. */
const chat = (): FakeBus => {
  const bus = new FakeBus()
  bus.store(SESSION, { kind: 'input', fact: { id: 'm1', text: 'hello' } })
  for (const entry of bus.entries) entry.envelope.principal = ann.id
  return bus
}

/** Each place: throws, or resolves to `false`, where the principal has only the rights of a user. */
const places: Readonly<Record<string, (principal: Principal) => unknown>> = {
  'a route of administration': (principal) => checkAccess(principal, 'admin'),
  'a foreign session at a gateway': (principal) =>
    checkSession({ bus: chat().asBus(), signSession: () => '' }, SESSION, principal),
  'a foreign session at an orchestrator': (principal) => {
    return ownRecord(SESSION, record, received(principal))
  },
  'a message in a foreign session': (principal) => {
    const fact = { kind: 'input', fact: { id: 'm2', text: 'and' } } as const
    const entry = { ...fact, session: SESSION, seq: 2, time: 2, envelope: received(principal) }
    const state = emptySession()
    for (const each of [...chat().entries, entry]) applyEntry(state, each)
    return state.inputs.get(2)?.text === 'and'
  },
  'the decision about the call of another': async (principal) => {
    const audit = new GatewayAudit(undefined)
    const queue = new ApprovalQueue({ bus: new FakeBus().asBus(), audit }, { timeoutMs: 60_000 })
    const { id } = await queue.ask(ann, { server: 'a', tool: 'add', arguments: {} })
    await queue.answer(principal, id, 'allowed')
  },
  'the list of calls that wait': async (principal) => {
    const audit = new GatewayAudit(undefined)
    const queue = new ApprovalQueue({ bus: new FakeBus().asBus(), audit }, { timeoutMs: 60_000 })
    await queue.ask(ann, { server: 'a', tool: 'add', arguments: {} })
    return (await queue.list(principal)).length > 0
  },
  'the names of hidden servers': (principal) => detailsFor(principal).length > 0,
  'the output of servers': (principal) =>
    JSON.stringify(detailsFor(principal, () => false)).includes('secret'),
}

function detailsFor(principal: Principal, isHidden = () => true): unknown[] {
  const about = { server: 'a' as ServerName, supervisor: 's', state: 'unavailable' } as const
  const all: CatalogEntry[] = [
    { kind: 'supervisor', id: 's', startedAt: 0, servers: {} },
    { kind: 'server', ...about, tools: [], output: ['secret'] },
  ]
  const onChange = () => ({ [Symbol.dispose]: () => undefined })
  const entries = new Map(all.map((entry) => [catalogKey(entry), entry]))
  const { servers } = capabilities({ entries, onChange }).summary(principal, () => 1, isHidden)
  return servers as unknown[]
}

const isAdmitted = async (place: string, principal: Principal): Promise<boolean> => {
  try {
    return (await places[place]?.(principal)) !== false
  } catch {
    return false
  }
}

describe.each(Object.keys(places))('%s', (place) => {
  test.each([
    ['an admin with all scopes', root, true],
    ['an admin without the scope admin', { ...root, scopes: SCOPES.slice(0, -1) }, false],
    ['an admin with the scope chat alone', { ...root, scopes: ['chat'] }, false],
    ['an admin without a scope', { ...root, scopes: [] }, false],
    ['another user with all scopes', { ...ann, id: 'user:bob' }, false],
  ] as const)('is decided by role and scope together: %s', async (_, principal, isOpen) => {
    const own = { ...principal, roles: [...principal.roles], scopes: [...principal.scopes] }
    expect(await isAdmitted(place, own)).toBe(isOpen)
  })
})

test('messages of earlier versions, which have no scopes, keep what the role gave them', () => {
  const { scopes: _, ...earlier } = newEnvelope(root)
  const read = readEnvelope({ headers: envelopeHeaders(earlier) }, 'the request')
  expect(ownRecord(SESSION, record, read)).toBe(record)
})

test('no code asks for the role alone, but for accounts and the audit log, which has its own scope', () => {
  const cwd = join(import.meta.dirname, '..')
  const asks = /hasAdminRole\(|includes\('admin'\)/
  const found = globSync(['services/*/src/**/*.ts', 'packages/*/src/**/*.ts'], {
    cwd,
    exclude: ['**/node_modules/**', '**/*.test.ts', 'packages/web/**'],
  }).filter((path) => asks.test(readFileSync(join(cwd, path), 'utf8')))
  expect(found.toSorted()).toEqual([
    'packages/auth/src/accounts.ts',
    'packages/contracts/src/principal.ts',
    'services/gateway/src/auth/access.ts',
    'services/gateway/src/auth/accounts/consent-routes.ts',
    'services/gateway/src/auth/maker-check.ts',
    'services/gateway/src/http/audit/index.ts',
  ])
})
