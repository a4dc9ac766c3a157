// Servers that ask for a token, which the host gets by its own credentials.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, exportPKCS8, generateKeyPair } from 'jose'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { AuthorizationServer, HttpServer, text } from '@mcp-host/mcp-testkit'
import { LEGACY } from '@mcp-host/upstream/testing'
import { HostStage } from '../test/host-stage.ts'
import type { ClientCredentialsAuthConfig, RemoteServerConfig } from './index.ts'

const SECRET = 'the-secret-of-the-host'
const client = {
  client_id: 'notes-host',
  client_secret: SECRET,
  redirect_uris: [],
  response_types: [],
  grant_types: ['client_credentials'],
}

let issuer: AuthorizationServer
let server: HttpServer
let stage: HostStage
beforeEach(async () => {
  issuer = await AuthorizationServer.open({ clients: [client] })
  server = await HttpServer.open({
    ...LEGACY,
    'tools/list': () => ({ tools: [{ name: 'say', inputSchema: { type: 'object' } }] }),
    'tools/call': () => text('fine'),
  })
  server.protection = {
    issuer: issuer.url,
    scope: 'notes.read',
    accepts: (token, resource) => issuer.accepts(token, resource),
  }
  stage = await HostStage.open()
})
afterEach(() => issuer[Symbol.asyncDispose]())

function configured(
  auth: Partial<ClientCredentialsAuthConfig> = { clientSecret: SECRET },
): RemoteServerConfig {
  const type = 'client-credentials'
  const login = { type, issuer: issuer.url, clientId: 'notes-host', ...auth } as const
  return { type: 'http', url: server.url, headers: {}, protocol: 'legacy', auth: login }
}

test('the token of a secret is asked for once, for this server and what it demands', async () => {
  await stage.host.initialize({ servers: { notes: configured() } })
  expect(await stage.call('notes.say')).toBe('fine')
  expect(await stage.call('notes.say')).toBe('fine')
  expect(server.refused).toBe(0)
  expect(issuer.asked.map((each) => Object.fromEntries(each))).toEqual([
    { grant_type: 'client_credentials', scope: 'notes.read', resource: server.url },
  ])
  const counted = () => stage.host.getMetrics().servers['notes']?.counters.tokens
  expect(counted()).toEqual({ 'client-credentials': { ok: 1, needed: 0, failed: 0 } })
  issuer.isBroken = true
  await issuer.revoke(issuer.issued.at(-1) ?? '')
  await expect(stage.call('notes.say')).rejects.toThrow()
  expect(counted()?.['client-credentials']?.failed).toBeGreaterThan(0)
})

test('a private key signs the login', async () => {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
  const keys = [{ ...(await exportJWK(publicKey)), alg: 'ES256' }]
  await using keyed = await AuthorizationServer.open({
    clients: [{ ...client, token_endpoint_auth_method: 'private_key_jwt', jwks: { keys } }],
  })
  server.protection = { issuer: keyed.url, accepts: (...token) => keyed.accepts(...token) }
  const privateKeyFile = await stage.workspace.write('key.pem', await exportPKCS8(privateKey))
  const auth = { issuer: keyed.url, privateKeyFile, algorithm: 'ES256' }
  await stage.host.initialize({ servers: { notes: configured(auth) } })
  expect(await stage.call('notes.say')).toBe('fine')
})

test('calls whose token ended are sent again with one new token', async () => {
  await stage.host.initialize({ servers: { notes: configured() } })
  await stage.call('notes.say')
  await issuer.revoke(issuer.issued[0] ?? '')
  const calls = Array.from({ length: 50 }, () => stage.call('notes.say'))
  expect(new Set(await Promise.all(calls))).toEqual(new Set(['fine']))
  expect(issuer.issued).toHaveLength(2)
})

test('a token is replaced before it expires', async () => {
  await using brief = await AuthorizationServer.open({ clients: [client], ttlSeconds: 1 })
  server.protection = { issuer: brief.url, accepts: (...token) => brief.accepts(...token) }
  const auth = { issuer: brief.url, clientSecret: SECRET }
  await stage.host.initialize({ servers: { notes: configured(auth) } })
  await new Promise((resolve) => setTimeout(resolve, 850))
  expect(await stage.call('notes.say')).toBe('fine')
  expect([server.refused, brief.issued.length]).toEqual([0, 2])
})

test('a server may have another scope and no name at the authorization server', async () => {
  const accepts = (token: string): Promise<boolean> => issuer.accepts(token)
  server.protection = { issuer: issuer.url, accepts }
  const auth = { clientSecret: SECRET, scope: 'notes.write', omitResource: true }
  await stage.host.initialize({ servers: { notes: configured(auth) } })
  expect(await stage.call('notes.say')).toBe('fine')
  expect(issuer.asked[0]?.toString()).toBe('grant_type=client_credentials&scope=notes.write')
})

describe('a login fails with its reason and without the secret', () => {
  test.each<[string, Partial<ClientCredentialsAuthConfig>, string]>([
    [
      'of a wrong secret',
      { clientSecret: 'a-wrong-secret' },
      'gave no token: client authentication failed',
    ],
    [
      'of a key that is not there',
      { privateKeyFile: '/nowhere/key.pem' },
      'the key file /nowhere/key.pem does not exist',
    ],
  ])('%s', async (_, auth, reason) => {
    await stage.host.initialize({ servers: { notes: configured(auth) } }).catch(() => undefined)
    const shown = JSON.stringify([stage.find('notes').error?.message, stage.logged])
    expect(shown).toContain(`the authorization server ${issuer.url}`)
    expect(shown).toContain(reason)
    expect(shown).not.toContain('a-wrong-secret')
  })
})

describe('a server cannot get the credentials', () => {
  test('for another authorization server', async () => {
    await using thief = await AuthorizationServer.open({ clients: [client] })
    server.protection = { issuer: thief.url, accepts: (...token) => thief.accepts(...token) }
    const refused = stage.host.initialize({ servers: { notes: configured() } })
    await expect(refused).rejects.toThrow('401')
    expect(thief.asked).toEqual([])
  })

  test('for the token of another server', async () => {
    const { origin } = new URL(server.url)
    const victim = await HttpServer.open({})
    Object.defineProperty(server, 'url', { value: victim.url })
    const config = { ...configured(), url: `${origin}/mcp` }
    const refused = stage.host.initialize({ servers: { notes: config } })
    await expect(refused).rejects.toThrow(`says that it is ${victim.url}`)
    expect(issuer.asked).toEqual([])
  })

  test.each(['http', 'https'])(
    'nor make the host read an internal address by %s',
    async (scheme) => {
      let connections = 0
      const internal = createServer().on('connection', () => (connections += 1))
      await new Promise<void>((resolve) => internal.listen(0, resolve))
      const { port } = internal.address() as AddressInfo
      server.challenge = `Bearer resource_metadata="${scheme}://localhost:${port}/x"`
      server.protection = { issuer: issuer.url, accepts: async () => false }
      await stage.host.initialize({ servers: { notes: configured() } }).catch(() => undefined)
      expect(issuer.asked.length).toBeGreaterThan(0)
      expect(connections).toBe(0)
      internal.close()
    },
  )
})
