import { AuthorizationServer, HttpServer } from '@mcp-host/mcp-testkit'
import { expect, test } from 'vitest'

import { LEGACY } from '../../test/index.ts'
import { describeLogin, takeLogin } from './brought-login.ts'

const tokens = { access_token: 'key-of-ann', token_type: 'Bearer' }

async function openServer(token?: string) {
  const server = await HttpServer.open(LEGACY)
  server.token = token
  const about = { url: server.url, isProgram: false, headers: {}, proxyFor: () => undefined }
  return { ...about, auth: { type: 'oauth' } as const }
}

test('an API key is a login where the server has no authorization server', async () => {
  const server = await openServer('key-of-ann')
  const login = await takeLogin(server, { tokens })
  const issuer = new URL('/', server.url).href
  expect(login).toMatchObject({ issuer, tokens, expiresAt: undefined })
  const refused = takeLogin(server, { tokens: { ...tokens, access_token: 'made-up' } })
  await expect(refused).rejects.toThrow('the server refuses this token')
})

test('tokens that could not be refreshed later are refused at once', async () => {
  await using issuer = await AuthorizationServer.open()
  const server = await openServer()
  const auth = { ...server.auth, issuer: issuer.url }
  const renewable = { ...tokens, refresh_token: 'again', expires_in: 60, scope: 'a b' }
  const unnamed = takeLogin({ ...server, auth }, { tokens: renewable })
  await expect(unnamed).rejects.toThrow('client_id')
  expect(
    await takeLogin({ ...server, auth }, { tokens: renewable, clientId: 'cli' }),
  ).toMatchObject({ issuer: issuer.url, client: { client_id: 'cli' }, scope: 'a b' })
  const away = { ...server.auth, issuer: 'http://127.0.0.1:9' }
  const lost = takeLogin({ ...server, auth: away }, { tokens: renewable, clientId: 'cli' })
  await expect(lost).rejects.toThrow('does not answer')
})

test.each([
  ['a type that is no bearer', { token_type: 'DPoP' }],
  ['a line break', { access_token: 'a\r\nx-admin: 1' }],
])('a token with %s is refused', async (_, part) => {
  const server = await openServer()
  await expect(takeLogin(server, { tokens: { ...tokens, ...part } })).rejects.toThrow('token')
})

test('a program is told where and for what tokens are issued', async () => {
  await using issuer = await AuthorizationServer.open()
  const server = await openServer()
  const auth = { ...server.auth, issuer: issuer.url, clientId: 'host', scope: 'notes.read' }
  expect(await describeLogin({ ...server, auth })).toMatchObject({
    issuer: issuer.url,
    authorizationEndpoint: `${issuer.url}/auth`,
    tokenEndpoint: `${issuer.url}/token`,
    registrationEndpoint: `${issuer.url}/reg`,
    clientId: 'host',
    scope: 'notes.read offline_access',
  })
})
