import type { AccountRecord, ApiKeyRecord, VerifiedToken } from '@mcp-host/auth'
import { apiKeys, keysMadeBy, newApiKey } from '@mcp-host/auth'
import type { Bucket } from '@mcp-host/bus'
import { loadConfig } from '@mcp-host/service'
import { describe, expect, test } from 'vitest'
import { FakeBus } from '../http/__fixtures__/fake-bus.ts'
import { authSettings } from './auth-settings.ts'
import { createAuthenticator } from './authenticator.ts'
import { MakerCheck } from './maker-check.ts'

const origins = ['http://192.168.1.5:3000', 'http://127.0.0.1:3000', 'http://localhost:3000']
const principal = {
  id: 'user:ann',
  issuer: 'host',
  method: 'oidc' as const,
  roles: [],
  scopes: [],
}
/** Tokens of this test are audiences. */
const localTokens = {
  issuers: origins,
  verify: async (token: string): Promise<VerifiedToken> => ({
    principal,
    audiences: [token],
    expiresAt: Date.now() + 60_000,
    claims: {},
  }),
  principalOf: () => principal,
}
const noMakers = await MakerCheck.open(
  {
    bus: { bucket: () => Promise.reject(new Error('not needed')) },
    accounts: { ofPrincipal: () => undefined },
  },
  { auth: ['local'], operatorKey: undefined },
)
const auth = createAuthenticator(
  {
    makers: noMakers,
    localTokens,
    onLogin: () => undefined,
  },
  loadConfig(authSettings, { AUTH: 'local' }),
  { publicUrl: origins[0]!, origins },
)

describe('a host with several names', () => {
  test('tells each client of the name that the client used', () => {
    expect(auth.urlOf('/mcp', 'localhost:3000')).toBe('http://localhost:3000/mcp')
    expect(auth.authorizationServers('127.0.0.1:3000')).toEqual(['http://127.0.0.1:3000'])
    expect(auth.authorizationServers('other.example')).toEqual(['http://192.168.1.5:3000'])
  })

  test.each([
    ['http://localhost:3000/mcp', '/mcp', true],
    ['http://127.0.0.1:3000', '/api/me', true],
    ['http://localhost:3000/mcp/servers/a', '/mcp/servers/a', true],
    ['http://localhost:3000/mcp/servers/a', '/mcp/servers/b', false],
    ['http://localhost:3001/mcp', '/mcp', false],
    ['https://other.example/mcp', '/mcp', false],
  ])('takes a token for %s at %s: %s', async (audience, path, isTaken) => {
    const request = { method: 'POST', headers: { authorization: `Bearer ${audience}` } }
    const find = async () => auth.authenticate(request, path)
    if (isTaken) expect(await find()).toEqual(principal)
    else await expect(find()).rejects.toMatchObject({ fault: 'invalid_token' })
  })
})

describe('an API key', () => {
  const account = (name: string, roles: string[]) => ({ name, roles, isDisabled: false })
  const open = async () => {
    const bucket = await new FakeBus().bucket(apiKeys)
    const accounts = new Map<string, ReturnType<typeof account>>([
      ['user:eve', account('eve', ['admin'])],
    ])
    const makers = await MakerCheck.open(
      {
        // Only the bucket of keys is opened.
        bus: { bucket: async () => bucket as never },
        accounts: { ofPrincipal: (id) => accounts.get(id) as AccountRecord | undefined },
      },
      { auth: ['keys'], operatorKey: undefined },
    )
    const keys = createAuthenticator(
      { makers, onLogin: () => undefined },
      loadConfig(authSettings, { AUTH: 'keys' }),
      { publicUrl: origins[0]!, origins },
    )
    const add = async (more: Partial<ApiKeyRecord>) => {
      const about = { name: 'k', principal: 'key:ci', roles: ['user'], createdBy: 'local' }
      const made = newApiKey({ ...about, scopes: ['mcp'], ...more }, Date.now())
      await bucket.put(made.id, made.record)
      const headers = { authorization: `Bearer ${made.key}` }
      const request = { method: 'POST', headers }
      const find = async () => keys.authenticate(request, '/mcp')
      /** Adds a key that this one makes. */
      const make = async (next: Partial<ApiKeyRecord> = {}) => {
        const maker = await find()
        return add({ createdBy: maker.id, makers: keys.makersOf(request, maker), ...next })
      }
      return { ...made, find, make }
    }
    return { bucket, accounts, makers, keys, add }
  }
  type Added = Awaited<ReturnType<Awaited<ReturnType<typeof open>>['add']>>
  type Add = Awaited<ReturnType<typeof open>>['add']

  test.each<[string, (add: Add) => Promise<Added>]>([
    ['that acts for an account', (add) => add({ principal: 'user:eve' })],
    ['that an account has created', (add) => add({ createdBy: 'user:eve' })],
    [
      'of an earlier version, that a key of an account has created,',
      (add) => add({ createdBy: 'key:eve', owner: 'user:eve' }),
    ],
    [
      'that is the third of a chain',
      async (add) => {
        const first = await add({ createdBy: 'user:root', principal: 'user:eve' })
        const second = await first.make({ principal: 'key:a' })
        return second.make({ principal: 'key:b' })
      },
    ],
  ])('%s is refused while the account is disabled', async (_, make) => {
    const { accounts, keys, add } = await open()
    const { id, find } = await make(add)
    const before = await find()
    accounts.get('user:eve')!.isDisabled = true
    await expect(find()).rejects.toMatchObject({ fault: 'invalid_token' })
    expect(keys.principalOf({ kind: 'key', id })).toBeUndefined()
    accounts.get('user:eve')!.isDisabled = false
    expect(keys.principalOf({ kind: 'key', id })).toBe(before)
  })

  test.each<[string, (first: Added, bucket: Bucket<ApiKeyRecord>) => Promise<unknown>]>([
    ['is revoked', ({ id }, bucket) => bucket.remove(id)],
    ['has expired', ({ id, record }, bucket) => bucket.put(id, { ...record, expiresAt: 1 })],
  ])('is refused once a key by which it was made %s', async (_, end) => {
    const { bucket, add } = await open()
    const first = await add({})
    const third = await (await first.make()).make()
    expect(keysMadeBy(first.id, (await bucket.watch()).records)).toContain(third.id)
    await third.find()
    await end(first, bucket)
    await expect(third.find()).rejects.toMatchObject({ fault: 'invalid_token' })
  })

  test('of a principal keeps what was accepted with it in order, as does an account', async () => {
    const { bucket, accounts, makers, add } = await open()
    const { id, record } = await add({ roles: ['user', 'ci'] })
    const has = (of: string, ...roles: string[]) => makers.hasRoles(of, roles)
    expect([has('key:ci', 'user', 'ci'), has('key:ci', 'admin')]).toEqual([true, false])
    await bucket.put(id, { ...record, expiresAt: 1 })
    expect([has('key:ci', 'user'), has('key:other', 'user')]).toEqual([false, false])
    await add({ roles: ['user'] })
    expect([has('key:ci', 'user'), has('key:ci', 'ci')]).toEqual([true, false])
    expect([has('oidc:1234', 'user'), has('user:eve', 'admin', 'ci')]).toEqual([true, true])
    accounts.get('user:eve')!.roles = ['user']
    expect([has('user:eve', 'user'), has('user:eve', 'admin')]).toEqual([true, false])
    accounts.get('user:eve')!.isDisabled = true
    expect(has('user:eve', 'user')).toBe(false)
  })

  test.each<[string, Partial<ApiKeyRecord>]>([
    ['acts for it', { principal: 'user:eve' }],
    ['was made by it', { createdBy: 'user:eve' }],
  ])('has the roles that its account has: it %s', async (_, about) => {
    const { accounts, add } = await open()
    const { find } = await add({ roles: ['user', 'admin', 'ci'], ...about })
    expect((await find()).roles).toEqual(['user', 'admin', 'ci'])
    accounts.get('user:eve')!.roles = ['user']
    const reduced = await find()
    expect(reduced.roles).toEqual(['user'])
    expect(await find()).toBe(reduced)
    accounts.get('user:eve')!.roles = ['user', 'ci']
    expect((await find()).roles).toEqual(['user', 'ci'])
    accounts.get('user:eve')!.roles = ['admin']
    expect((await find()).roles).toEqual(['user', 'admin', 'ci'])
  })
})

test('a key at a host without keys is told which setting turns them on', async () => {
  const about = { name: 'k', principal: 'key:k', roles: [], scopes: [], createdBy: 'local' }
  const { key } = newApiKey(about, Date.now())
  const request = { method: 'POST', headers: { authorization: `Bearer ${key}` } }
  await expect(async () => auth.authenticate(request, '/mcp')).rejects.toThrow('AUTH=local,keys')
})
