import { randomBytes } from 'node:crypto'
import { createLocalJWKSet, jwtVerify } from 'jose'
import { expect, test } from 'vitest'
import { UserAssertions } from './user-assertions.ts'

const [key, other] = [randomBytes(32), randomBytes(32)]
const about = { audience: 'https://login.example', clientId: 'host', resource: 'https://notes' }
const HOST = 'https://host.example'

test('anybody can check who the user is, for whom, and for how long', async () => {
  const assertions = new UserAssertions([key], HOST)
  const signed = await assertions.sign('user:ann', about)
  const { payload, protectedHeader } = await jwtVerify(
    signed,
    createLocalJWKSet({ keys: new UserAssertions([key], HOST).keys }),
    { issuer: `${HOST}/users`, audience: 'https://login.example' },
  )
  expect(payload).toMatchObject({
    sub: 'user:ann',
    client_id: 'host',
    resource: 'https://notes',
  })
  expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(60)
  expect(protectedHeader.typ).toBe('oauth-id-jag+jwt')
})

test('after a change of keys the old one is still known, and no secret is among the keys', async () => {
  const before = await new UserAssertions([other], HOST).sign('user:ann', about)
  const { keys } = new UserAssertions([key, other], HOST)
  await jwtVerify(before, createLocalJWKSet({ keys }))
  await expect(
    jwtVerify(before, createLocalJWKSet({ keys: new UserAssertions([key], HOST).keys })),
  ).rejects.toThrow()
  expect(keys.flatMap((each) => Object.keys(each))).not.toContain('d')
})

test('without a principal the subject is the host', async () => {
  const assertions = new UserAssertions([key], HOST)
  const { keys } = assertions
  const { payload } = await jwtVerify(await assertions.sign('', about), createLocalJWKSet({ keys }))
  expect(payload.sub).toBe('host')
})
