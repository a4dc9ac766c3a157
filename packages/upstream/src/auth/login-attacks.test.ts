// Attacks on logins at a public server, by what it and its authorization server say about themselves.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { AuthorizationServerMetadata } from '@modelcontextprotocol/client'
import { listenForTest } from '@mcp-host/mcp-testkit'
import { expect, test } from 'vitest'

import { authFetch } from './auth-fetch.ts'
import { findAuthorizationServer, resourceOf } from './oauth/authorization-server.ts'
import { beginLogin, clientAt, finishLogin, refreshLogin } from './oauth/login.ts'

const url = 'https://notes.example/mcp'
const issuer = 'https://login.example.com'
const fetchFn = authFetch({ proxyFor: () => undefined }, [url])
const metadata: AuthorizationServerMetadata = {
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  response_types_supported: ['code'],
  code_challenge_methods_supported: ['S256'],
}
const client = { client_id: 'a' }

/** A service of this machine. Returns its port and the requests that it got. */
async function openInternalService() {
  const reached: string[] = []
  const server = createServer((request, response) => {
    reached.push(request.url ?? '')
    response.end('{}')
  })
  await listenForTest(server)
  return { port: (server.address() as AddressInfo).port, reached }
}

const INTERNAL = [
  'http://127.0.0.1:PORT/',
  'https://127.0.0.1:PORT/',
  'https://2130706433:PORT/',
  'https://0x7f.1:PORT/',
  'https://0.0.0.0:PORT/',
  'https://localhost:PORT/',
  'https://localhost.:PORT/',
  'https://[::1]:PORT/',
  'https://[::]:PORT/',
  'https://[::ffff:127.0.0.1]:PORT/',
  'https://[64:ff9b::7f00:1]:PORT/',
  'https://[fd00::1]/',
  'https://[fe80::1]/',
  'https://10.0.0.1/',
  'https://172.16.0.1/',
  'https://192.168.0.1/',
  'https://100.64.0.1/',
  'https://169.254.169.254/latest/meta-data/',
  'http://169.254.169.254/latest/meta-data/',
  'file:///etc/passwd',
  'ftp://127.0.0.1:PORT/',
  'data:application/json,{}',
  'unix:/var/run/docker.sock',
]

test.each(INTERNAL)('no address that a public server names leads to %s', async (address) => {
  const { port, reached } = await openInternalService()
  const there = address.replace('PORT', `${port}`)
  const refusal = /only https|no public address|ENOTFOUND/
  const challenge = { resourceMetadataUrl: new URL(there) }
  await expect(resourceOf({ url, challenge, fetchFn })).rejects.toThrow(refusal)
  const server = { url, challenge: {}, fetchFn }
  await expect(findAuthorizationServer(server, [there])).rejects.toThrow(
    /only https|no public address|ENOTFOUND|publishes no metadata|Invalid URL/,
  )
  const registering = { ...metadata, registration_endpoint: there }
  const me = { redirectUrl: 'https://me.example/back', name: 'Notes' }
  await expect(clientAt({ issuer, metadata: registering }, me, fetchFn)).rejects.toThrow(refusal)
  const at = { issuer, metadata: { ...metadata, token_endpoint: there } }
  const tokens = { access_token: 'x', token_type: 'Bearer' }
  const refused = /only https|no public address|ENOTFOUND|HTTPS|secure/i
  await expect(refreshLogin(at, { issuer, client, tokens }, 'y', fetchFn)).rejects.toThrow(refused)
  const pending = { issuer, client, redirectUrl: me.redirectUrl, state: 's', verifier: 'v' }
  const back = new URL('https://me.example/back?state=s&code=c')
  await expect(finishLogin(at, pending, back, fetchFn)).rejects.toThrow(refused)
  expect(reached).toEqual([])
})

test.each([
  'http://127.0.0.1:8080/admin',
  'http://localhost:8080/admin',
  'http://[::1]:8080/admin',
])('the browser of a user is not sent from a public server to %s', async (page) => {
  const at = { issuer, metadata: { ...metadata, authorization_endpoint: page } }
  const wanted = { scope: undefined, resource: undefined }
  await expect(beginLogin(at, client, 'https://me.example', wanted)).rejects.toThrow(
    'has its page for logins at',
  )
})
