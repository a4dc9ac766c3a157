import type { AuthorizationServerMetadata } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'

import { beginLogin, clientAt } from './login.ts'

const issuer = 'https://login.example.com'
const metadata: AuthorizationServerMetadata = {
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  response_types_supported: ['code'],
  code_challenge_methods_supported: ['S256'],
}
const client = { client_id: 'a' }
const wanted = { scope: 'read', resource: undefined }
const begin = (more: Partial<AuthorizationServerMetadata>) =>
  beginLogin({ issuer, metadata: { ...metadata, ...more } }, client, 'https://me.example', wanted)

test('every login has a state and a secret of its own', async () => {
  const [one, other] = await Promise.all([begin({}), begin({})])
  expect(one.url.searchParams.get('state')).toBe(one.pending.state)
  expect(one.pending.state).not.toBe(other.pending.state)
  expect(one.pending.verifier).not.toBe(other.pending.verifier)
  expect(one.url.href).not.toContain(one.pending.verifier)
})

test('no login begins without PKCE', async () => {
  await expect(begin({ code_challenge_methods_supported: undefined })).rejects.toThrow('PKCE')
  await expect(begin({ code_challenge_methods_supported: ['plain'] })).rejects.toThrow('S256')
})

test.each(['javascript:alert(1)//', 'http://login.example.com/authorize', 'file:///etc/passwd'])(
  'no browser is sent to %s',
  async (page) => {
    await expect(begin({ authorization_endpoint: page })).rejects.toThrow(
      /has its page for logins at|Invalid URL/,
    )
  },
)

test('refresh tokens are asked for where there is a scope for them', async () => {
  const { url } = await begin({ scopes_supported: ['read', 'offline_access'] })
  expect(url.searchParams.get('scope')).toBe('read offline_access')
  expect((await begin({})).url.searchParams.get('scope')).toBe('read')
})

test.each([
  [
    'that was made beforehand',
    { registered: { clientId: 'b', clientSecret: 'c' } },
    { client_id: 'b', client_secret: 'c' },
  ],
  [
    'by a metadata document',
    { metadataUrl: 'https://me.example/client' },
    { client_id: 'https://me.example/client' },
  ],
])('the registration %s comes before one that is made now', async (_, given, expected) => {
  const at = {
    issuer,
    metadata: {
      ...metadata,
      client_id_metadata_document_supported: true,
      registration_endpoint: `${issuer}/register`,
    },
  }
  const me = { redirectUrl: 'https://me.example/back', name: 'Notes', ...given }
  const fetchFn = () => Promise.reject(new Error('nothing is sent'))
  expect(await clientAt(at, me, fetchFn)).toEqual(expected)
})

test('where no registration is possible, the error says what to do', async () => {
  const me = { redirectUrl: 'https://me.example/back', name: 'Notes' }
  const fetchFn = () => Promise.reject(new Error('nothing is sent'))
  await expect(clientAt({ issuer, metadata }, me, fetchFn)).rejects.toThrow(
    'register it there, with the redirect address https://me.example/back, and set its clientId',
  )
})

test.each([
  ['https://me.example/back', 'web'],
  ['http://127.0.0.1:8123/back', 'native'],
])('an application at %s registers as %s', async (redirectUrl, type) => {
  const asked: unknown[] = []
  const fetchFn: Parameters<typeof clientAt>[2] = async (_, init) => {
    const body = JSON.parse(typeof init?.body === 'string' ? init.body : '')
    asked.push(body.application_type)
    return Response.json({ ...body, client_id: 'b' }, { status: 201 })
  }
  const at = { issuer, metadata: { ...metadata, registration_endpoint: `${issuer}/register` } }
  await clientAt(at, { redirectUrl, name: 'Notes' }, fetchFn)
  expect(asked).toEqual([type])
})
