import type { Caller } from '@mcp-host/contracts'
import { PolicyFile } from '@mcp-host/policy'
import { describe, expect, test } from 'vitest'
import { nothing } from '../../test/no-clients.ts'
import { MergedListing } from '../listing/merged-listing.ts'
import { routeRequest } from './route-request.ts'
import { AccessPolicy } from './access-policy.ts'

const ann: Caller = { id: 'user:ann', roles: ['dev'], scopes: [] }
const root: Caller = { id: 'user:root', roles: ['admin'], scopes: [] }

const listing = new MergedListing(
  [
    {
      server: 'files',
      tools: ['read', 'write', 'delete'].map((name) => ({
        name,
        inputSchema: {
          type: 'object',
          properties: { force: { type: 'boolean' }, tags: { items: { type: 'string' } } },
        },
      })),
      prompts: [],
      resources: [],
      resourceTemplates: [],
    },
  ],
  ({ name }) => name,
)
const virtualServer = { listing, onChange: () => nothing }

function policyOf(rules: object[]): AccessPolicy {
  const policy = new AccessPolicy({ needsApproval: (_server, tool) => tool === 'read' })
  policy.set(PolicyFile.parse({ rules }))
  return policy
}

const names = (policy: AccessPolicy, caller: Caller): string[] =>
  ['read', 'write', 'delete'].filter(
    (name) => policy.view(caller, virtualServer).listing.tool(name) !== undefined,
  )

function check(policy: AccessPolicy, caller: Caller, name: string, args: object = {}): string {
  const request = {
    kind: 'request',
    era: 'legacy',
    id: 1,
    method: 'tools/call',
    params: { name, arguments: args },
  } as const
  const { listing: seen } = policy.view(caller, virtualServer)
  const route = routeRequest(request, seen)
  if (route === undefined) throw new Error('the gateway answers it')
  const verdict = policy.admitCall(caller, route, seen)
  if (verdict instanceof Promise) throw new Error('no limit is set')
  return verdict.effect
}

const rules = [
  { roles: 'admin', effect: 'allow' },
  { tool: 'delete', effect: 'deny' },
  { tool: 'write', arguments: { path: '/etc/*' }, effect: 'deny', reason: 'that is the system' },
  { users: 'user:ann', tool: 'write', effect: 'approve' },
]

describe('a tool whose calls are all denied', () => {
  test('is not listed, and reads as unknown when it is called', () => {
    const policy = policyOf(rules)
    expect(names(policy, ann)).toEqual(['read', 'write'])
    expect(names(policy, root)).toEqual(['read', 'write', 'delete'])
    expect(() => check(policy, ann, 'delete')).toThrow('there is no tool "delete"')
  })

  test('is listed again once the policy says so, and clients are told', () => {
    const policy = policyOf(rules)
    let changes = 0
    // Apart from the view, as callers take it.
    const { onChange } = policy.view(ann, virtualServer)
    const listening = onChange(() => (changes += 1))
    policy.set(PolicyFile.parse({ rules: [] }))
    expect(changes).toBe(1)
    expect(names(policy, ann)).toEqual(['read', 'write', 'delete'])
    listening[Symbol.dispose]()
  })
})

test('a view of an open policy follows a later denial and a later quarantine', () => {
  let quarantined = ''
  const policy = new AccessPolicy({
    quarantine: {
      get hasQuarantined() {
        return quarantined !== ''
      },
      isQuarantined: (_server, tool) => tool === quarantined,
    },
  })
  const view = policy.view(ann, virtualServer)
  const has = (name: string): boolean => view.listing.tool(name) !== undefined
  expect(view.listing).toBe(listing)
  quarantined = 'read'
  policy.refresh()
  expect([has('read'), has('delete')]).toEqual([false, true])
  policy.set(PolicyFile.parse({ rules: [{ tool: 'delete', effect: 'deny' }] }))
  expect([has('read'), has('delete')]).toEqual([false, false])
})

describe('a call', () => {
  test.each([true, 'TRUE', ' true ', 1])(
    'is decided by the argument that its server gets of %j',
    (force) => {
      const policy = policyOf([{ tool: 'write', arguments: { force: 'true' }, effect: 'approve' }])
      expect(check(policy, ann, 'write', { force })).toBe('approve')
      expect(check(policy, ann, 'write', { force: 0 })).toBe('allow')
    },
  )

  test('with denied arguments is refused with the reason of the rule', () => {
    const policy = policyOf(rules)
    expect(() => check(policy, ann, 'write', { path: '/etc/passwd' })).toThrow(
      'may not be called with these arguments: that is the system',
    )
  })

  test('with arguments too large to be decided about is refused with that reason', () => {
    const tags = Array.from({ length: 400_000 }, () => 1)
    const policy = policyOf([{ arguments: { tags: 'x' }, effect: 'deny', reason: 'no' }])
    expect(() => check(policy, ann, 'write', { tags })).toThrow('is too large')
  })

  test('needs approval by a rule, or by the shorthand where rules allow it', () => {
    const policy = policyOf(rules)
    expect(check(policy, ann, 'write', { path: '/tmp' })).toBe('approve')
    expect(check(policy, root, 'write', { path: '/etc/passwd' })).toBe('allow')
    expect(check(policy, ann, 'read')).toBe('approve')
  })
})

test('a list of which others see less or more may be cached by its client alone', () => {
  const [files] = listing.servers
  const caching = { tools: { ttlMs: 5, cacheScope: 'public' } } as const
  const merged = new MergedListing(files ? [{ ...files, caching }] : [], ({ name }) => name)
  const scopeFor = (caller: Caller, policy: AccessPolicy) =>
    policy.view(caller, { ...virtualServer, listing: merged }).listing.caching('tools').cacheScope
  for (const caller of [ann, root]) expect(scopeFor(caller, policyOf(rules))).toBe('private')
  expect(scopeFor(ann, policyOf([]))).toBe('public')
})

test('one view serves all callers with the same rights, unless rules name users', () => {
  const byRole = policyOf(rules.slice(0, 2))
  const bob: Caller = { id: 'user:bob', roles: ['dev'], scopes: [] }
  const seen = (policy: AccessPolicy, caller: Caller) => policy.view(caller, virtualServer).listing
  expect(seen(byRole, ann)).toBe(seen(byRole, bob))
  const byUser = policyOf([{ users: 'user:bob', tool: 'read', effect: 'deny' }])
  expect(names(byUser, ann)).toContain('read')
  expect(names(byUser, bob)).not.toContain('read')
})

test('denials of tools and prompts alone leave the listing of other callers as it is', () => {
  const policy = policyOf(rules)
  expect(policy.view(root, virtualServer).listing).toBe(listing)
})

test('a caller who is known sees another listing, and what another policy hides', () => {
  const policy = policyOf(rules)
  expect(names(policy, ann)).toEqual(['read', 'write'])
  const [server] = listing.servers
  if (server === undefined) throw new Error('the listing has a server')
  const smaller = listing.with(new Map([['files', { ...server, tools: server.tools.slice(0, 1) }]]))
  const { listing: seen } = policy.view(ann, { ...virtualServer, listing: smaller })
  expect(seen.tool('read')).toBeDefined()
  expect(seen.tool('write')).toBeUndefined()
  expect(names(policy, ann)).toEqual(['read', 'write'])
  policy.set(PolicyFile.parse({ rules: [{ tool: 'read', effect: 'deny' }] }))
  expect(names(policy, ann)).toEqual(['write', 'delete'])
})
