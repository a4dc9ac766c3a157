import type { JWTPayload } from 'jose'
import { badTokens } from '@mcp-host/testkit'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { FakeIssuer } from './__fixtures__/fake-issuer.ts'
import { fakeIssuer } from './__fixtures__/fake-issuer.ts'
import type { OidcOptions } from './oidc.ts'
import { OidcVerifier } from './oidc.ts'

const RESOURCE = 'https://host.example/mcp'

let issuer: FakeIssuer
let verifier: OidcVerifier

beforeAll(async () => {
  issuer = await fakeIssuer()
})
afterAll(() => issuer[Symbol.asyncDispose]())
beforeEach(() => {
  verifier = new OidcVerifier(options())
})

function options(more: Partial<OidcOptions> = {}): OidcOptions {
  return {
    issuer: issuer.url,
    isAudience: (audience) => audience === RESOURCE,
    rolesClaim: 'realm_access.roles',
    defaultRoles: ['user'],
    defaultScopes: [],
    userClaim: 'sub',
    prefix: 'oidc',
    tokenType: 'at+jwt',
    ...more,
  }
}

const now = (): number => Math.floor(Date.now() / 1_000)

function claims(more: JWTPayload = {}): JWTPayload {
  return { iss: issuer.url, aud: RESOURCE, sub: 'ann', iat: now(), exp: now() + 300, ...more }
}

test.each(['', ' ', '\t'])('a token whose user is %j names no principal', async (sub) => {
  const token = await issuer.sign(claims({ sub }))
  await expect(verifier.verify(token)).rejects.toMatchObject({ fault: 'invalid_token' })
})

describe('a good token', () => {
  test('names the principal with its roles and scopes', async () => {
    const token = await issuer.sign(
      claims({ realm_access: { roles: ['admin', 'a b', 'dev'] }, scope: 'openid mcp chat' }),
    )
    expect(await verifier.verify(token)).toMatchObject({
      principal: {
        id: 'oidc:ann',
        issuer: issuer.url,
        method: 'oidc',
        roles: ['admin', 'dev'],
        scopes: ['mcp', 'chat'],
      },
      audiences: [RESOURCE],
    })
  })

  test.each([{}, { scope: '' }, { scope: 'openid' }, { scp: [] }, { scope: null }, { scope: 7 }])(
    'without roles and scopes of this host, as with %o, has the default ones',
    async (more) => {
      const token = await issuer.sign(claims(more))
      expect((await verifier.verify(token)).principal).toMatchObject({
        roles: ['user'],
        scopes: [],
      })
      verifier = new OidcVerifier(options({ defaultScopes: ['mcp'] }))
      expect((await verifier.verify(token)).principal.scopes).toEqual(['mcp'])
    },
  )

  test('may have several audiences, a list of scopes and roles in one text', async () => {
    verifier = new OidcVerifier(options({ rolesClaim: 'groups' }))
    const token = await issuer.sign(
      claims({ aud: ['other', RESOURCE], scp: ['mcp'], groups: 'dev,ops' }),
    )
    const { principal } = await verifier.verify(token)
    expect(principal).toMatchObject({ roles: ['dev', 'ops'], scopes: ['mcp'] })
  })

  test.each([
    { 'https://example.com/roles': ['dev'] },
    { 'https://example': { 'com/roles': 'dev' } },
  ])('has its roles at a name with dots or at the path: %o', async (more) => {
    verifier = new OidcVerifier(options({ rolesClaim: 'https://example.com/roles' }))
    const { principal } = await verifier.verify(await issuer.sign(claims(more)))
    expect(principal.roles).toEqual(['dev'])
  })

  test('may be read by a clock that is 20 seconds off', async () => {
    await verifier.verify(await issuer.sign(claims({ exp: now() - 20 })))
    await verifier.verify(await issuer.sign(claims({ nbf: now() + 20, iat: now() + 20 })))
  })
})

describe('a bad token is refused:', () => {
  test.each(
    badTokens(
      () => issuer,
      () => RESOURCE,
    ),
  )('%s', async (_name, make) => {
    const error = await verifier.verify(await make()).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({
      name: 'BusError',
      code: 'unauthenticated',
      fault: 'invalid_token',
    })
  })

  test('a token signed with the key from before a rotation', async () => {
    const old = await issuer.sign(claims())
    await issuer.rotate()
    await expect(verifier.verify(old)).rejects.toMatchObject({ fault: 'invalid_token' })
    await verifier.verify(await issuer.sign(claims()))
  })
})

describe('the provider', () => {
  test('is asked for its keys once, and again only for a new key', async () => {
    const before = issuer.keyRequests()
    await Promise.all([1, 2, 3].map(async () => verifier.verify(await issuer.sign(claims()))))
    expect(issuer.keyRequests()).toBe(before + 1)
  })

  test('that is down makes tokens unverifiable, not invalid, and is found again', async () => {
    let time = Date.now()
    verifier = new OidcVerifier(options({ now: () => time }))
    issuer.break(true)
    const token = await issuer.sign(claims())
    await expect(verifier.verify(token)).rejects.toMatchObject({ code: 'unavailable' })
    issuer.break(false)
    await expect(verifier.verify(token)).rejects.toMatchObject({ code: 'unavailable' })
    time += 3_000
    await verifier.verify(token)
  })

  test('must call itself by the configured name', async () => {
    const posing = new OidcVerifier({ ...options(), issuer: `${issuer.url}/` })
    const token = await issuer.sign(claims({ iss: `${issuer.url}/` }))
    await expect(posing.verify(token)).rejects.toMatchObject({ code: 'unavailable' })
  })
})
