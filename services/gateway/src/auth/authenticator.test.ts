import type { VerifiedToken } from '@mcp-host/auth'
import { apiKeys, newApiKey } from '@mcp-host/auth'
import { loadConfig } from '@mcp-host/service'
import { describe, expect, test } from 'vitest'
import { FakeBus } from '../http/__fixtures__/fake-bus.ts'
import { authSettings } from './auth-settings.ts'
import { createAuthenticator } from './authenticator.ts'

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
const auth = await createAuthenticator(
  {
    bus: { bucket: () => Promise.reject(new Error('not needed')) },
    accounts: { isDisabled: () => false },
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
  test.each([
    ['that acts for an account', { principal: 'user:eve', createdBy: 'local' }],
    ['that an account has created', { principal: 'key:ci', createdBy: 'user:eve' }],
    [
      'that a key of an account has created',
      { principal: 'key:ci', createdBy: 'key:eve', owner: 'user:eve' },
    ],
  ])('%s is refused while the account is disabled', async (_, holders) => {
    const bucket = await new FakeBus().bucket(apiKeys)
    const disabled = new Set<string>()
    const keys = await createAuthenticator(
      {
        // Only the bucket of keys is opened.
        bus: { bucket: async () => bucket as never },
        accounts: { isDisabled: (id) => disabled.has(id) },
        onLogin: () => undefined,
      },
      loadConfig(authSettings, { AUTH: 'keys' }),
      { publicUrl: origins[0]!, origins },
    )
    const about = { name: 'k', roles: ['user'], scopes: ['mcp' as const], ...holders }
    const { id, key, record } = newApiKey(about, Date.now())
    await bucket.put(id, record)
    const request = { method: 'POST', headers: { authorization: `Bearer ${key}` } }
    const find = async () => keys.authenticate(request, '/mcp')
    expect(await find()).toMatchObject({ id: holders.principal })
    disabled.add('user:eve')
    await expect(find()).rejects.toMatchObject({ fault: 'invalid_token' })
    expect(keys.principalOf({ kind: 'key', id })).toBeUndefined()
    disabled.clear()
    expect(keys.principalOf({ kind: 'key', id })).toMatchObject({ id: holders.principal })
  })
})

test('a key at a host without keys is told which setting turns them on', async () => {
  const about = { name: 'k', principal: 'key:k', roles: [], scopes: [], createdBy: 'local' }
  const { key } = newApiKey(about, Date.now())
  const request = { method: 'POST', headers: { authorization: `Bearer ${key}` } }
  await expect(async () => auth.authenticate(request, '/mcp')).rejects.toThrow('AUTH=local,keys')
})
