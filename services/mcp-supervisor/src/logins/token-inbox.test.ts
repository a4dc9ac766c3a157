import { randomBytes } from 'node:crypto'
import { ServerName } from '@mcp-host/contracts'
import { CompactEncrypt, importJWK } from 'jose'
import { expect, test } from 'vitest'
import { TokenInbox } from './token-inbox.ts'

const [key, other] = [randomBytes(32), randomBytes(32)]
const owner = { server: ServerName.parse('notes'), principal: 'user:ann', label: 'work' }

async function seal(by: Buffer, value: object): Promise<string> {
  const { key: jwk } = new TokenInbox([by])
  return new CompactEncrypt(new TextEncoder().encode(JSON.stringify(value)))
    .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM', kid: jwk.kid })
    .encrypt(await importJWK(jwk, 'ECDH-ES'))
}

test('tokens are opened for their owner alone, also after a change of keys', async () => {
  const sealed = await seal(other, { ...owner, access_token: 'canary' })
  expect(sealed).not.toContain('canary')
  const inbox = new TokenInbox([key, other])
  expect(await inbox.open(sealed, owner)).toEqual({ access_token: 'canary', token_type: 'Bearer' })
  for (const part of [{ principal: 'user:bob' }, { label: 'private' }, { server: 'mail' }]) {
    const another = { ...owner, ...part } as typeof owner
    await expect(inbox.open(sealed, another)).rejects.toThrow('cannot be read')
  }
})

test.each([
  ['no JWE', async () => 'made up'],
  ['the key of another host', () => seal(randomBytes(32), { ...owner, access_token: 'canary' })],
  ['no token', () => seal(key, owner)],
])('%s is refused', async (_, make) => {
  const opened = new TokenInbox([key]).open(await make(), owner)
  await expect(opened).rejects.toThrow('the tokens cannot be read')
  await expect(opened).rejects.not.toThrow('canary')
})
