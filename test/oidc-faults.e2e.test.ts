// An identity provider that misbehaves: whatever it answers, nobody is logged in, and the user is told which side failed.
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Guardian } from '@mcp-host/process'
import type { MutableResponse, MutableToken } from 'oauth2-mock-server'
import { OAuth2Server } from 'oauth2-mock-server'
import type { Page, TcpProxy } from '@mcp-host/testkit'
import {
  eventually,
  FormBrowser,
  startGateways,
  startTcpProxy,
  testFolder,
} from '@mcp-host/testkit'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'

const stackOf = new AsyncDisposableStack()
const idp = new OAuth2Server()
const { service, issuer } = idp

let proxy: TcpProxy
let url: string
/** Answers in place of the provider's token endpoint and key set. */
let fault: ((response: ServerResponse) => void) | undefined

/** Stands before the endpoints that the gateway calls itself. */
const front = createServer((request, response) => {
  if (fault !== undefined) return fault(response)
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    void (async () => {
      const { method = 'GET', headers } = request
      const answer = await fetch(`${issuer.url}${request.url}`, {
        method,
        headers: { 'content-type': headers['content-type'] ?? 'text/plain' },
        ...(method === 'GET' ? {} : { body: Buffer.concat(chunks) }),
      })
      response.writeHead(answer.status, { 'content-type': 'application/json' })
      response.end(await answer.text())
    })()
  })
})

beforeAll(async () => {
  await issuer.keys.generate('RS256')
  await idp.start(0, '127.0.0.1')
  stackOf.defer(() => idp.stop())
  front.listen(0, '127.0.0.1')
  await once(front, 'listening')
  stackOf.defer(() => {
    front.close()
    front.closeAllConnections()
  })
  const frontUrl = `http://127.0.0.1:${(front.address() as AddressInfo).port}`
  service.on('beforeWellKnownOpenIdConfiguration', ({ body }: MutableResponse) =>
    Object.assign(body, { token_endpoint: `${frontUrl}/token`, jwks_uri: `${frontUrl}/jwks` }),
  )
  proxy = stackOf.use(await startTcpProxy())
  url = proxy.url
  const folder = stackOf.use(await testFolder()).path
  const guardian = stackOf.use(new Guardian())
  const gateways = stackOf.use(
    await startGateways({
      folder,
      guardian,
      servers: {},
      env: {
        AUTH: 'oidc',
        PUBLIC_URL: url,
        OIDC_ISSUER: issuer.url ?? '',
        OIDC_CLIENT_ID: 'mcp-host',
        OIDC_CLIENT_SECRET: 'secret-of-the-client',
      },
    }),
  )
  proxy.route(...gateways.urls)
}, 120_000)
afterAll(() => stackOf.disposeAsync())
afterEach(() => {
  fault = undefined
})

/** Logs in at the provider, which does not ask, and comes back. */
async function logIn(): Promise<Page> {
  const browser = new FormBrowser(url, issuer.url ?? '')
  const page = await browser.open(`${url}/login`)
  const me = await fetch(`${url}/api/me`, { headers: { cookie: browser.cookies() } })
  const isLoggedIn = page.text.includes('You are logged in')
  // What the page says is what is so.
  expect([me.status, page.text]).toEqual([isLoggedIn ? 200 : 401, expect.any(String)])
  return page
}

/** Changes the tokens of the next login; the second of two is the id token. */
function withIdToken(change: (token: MutableToken) => void): Disposable {
  let count = 0
  const listener = (token: MutableToken): void => {
    if (++count === 2) change(token)
  }
  service.on('beforeTokenSigning', listener)
  return { [Symbol.dispose]: () => service.off('beforeTokenSigning', listener) }
}

/** Changes an answer of the next login. */
function atNext(event: string, change: (value: MutableResponse) => void): void {
  service.once(event, change)
}

const now = (): number => Math.floor(Date.now() / 1_000)

test('a provider that behaves logs in', async () => {
  const page = await logIn()
  expect([page.status, page.text]).toEqual([200, expect.stringContaining('oidc:johndoe')])
})

describe('an id token', () => {
  test.each<[string, (token: MutableToken) => void]>([
    ['with another nonce', ({ payload }) => void (payload['nonce'] = 'another')],
    ['without a nonce', ({ payload }) => void delete payload['nonce']],
    ['for another client', ({ payload }) => void (payload['aud'] = 'another')],
    ['of another issuer', ({ payload }) => void (payload['iss'] = 'https://evil.example')],
    ['that has expired', ({ payload }) => void (payload['exp'] = now() - 3_600)],
    ['without an expiry', ({ payload }) => void delete (payload as { exp?: number }).exp],
    ['of tomorrow', ({ payload }) => void (payload['nbf'] = now() + 86_400)],
    [
      'for several clients without the one it is for',
      ({ payload }) => {
        payload['aud'] = ['mcp-host', 'another']
      },
    ],
    ['without a user', ({ payload }) => void delete payload['sub']],
    ['whose user is no text', ({ payload }) => void (payload['sub'] = ['root'])],
    ['whose user has white space', ({ payload }) => void (payload['sub'] = 'ann admin')],
  ])('%s logs nobody in', async (_, change) => {
    using _changed = withIdToken(change)
    const page = await logIn()
    expect([page.status, page.text]).toEqual([403, expect.stringContaining('not logged in')])
  })

  test.each<[string, (token: string) => string | undefined]>([
    ['that is missing', () => undefined],
    ['that is no token', () => 'hello'],
    ['that is not signed', (token) => `${unsignedHead()}.${token.split('.')[1]}.`],
    [
      'that was changed after it was signed',
      (token) => {
        const [head, body = '', signature] = token.split('.')
        const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as object
        const changed = Buffer.from(JSON.stringify({ ...claims, roles: ['admin'] }))
        return `${head}.${changed.toString('base64url')}.${signature}`
      },
    ],
  ])('%s logs nobody in', async (_, change) => {
    atNext('beforeResponse', (response) => {
      const body = response.body as Record<string, unknown>
      body['id_token'] = change(String(body['id_token']))
    })
    const page = await logIn()
    expect([page.status, page.text]).toEqual([403, expect.stringContaining('not logged in')])
  })
})

function unsignedHead(): string {
  return Buffer.from(JSON.stringify({ alg: 'none', typ: 'JWT' })).toString('base64url')
}

describe('an answer of the provider', () => {
  test.each([
    ['400 invalid_grant', 400, { error: 'invalid_grant' }, 403],
    ['401 invalid_client', 401, { error: 'invalid_client' }, 403],
    ['400 with a script as its reason', 400, { error: '<script>alert(1)</script>' }, 403],
    ['500', 500, { error: 'server_error' }, 503],
    ['503', 503, {}, 503],
  ])('%s to the code logs nobody in', async (_, statusCode, body, expected) => {
    atNext('beforeResponse', (response) => {
      response.statusCode = statusCode
      response.body = body
    })
    const page = await logIn()
    expect(page.status).toBe(expected)
    expect(page.text).not.toContain('<script')
  })

  test.each<[string, (response: ServerResponse) => void]>([
    ['that is a page', (response) => response.writeHead(200).end('<html>')],
    ['that is cut JSON', (response) => json(response).end('{"access_token":')],
    ['of 5 MB', (response) => json(response).end(`{"pad":"${'x'.repeat(5_000_000)}"}`)],
    [
      'that leads elsewhere',
      (response) => {
        response.writeHead(307, { location: 'http://127.0.0.1:9/' }).end()
      },
    ],
    ['that breaks off', (response) => response.destroy()],
    ['that does not come', () => undefined],
  ])('%s is told as the fault of the provider', async (_, answer) => {
    fault = answer
    const page = await logIn()
    expect([page.status, page.text]).toEqual([503, expect.stringContaining('does not answer')])
    expect(page.headers.get('retry-after')).not.toBeNull()
  })

  test('about the user that is of another user logs nobody in', async () => {
    atNext('beforeUserinfo', (response) => {
      response.body = { sub: 'root', roles: ['admin'] }
    })
    expect((await logIn()).status).toBe(403)
  })

  test('about the user may give the roles', async () => {
    atNext('beforeUserinfo', (response) => {
      response.body = { sub: 'johndoe', roles: ['auditor'] }
    })
    const browser = new FormBrowser(url, issuer.url ?? '')
    await browser.open(`${url}/login`)
    const me = await fetch(`${url}/api/me`, { headers: { cookie: browser.cookies() } })
    expect(await me.json()).toMatchObject({ id: 'oidc:johndoe', roles: ['auditor'] })
  })
})

function json(response: ServerResponse): ServerResponse {
  return response.writeHead(200, { 'content-type': 'application/json' })
}

describe('a redirect of the provider', () => {
  test.each<[string, (query: URLSearchParams) => void, number]>([
    ['with another issuer', (query) => query.set('iss', 'https://evil.example'), 403],
    ['with another state', (query) => query.set('state', 'another'), 403],
    ['that says no', (query) => query.set('error', 'access_denied'), 403],
    ['that is not ready', (query) => query.set('error', 'temporarily_unavailable'), 503],
  ])('%s logs nobody in', async (_, change, expected) => {
    service.once('beforeAuthorizeRedirect', ({ url: { searchParams } }: { url: URL }) =>
      change(searchParams),
    )
    expect((await logIn()).status).toBe(expected)
  })
})

test('after many failed logins an address is refused for a while', async () => {
  const statuses = new Set<number>()
  for (let round = 0; round < 60; round++) {
    const response = await fetch(`${url}/auth/callback?state=x&code=y`)
    await response.body?.cancel()
    statuses.add(response.status)
  }
  expect(Array.from(statuses)).toEqual([403, 429])
  await eventually(async () => (await logIn()).status === 429)
})
