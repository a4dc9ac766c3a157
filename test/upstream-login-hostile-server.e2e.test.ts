// Attacks of MCP servers and authorization servers on the logins of users: what they make the host fetch, keep and send.
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { eventually, leaveFor, testFolder } from '@mcp-host/testkit'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { HostileLoginServer } from './hostile-login-server.ts'
import type { LoginStage } from './upstream-login-stage.ts'
import { callTool, loginsOf, openLoginStage } from './upstream-login-stage.ts'

const cleanup = new AsyncDisposableStack()
let stage: LoginStage
let url: string
let evil: HostileLoginServer
/** The port of an internal service that no login may reach, and the requests that did. */
let internal: number
const reached: string[] = []
let brokerFolder: string

beforeAll(async () => {
  const service = createServer((request, response) => {
    reached.push(request.url ?? '')
    response.end('{}')
  }).listen(0)
  await once(service, 'listening')
  cleanup.defer(() => void service.close())
  internal = (service.address() as AddressInfo).port
  evil = cleanup.use(await HostileLoginServer.open())
  brokerFolder = cleanup.use(await testFolder()).path
  stage = cleanup.use(await openLoginStage({ evil: evil.entry }, { brokerFolder }))
  ;({ url } = stage)
}, 120_000)
afterAll(() => cleanup.disposeAsync())

beforeEach(() => {
  evil.reset()
  reached.length = 0
})

const link = (): string => `${url}/connect/evil`

/** Tries to begin a login. Returns the page, and where it leads. */
async function begin(): Promise<{ readonly text: string; readonly status: number; to: string }> {
  const { browser } = stage.ann
  const page = await browser.submit(await browser.open(link()), { decision: 'connect' })
  return { text: page.text, status: page.status, to: page.headers.get('refresh') ?? '' }
}

/** The address with which the authorization server would send the browser back. */
function answerTo(page: URL, more: Readonly<Record<string, string>> = {}): string {
  const back = new URL(page.searchParams.get('redirect_uri') ?? '')
  const state = page.searchParams.get('state') ?? ''
  for (const [name, value] of Object.entries({ code: 'code-canary', state, ...more })) {
    back.searchParams.set(name, value)
  }
  return back.href
}

const logIn = async () => {
  const { browser } = stage.ann
  return browser.open(answerTo(await leaveFor(link(), browser)))
}

const about = (metadata: string) => () => {
  evil.challenge = `Bearer resource_metadata="${metadata.replace('PORT', `${internal}`)}"`
}
const issuer = (more: () => object) => () => evil.describeIssuer(more())
const serviceAt = (host = 'localhost'): string => `http://${host}:${internal}/internal`

const REFUSED_BEGINNINGS: readonly (readonly [string, () => unknown, RegExp])[] = [
  ['metadata at an internal name', about('http://localhost:PORT/'), /only https/],
  ['metadata at an internal name with TLS', about('https://localhost:PORT/'), /no public address/],
  ['metadata at another loopback address', about('http://127.0.0.2:PORT/'), /only https/],
  ['metadata at an internal address of IPv6', about('http://[::1]:PORT/'), /only https/],
  ['metadata at a mapped address', about('https://[::ffff:127.0.0.1]:PORT/'), /no public address/],
  ['metadata at the service of a cloud', about('http://169.254.169.254/latest'), /only https/],
  ['metadata at the same with TLS', about('https://169.254.169.254/latest'), /no public address/],
  ['metadata at a private address', about('https://10.0.0.1/'), /no public address/],
  ['metadata in a file', about('file:///etc/passwd'), /only https/],
  ['metadata by FTP', about('ftp://127.0.0.1:PORT/'), /only https/],
  ['metadata in a data: address', about('data:application/json,{}'), /only https/],
  [
    'metadata behind a redirect',
    () => evil.answers.set('/about', redirect()) && about(`${evil.url}/about`)(),
    /302/,
  ],
  [
    'the metadata of another server',
    () => evil.describeServer({ resource: 'https://bank.example/mcp' }),
    /says that it is https:\/\/bank.example/,
  ],
  [
    'an authorization server at an internal address',
    () => evil.describeServer({ authorization_servers: [serviceAt()] }),
    /only https/,
  ],
  [
    'an authorization server that is a script',
    () => evil.describeServer({ authorization_servers: ['javascript:alert(1)'] }),
    /./,
  ],
  [
    'an authorization server behind a redirect',
    () => evil.answerMetadata(redirect()),
    /302|publishes no/,
  ],
  ['the issuer of somebody else', issuer(() => ({ issuer: 'https://bank.example' })), /ssuer/],
  ['no PKCE', issuer(() => ({ code_challenge_methods_supported: undefined })), /PKCE/],
  ['a weak PKCE alone', issuer(() => ({ code_challenge_methods_supported: ['plain'] })), /S256/],
  ['no codes', issuer(() => ({ response_types_supported: ['token'] })), /response type/],
  [
    'a login page that is a script',
    issuer(() => ({ authorization_endpoint: 'javascript:alert(1)' })),
    /./,
  ],
  [
    'a login page in a data: address',
    issuer(() => ({ authorization_endpoint: 'data:text/html,x' })),
    /./,
  ],
  [
    'a login page without TLS',
    issuer(() => ({ authorization_endpoint: 'http://a.example/' })),
    /http:/,
  ],
  [
    'a registration elsewhere',
    issuer(() => ({ registration_endpoint: serviceAt() })),
    /only https/,
  ],
  [
    'a registration behind a redirect',
    () => evil.answers.set('/register', redirect()),
    /302|egistr/,
  ],
  ['a registration without an id', () => evil.answers.set('/register', { body: {} }), /client_id/],
  [
    'metadata of a megabyte',
    () => evil.answerMetadata({ body: ' '.repeat(1_000_000) }),
    /too large/,
  ],
  ['metadata without an end', () => evil.answerMetadata({ isEndless: true }), /too large/],
  ['metadata that is a page', () => evil.answerMetadata({ body: '<script>x</script>' }), /JSON/],
  ['metadata that is a list', () => evil.answerMetadata({ body: [] }), /./],
]

const redirect = (status = 302) => ({ status, headers: { location: serviceAt('127.0.0.1') } })

describe('hostile metadata', () => {
  // The second login of a user in a row gets a new registration.
  beforeAll(() => begin())

  test.each(REFUSED_BEGINNINGS)(
    'no browser is sent to a server that names %s',
    async (_, attack, reason) => {
      await attack()
      const { status, text, to } = await begin()
      expect([status, to]).toEqual([503, ''])
      expect(text).toMatch(reason)
      expect(text).not.toMatch(/<script|href="(javascript|data):/)
      expect(text.length).toBeLessThan(16_000)
      expect(reached).toEqual([])
    },
  )
})

test('addresses that a login does not need are not fetched', async () => {
  const names = ['jwks_uri', 'userinfo_endpoint', 'introspection_endpoint', 'op_policy_uri']
  evil.describeIssuer(Object.fromEntries(names.map((name) => [name, serviceAt('127.0.0.1')])))
  evil.describeServer({ jwks_uri: serviceAt('127.0.0.1'), logo_uri: serviceAt('127.0.0.1') })
  expect((await begin()).status).toBe(200)
  expect(reached).toEqual([])
})

test('a registration does not choose the redirect address', async () => {
  const redirect_uris = ['https://evil.example/steal']
  evil.answers.set('/register', { status: 201, body: { client_id: 'a b&x=y', redirect_uris } })
  await begin()
  const page = await leaveFor(link(), stage.ann.browser)
  expect(evil.count('/register')).toBeGreaterThan(0)
  expect(page.searchParams.get('redirect_uri')).toBe(`${url}/connected/evil`)
  expect(page.searchParams.getAll('client_id')).toEqual(['a b&x=y'])
})

const tokens = (more: object) => () => {
  const body = { access_token: 'token-canary', token_type: 'Bearer', expires_in: 60, ...more }
  evil.answers.set('/token', { body })
}

const REFUSED_TOKENS: readonly (readonly [string, () => unknown, RegExp])[] = [
  ['at an internal address', issuer(() => ({ token_endpoint: serviceAt() })), /only https/],
  ['without TLS', issuer(() => ({ token_endpoint: 'http://a.example/' })), /https|TLS|nsecure/],
  ['behind a redirect', () => evil.answers.set('/token', redirect(302)), /302/],
  [
    'behind a redirect that repeats the request',
    () => evil.answers.set('/token', redirect(307)),
    /307/,
  ],
  ['for the issuer of somebody else', issuer(() => ({ issuer: 'https://bank.example' })), /ssuer/],
  ['of another type', tokens({ token_type: 'DPoP' }), /DPoP/],
  ['without a type', tokens({ token_type: undefined }), /token_type/],
  ['without a token', tokens({ access_token: undefined }), /access_token/],
  ['that are empty', tokens({ access_token: '' }), /no access token/],
  ['that are numbers', tokens({ access_token: 7 }), /access_token/],
  ['with a line break', tokens({ access_token: 'token-canary\r\nx-evil: 1' }), /no access token/],
  ['with a zero byte', tokens({ access_token: 'token-canary\0' }), /no access token/],
  ['with other characters', tokens({ access_token: 'token-canary-\u4e2d' }), /no access token/],
  ['that are a page', () => evil.answers.set('/token', { body: '<script>x</script>' }), /JSON/],
  [
    'with a page that is an error',
    () => evil.answers.set('/token', { status: 500, body: '<script>x</script>'.repeat(10_000) }),
    /500/,
  ],
  [
    'with a script in an error',
    () =>
      evil.answers.set('/token', {
        status: 400,
        body: { error: 'x', error_description: '<script>' },
      }),
    /&lt;script/,
  ],
  ['of a megabyte', tokens({ access_token: 'x'.repeat(1_000_000) }), /too large/],
  ['without an end', () => evil.answers.set('/token', { isEndless: true }), /too large/],
]

describe('hostile tokens', () => {
  beforeEach(async () => {
    const { headers } = stage.ann
    await fetch(`${url}/api/connections/evil/default`, { method: 'DELETE', headers })
    evil.reset()
  })

  test.each(REFUSED_TOKENS)('tokens %s complete no login', async (_, attack, reason) => {
    const page = await leaveFor(link(), stage.ann.browser)
    await attack()
    const { status, text } = await stage.ann.browser.open(answerTo(page))
    expect(text).toMatch(reason)
    expect(status).toBe(503)
    expect(text).not.toMatch(/<script|token-canary|code-canary/)
    expect(text.length).toBeLessThan(16_000)
    expect(reached).toEqual([])
    expect(await loginsOf(url, stage.ann, 'evil')).toEqual([])
  })

  test('tokens in the address of the answer complete no login', async () => {
    const page = await leaveFor(link(), stage.ann.browser)
    const back = answerTo(page, { access_token: 'token-canary', token_type: 'Bearer', code: '' })
    await stage.ann.browser.open(back.replace('code=&', ''))
    expect(await loginsOf(url, stage.ann, 'evil')).toEqual([])
  })
})

test('a server that demands scopes for ever gets one attempt for each call', async () => {
  evil.tokens.push('scope-canary')
  expect((await logIn()).status).toBe(200)
  // The server lists its tools once somebody has logged in.
  await eventually(async () => {
    const answer = await callTool(stage.ann, 'evil__whoami').catch(() => '')
    return answer.includes('scope-canary')
  })
  let demands = 0
  evil.demand = () => `read scope.${++demands}`
  const before = evil.presented.length
  for (let round = 0; round < 2; round += 1) {
    expect(await callTool(stage.ann, 'evil__whoami')).toContain('/connect/evil')
    expect((await logIn()).status).toBe(200)
  }
  expect(demands).toBeLessThan(10)
  expect(evil.presented.length - before).toBeLessThan(40)
}, 60_000)

test('no other authorization server gets the refresh token of a login', async () => {
  await using other = await HostileLoginServer.open()
  evil.answers.set('/token', {
    body: { access_token: 'issuer-canary', token_type: 'Bearer', refresh_token: 'refresh-canary' },
  })
  expect((await logIn()).status).toBe(200)
  expect(await callTool(stage.ann, 'evil__whoami')).toContain('issuer-canary')
  evil.describeServer({ authorization_servers: [other.url] })
  evil.isClosed = true
  expect(await callTool(stage.ann, 'evil__whoami')).toContain('/connect/evil')
  expect((await leaveFor(link(), stage.ann.browser)).origin).toBe(other.url)
  expect(other.asked.length).toBeGreaterThan(0)
  expect(JSON.stringify(other.asked)).not.toMatch(/canary/)
})

test('no token, code or secret of a login is in a log, metric, audit entry or file of the broker', async () => {
  const headers = { ...stage.ann.headers }
  const read = async (address: string, init = {}): Promise<string> =>
    (await fetch(address, init)).text()
  const files = await readdir(brokerFolder, { recursive: true, withFileTypes: true })
  const stored = await Promise.all(
    files
      .filter((file) => file.isFile())
      .map((file) => readFile(join(file.parentPath, file.name), 'latin1')),
  )
  const places: Readonly<Record<string, string>> = {
    logs: await stage.stack.logs(),
    audit: await read(`${url}/api/audit`, { headers }),
    connections: await read(`${url}/api/connections`, { headers }),
    metrics: await read(`${url}/metrics`, { headers }),
    'metrics of supervisors': await read(`${stage.stack.urlOf('mcp-supervisor')}/metrics`),
    broker: stored.join('\n'),
  }
  expect(places['broker']).toContain('user:ann')
  expect(places['audit']).toContain('evil')
  expect(places['metrics of supervisors']).toContain('evil')
  const names = ['token', 'scope', 'issuer', 'refresh', 'code']
  expect(evil.verifiers.length).toBeGreaterThan(5)
  const secrets = [...names.map((name) => `${name}-canary`), ...evil.verifiers]
  for (const [place, text] of Object.entries(places)) {
    for (const secret of secrets) expect(text.includes(secret), `${secret} in ${place}`).toBe(false)
  }
})
