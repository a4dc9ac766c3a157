// Browsers and programs that authenticate at an identity provider: two gateways behind a load balancer, a real provider.
import { execFile } from 'node:child_process'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { IdentityProvider, Stack, TcpProxy } from '@mcp-host/testkit'
import {
  badTokens,
  ChatSocket,
  eventually,
  FormBrowser,
  startIdentityProvider,
  startStack,
  startTcpProxy,
} from '@mcp-host/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const SECRET = 'client-secret-of-the-host'
const run = promisify(execFile)
const stackOf = new AsyncDisposableStack()

let proxy: TcpProxy
let idp: IdentityProvider
let stack: Stack
/** The address of the load balancer. */
let url: string
let otherGateway: string

beforeAll(async () => {
  proxy = stackOf.use(await startTcpProxy())
  url = proxy.url
  idp = stackOf.use(
    await startIdentityProvider({
      clientId: 'mcp-host',
      clientSecret: SECRET,
      redirect: `${url}/auth/callback`,
      afterLogout: `${url}/logout`,
    }),
  )
  stack = stackOf.use(
    await startStack({
      env: {
        AUTH: 'oidc,keys',
        PUBLIC_URL: url,
        OIDC_ISSUER: idp.url,
        OIDC_CLIENT_ID: 'mcp-host',
        OIDC_CLIENT_SECRET: SECRET,
        OIDC_ROLES_CLAIM: 'realm_access.roles',
        OIDC_TOKEN_TYPE: 'at+jwt',
      },
    }),
  )
  otherGateway = (await stack.add('gateway')).url
  proxy.route(stack.url, otherGateway)
}, 120_000)
afterAll(() => stackOf.disposeAsync())

const newBrowser = () => new FormBrowser(url, idp.url)

/** Logs in at the provider, from the page of this host that needs it. */
async function logIn(browser: FormBrowser, name: string, path = '/login') {
  const form = await browser.open(url + path)
  expect(form.url).toContain(idp.url)
  const consent = await browser.submit(form, { login: name, password: 'any' })
  return browser.submit(consent, {})
}

/** Runs `npm run accounts`; resolves with its output. */
async function command(...args: string[]): Promise<string> {
  const program = join(import.meta.dirname, '..', 'tools', 'accounts.ts')
  const all = [program, ...args, '--nats', stack.broker.url]
  const { stdout } = await run(process.execPath, all, {
    cwd: dirname(stack.mcpJson),
    env: { PATH: process.env['PATH'], ...stack.broker.env },
  })
  return stdout
}

async function me(browser: FormBrowser, gateway = url) {
  const response = await fetch(`${gateway}/api/me`, { headers: { cookie: browser.cookies() } })
  return { status: response.status, value: (await response.json()) as Record<string, unknown> }
}

async function statusOf(token: string, path = '/api/me', gateway = url) {
  const headers = { authorization: `Bearer ${token}` }
  const response = await fetch(gateway + path, { headers })
  await response.body?.cancel()
  return { status: response.status, challenge: response.headers.get('www-authenticate') ?? '' }
}

describe('a browser', () => {
  test('logs in at the provider, with the roles that the provider gives', async () => {
    const browser = newBrowser()
    const done = await logIn(browser, 'ann')
    expect(done.text).toContain('You are logged in')
    for (const gateway of [stack.url, otherGateway]) {
      const { value } = await me(browser, gateway)
      expect(value).toMatchObject({ id: 'oidc:ann', issuer: idp.url, roles: ['reader'] })
    }
    const admin = newBrowser()
    await logIn(admin, 'root')
    expect((await me(admin)).value).toMatchObject({ id: 'oidc:root', roles: ['admin'] })
    const asAdmin = await fetch(`${url}/api/keys`, { headers: { cookie: admin.cookies() } })
    expect(asAdmin.status).toBe(200)
    const asUser = await fetch(`${url}/api/keys`, { headers: { cookie: browser.cookies() } })
    expect(asUser.status).toBe(403)
  })

  test('comes back to the page that it wanted', async () => {
    const page = await logIn(newBrowser(), 'ann', '/login?return=%2Fapi%2Fme')
    expect([page.url, page.text]).toEqual([`${url}/api/me`, expect.stringContaining('oidc:ann')])
  })

  test('comes back to another gateway, when the first one was killed meanwhile', async () => {
    const browser = newBrowser()
    proxy.route(stack.url)
    const form = await browser.open(`${url}/login`)
    await stack.kill('gateway')
    proxy.route(stack.url, otherGateway)
    const done = await browser.submit(
      await browser.submit(form, { login: 'ann', password: 'any' }),
      {},
    )
    expect(done.text).toContain('You are logged in')
    await stack.restart('gateway')
    for (let round = 0; round < 4; round++) expect((await me(browser)).status).toBe(200)
  })

  test('opens a socket with its login, which closes when the login ends', async () => {
    const browser = newBrowser()
    await logIn(browser, 'ann')
    const headers = { cookie: browser.cookies(), origin: url }
    using chat = await ChatSocket.open({ url: otherGateway, headers })
    const { ticket } = (await (
      await fetch(`${url}/api/tickets`, { method: 'POST', headers })
    ).json()) as { ticket: string }
    const byTicket = new WebSocket(`${stack.url.replace('http', 'ws')}/ws?ticket=${ticket}`)
    const closed = new Promise<number>((resolve) =>
      byTicket.addEventListener('close', ({ code }) => resolve(code)),
    )
    await new Promise((resolve) => byTicket.addEventListener('open', resolve))
    await logOut(browser)
    await eventually(() => chat.closed !== undefined, { limitMs: 5_000 })
    expect([chat.closed?.code, await closed]).toEqual([1008, 1008])
  })

  test('is logged out by a command, at all gateways', async () => {
    const browser = newBrowser()
    await logIn(browser, 'dan')
    const { value } = await me(browser, otherGateway)
    const said = await command('sign-out', String(value['id']))
    expect(said).toContain('logins of browsers that ended: 1\noidc:dan is logged out')
    expect(said).toContain('stay good')
    expect(said).toContain('npm run accounts -- disable oidc:dan')
    for (const gateway of [url, otherGateway]) {
      await eventually(async () => (await me(browser, gateway)).status === 401)
    }
  })

  test('is refused with all that stands for its user while the user is disabled', async () => {
    const browser = newBrowser()
    await logIn(browser, 'root')
    const post = async (path: string, body: object) => {
      const headers = { cookie: browser.cookies(), origin: url, 'content-type': 'application/json' }
      const init = { method: 'POST', headers, body: JSON.stringify(body) }
      return (await (await fetch(url + path, init)).json()) as Record<string, string>
    }
    const { key = '' } = await post('/api/keys', { name: 'of root', roles: ['admin'] })
    const { sessionId } = await post('/api/chat/session', { title: 'shared' })
    const { url: share = '' } = await post(`/api/chat/session/${sessionId}/shares`, {})
    const now = Math.floor(Date.now() / 1_000)
    const claims = { iss: idp.url, aud: `${url}/mcp`, sub: 'root', iat: now, exp: now + 300 }
    const token = await idp.sign(claims)
    const statuses = async (gateway: string) => [
      (await me(browser, gateway)).status,
      (await statusOf(token, '/api/me', gateway)).status,
      (await statusOf(key, '/api/me', gateway)).status,
      (await fetch(gateway + new URL(share).pathname)).status,
    ]
    const become = async (...expected: number[]) => {
      for (const gateway of [stack.url, otherGateway]) {
        await eventually(async () => String(await statuses(gateway)) === String(expected))
      }
    }
    await become(200, 200, 200, 200)
    expect(await command('disable', 'oidc:root')).toContain('oidc:root is disabled')
    await become(401, 401, 401, 404)
    const refused = await logIn(newBrowser(), 'root')
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('is disabled')])
    expect(await command('list')).toMatch(/oidc:root +disabled/)
    await command('enable', 'oidc:root')
    // The login of the browser has ended for good.
    await become(401, 200, 200, 200)
    expect((await logIn(newBrowser(), 'root')).text).toContain('You are logged in')
  })

  test('is logged out at all gateways, and at the provider', async () => {
    const browser = newBrowser()
    await logIn(browser, 'ann')
    const old = browser.cookies()
    const done = await logOut(browser)
    expect([done.url, done.text]).toEqual([
      expect.stringContaining(`${url}/logout`),
      expect.stringContaining('You are logged out'),
    ])
    for (const gateway of [stack.url, otherGateway]) {
      await eventually(async () => {
        const response = await fetch(`${gateway}/api/me`, { headers: { cookie: old } })
        return response.status === 401
      })
    }
    // The provider asks for the password again.
    expect((await browser.open(`${url}/login`)).text).toContain('name="password"')
  })
})

async function logOut(browser: FormBrowser) {
  const page = await browser.open(`${url}/login`)
  expect(page.headers.get('content-security-policy')).toContain(`form-action 'self' ${idp.url}`)
  return browser.submit(await browser.submit(page, {}), { logout: 'yes' })
}

test('the way to the provider has a challenge of PKCE', async () => {
  const begun = await fetch(`${url}/login/oidc`, { redirect: 'manual' })
  const { searchParams } = new URL(begun.headers.get('location') ?? '')
  expect(Object.fromEntries(searchParams)).toMatchObject({
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge_method: 'S256',
  })
})

describe('the way back from the provider', () => {
  /** Stops before the browser goes back to this host. */
  async function callbackOf(browser: FormBrowser): Promise<string> {
    const toProvider = new FormBrowser(idp.url)
    const begun = await fetch(`${url}/login/oidc`, { redirect: 'manual' })
    browser.keep(begun.headers.getSetCookie())
    const form = await toProvider.open(begun.headers.get('location') ?? '')
    await toProvider.submit(await toProvider.submit(form, { login: 'eve', password: 'x' }), {})
    return toProvider.leftFor ?? ''
  }

  test('is good once, and only in the browser that began it', async () => {
    const browser = newBrowser()
    const address = await callbackOf(browser)
    expect(address).toContain(`${url}/auth/callback?`)
    const foreign = await newBrowser().open(address)
    expect([foreign.status, foreign.text]).toEqual([403, expect.stringContaining('not begun')])
    expect((await browser.open(address)).text).toContain('You are logged in')
    const again = await browser.open(address)
    expect([again.status, again.text]).toEqual([403, expect.stringContaining('used already')])
  })

  test.each([
    ['without a state', (query: URLSearchParams) => query.delete('state')],
    ['with another state', (query: URLSearchParams) => query.set('state', 'x'.repeat(43))],
    ['without a code', (query: URLSearchParams) => query.delete('code')],
    ['with another code', (query: URLSearchParams) => query.set('code', 'x'.repeat(43))],
    ['of another issuer', (query: URLSearchParams) => query.set('iss', 'https://evil.example')],
    ['without the issuer that is announced', (query: URLSearchParams) => query.delete('iss')],
    ['with two issuers', (query: URLSearchParams) => query.append('iss', 'https://evil.example')],
    ['with an error', (query: URLSearchParams) => query.set('error', 'access_denied')],
  ])('%s logs nobody in', async (_, change) => {
    const browser = newBrowser()
    const address = new URL(await callbackOf(browser))
    change(address.searchParams)
    const page = await browser.open(address.href)
    expect([page.status, page.text]).toEqual([
      403,
      expect.stringContaining('You are not logged in'),
    ])
    expect((await me(browser)).status).toBe(401)
  })

  test('with two states logs nobody in', async () => {
    const browser = newBrowser()
    const page = await browser.open(`${await callbackOf(browser)}&state=x`)
    expect(page.status).toBe(400)
    expect((await me(browser)).status).toBe(401)
  })

  test('never leads to another site', async () => {
    const page = await logIn(newBrowser(), 'ann', '/login?return=https%3A%2F%2Fevil.example')
    expect(page.url).toBe(`${url}/login`)
  })
})

describe('a bearer token of the provider', () => {
  test('names its principal at all gateways, at the resource that it is for', async () => {
    const token = await idp.token(`${url}/mcp`)
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
    expect(claims).toMatchObject({ iss: idp.url, aud: `${url}/mcp` })
    for (const gateway of [stack.url, otherGateway]) {
      expect(await statusOf(token, '/api/keys', gateway)).toMatchObject({ status: 200 })
    }
    const narrow = await statusOf(await idp.token(`${url}/mcp`, 'mcp'), '/api/keys')
    expect(narrow.status).toBe(403)
    expect(narrow.challenge).toContain('error="insufficient_scope"')
    expect(narrow.challenge).toContain('scope="admin"')
    const foreign = await statusOf(await idp.token('https://other.example/mcp'))
    expect(foreign.status).toBe(401)
    expect(foreign.challenge).toContain('error="invalid_token"')
    expect(foreign.challenge).toContain('resource_metadata="')
  })

  test('that a test signs with the key of the provider is good', async () => {
    const now = Math.floor(Date.now() / 1_000)
    const claims = { iss: idp.url, aud: `${url}/mcp`, sub: 'ann', iat: now, exp: now + 300 }
    expect((await statusOf(await idp.sign(claims))).status).toBe(200)
  })

  // A header cannot be as large.
  const forged = badTokens(
    () => idp,
    () => `${url}/mcp`,
  ).filter(([what]) => what !== 'a token of 20 KB')
  test.each(forged)('is refused where it is %s', async (_, make) => {
    const token = await make()
    for (const path of ['/api/me', '/mcp']) {
      const { status, challenge } = await statusOf(token, path)
      expect([status, challenge]).toEqual([401, expect.stringMatching(/^Bearer /)])
      expect(challenge).toContain('error="invalid_token"')
      expect(challenge).toContain('/.well-known/oauth-protected-resource')
    }
  })

  test('is refused once its key is gone, and one of the next key is good at once', async () => {
    const old = await idp.token(`${url}/mcp`)
    expect((await statusOf(old, '/api/me', stack.url)).status).toBe(200)
    await idp.rotate()
    const next = await idp.token(`${url}/mcp`)
    await eventually(async () => (await statusOf(next, '/api/me', stack.url)).status === 200, {
      limitMs: 5_000,
    })
    expect(await statusOf(old, '/api/me', stack.url)).toMatchObject({ status: 401 })
    // Logins of browsers go on, and new ones are checked by the new key.
    expect((await logIn(newBrowser(), 'ann')).text).toContain('You are logged in')
  })
})

test('logins and refusals are in the audit log, and no secret is in any log', async () => {
  const program = join(import.meta.dirname, '..', 'tools', 'audit.ts')
  const entries = async () => {
    const args = [program, 'export', '--nats', stack.broker.url]
    const { stdout } = await run(process.execPath, args, {
      cwd: dirname(stack.mcpJson),
      env: { PATH: process.env['PATH'], ...stack.broker.env },
    })
    return stdout
  }
  await eventually(async () => {
    const text = await entries()
    return text.includes('"principal":"oidc:ann"') && text.includes('/auth/callback')
  })
  for (const text of [await entries(), await stack.log('gateway')]) {
    expect(text).not.toContain(SECRET)
    expect(text).not.toContain('eyJ')
  }
})

test('a provider that is away is told as that: 503, and never a refusal', async () => {
  const token = await idp.sign({ iss: idp.url })
  await idp[Symbol.asyncDispose]()
  // Those from before know its addresses already.
  await stack.stop('gateway')
  await stack.restart('gateway')
  const fresh = stack.url
  proxy.reset(fresh)
  const isReached = () => fetch(`${url}/ready`).then(({ ok }) => ok)
  await eventually(() => isReached().catch(() => false))
  const begun = await new FormBrowser(url).open(`${url}/login`)
  expect([begun.status, begun.text]).toEqual([503, expect.stringContaining('does not answer')])
  expect(begun.headers.get('retry-after')).not.toBeNull()
  expect((await statusOf(token, '/api/me', fresh)).status).toBe(503)
})
