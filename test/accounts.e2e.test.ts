// A host with accounts of its own: two gateways behind a load balancer, real forms, clients of both SDKs.
import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { chmod, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import {
  Client,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client'
import { UnauthorizedError as OldUnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Stack, TcpProxy } from '@mcp-host/testkit'
import {
  ChatSocket,
  createKey,
  eventually,
  FormBrowser,
  script,
  startStack,
  startTcpProxy,
  testDist,
  testFolder,
} from '@mcp-host/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findBroker } from '../tools/servers/find-broker.ts'
import { firstAdminLink } from '../tools/start/first-admin.ts'

const root = join(import.meta.dirname, '..')
/** The program that the image for operators runs. */
const commands = join(testDist() ?? '', 'tools', 'main.js')
const REDIRECT = 'http://127.0.0.1:9/callback'
const PASSWORD = 'correct horse battery'
const info = { name: 'test', version: '1.0.0' }
const inputSchema = { type: 'object', properties: { text: { type: 'string' } } }
const run = promisify(execFile)
const stackOf = new AsyncDisposableStack()

let proxy: TcpProxy
let stack: Stack
/** The address of the load balancer. */
let url: string
let otherGateway: string
let admin: FormBrowser

beforeAll(async () => {
  proxy = stackOf.use(await startTcpProxy())
  url = proxy.url
  stack = stackOf.use(
    await startStack({
      tools: ['echo'].map((name) => ({ name, inputSchema })),
      env: { AUTH: 'local,keys', PUBLIC_URL: url },
    }),
  )
  otherGateway = (await stack.add('gateway')).url
  proxy.route(stack.url, otherGateway)
}, 120_000)
afterAll(() => stackOf.disposeAsync())

/** The link of the first admin in the log. */
async function loggedLink(): Promise<string> {
  const links = (await stack.log('gateway')).match(/http:\S+\/invite\/[\w-]+/g) ?? []
  expect(links).toHaveLength(1)
  return links[0]!
}

/** Runs `npm run accounts`; resolves with its output. */
async function command(...args: string[]): Promise<string> {
  const all = [commands, 'accounts', ...args, '--nats', stack.broker.url]
  const { stdout } = await run(process.execPath, all, {
    cwd: dirname(stack.mcpJson),
    env: { PATH: process.env['PATH'], ...stack.broker.env, AUTH: 'local', PUBLIC_URL: url },
  })
  return stdout.trim()
}

async function json(path: string, { browser = admin, body, method, headers }: Ask = {}) {
  const response = await fetch(url + path, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: {
      cookie: browser.cookies(),
      origin: url,
      'content-type': 'application/json',
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, text, value: text === '' ? undefined : JSON.parse(text) }
}
interface Ask {
  readonly browser?: FormBrowser
  readonly body?: object
  readonly method?: string
  readonly headers?: Record<string, string>
}

/** A browser in which an account is logged in. */
async function loggedIn(name: string): Promise<FormBrowser> {
  const browser = new FormBrowser(url)
  const done = await browser.submit(await browser.open(`${url}/login`), {
    name,
    password: PASSWORD,
  })
  expect(done.text).toContain('You are logged in')
  return browser
}

/** Allows what a client asks for, after the login where that is needed. */
async function allow(browser: FormBrowser, address: string, name: string): Promise<URL> {
  browser.leftFor = undefined
  let page = await browser.open(address)
  if (page.text.includes('name="password"')) {
    page = await browser.submit(page, { name, password: PASSWORD })
  }
  await browser.submit(page, { decision: 'allow' })
  return new URL(browser.leftFor ?? 'about:blank')
}

/** What SDK clients keep and do, of both SDKs. */
class ClientState {
  readonly redirectUrl = REDIRECT
  readonly clientMetadata = {
    client_name: 'A test client',
    redirect_uris: [REDIRECT],
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
  }
  // The SDKs store objects of types of their own, which this class only returns.
  client: any
  stored: any
  verifier = ''
  authorizeUrl = ''

  clientInformation = () => this.client
  saveClientInformation = (client: unknown) => void (this.client = client)
  tokens = () => this.stored
  saveTokens = (tokens: unknown) => void (this.stored = tokens)
  redirectToAuthorization = (address: URL) => void (this.authorizeUrl = address.href)
  saveCodeVerifier = (verifier: string) => void (this.verifier = verifier)
  codeVerifier = () => this.verifier
}

test('the first admin is made by a link that works once, at any gateway', async () => {
  const old = await loggedLink()
  const before = await new FormBrowser(url).open(`${url}/login`)
  expect(before.text).toContain('This host has no account yet.')
  expect(before.text).not.toMatch(/name="password"|\/invite\//)
  // As `npm start` does, which shows its own one on the console.
  const env = { AUTH: 'local', PUBLIC_URL: url }
  const broker = findBroker(stack.broker.env, '/', stack.broker.url)
  const { link = '' } = await firstAdminLink(broker, env)
  expect((await new FormBrowser(url).open(old)).status).toBe(200)
  const second = new FormBrowser(url)
  admin = new FormBrowser(url)
  const form = await admin.open(link)
  expect(form.headers.get('content-security-policy')).toContain("default-src 'none'")
  const late = await second.open(link)
  const weak = await admin.submit(form, { name: 'Ann', password: 'short', again: 'short' })
  expect([weak.status, weak.text]).toEqual([400, expect.stringContaining('at least 10 characters')])
  const done = await admin.submit(weak, { name: 'Ann', password: PASSWORD, again: PASSWORD })
  expect(done.text).toContain('You are logged in')
  await eventually(async () => (await second.open(`${url}/login`)).text.includes('name="password"'))
  expect((await json('/api/me')).value).toMatchObject({ id: 'user:ann', roles: ['admin'] })
  const again = await second.submit(late, { name: 'eve', password: PASSWORD, again: PASSWORD })
  expect([again.status, again.text]).toEqual([404, expect.stringContaining('was used already')])
  expect((await new FormBrowser(url).open(old)).status).toBe(404)
  expect(await firstAdminLink(broker, env)).toEqual({})
})

test('the first admin alone has the sessions of the time without authentication in its list', async () => {
  const bus = await stack.broker.connect()
  // Without authentication, each client is this principal.
  const local = await createKey(bus, 'local', ['admin'])
  using chat = await ChatSocket.open({ url, headers: local })
  chat.send({ type: 'message', payload: { text: 'before there were accounts' } })
  await chat.turnsDone()
  const titles = async (headers: Record<string, string>): Promise<string[]> => {
    const { value } = await json('/api/chat/sessions', { browser: new FormBrowser(url), headers })
    return value.sessions.map(({ title }: { title: string }) => title)
  }
  const first = { cookie: admin.cookies() }
  await eventually(async () => (await titles(first)).length > 0)
  expect(await titles(first)).toEqual(['before there were accounts'])
  await json('/api/accounts', { body: { name: 'rob', roles: ['admin'] } })
  expect(await titles(await createKey(bus, 'user:rob', ['admin']))).toEqual([])
  expect(await titles(await createKey(bus, 'user:ann', ['user']))).toEqual([])
  expect(await titles(local)).toEqual(['before there were accounts'])
  const created = await eventually(async () => {
    const { value } = await json('/api/audit?action=account-created')
    return value.entries.length >= 2 ? value.entries : undefined
  })
  const details = created.map(({ detail }: { detail: object }) => detail)
  expect(details).toContainEqual({ account: 'ann', password: 'set', sessionsOf: 'local' })
  expect(details).toContainEqual({ account: 'rob', roles: ['admin'] })
})

describe('a client', () => {
  test('of the v2 SDK logs in, lists and calls a tool', async () => {
    const authProvider = new ClientState()
    const transport = () =>
      new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { authProvider })
    const client = new Client(info, { versionNegotiation: { mode: 'auto' } })
    const first = transport()
    await expect(client.connect(first)).rejects.toBeInstanceOf(UnauthorizedError)
    const back = await allow(new FormBrowser(url), authProvider.authorizeUrl, 'ann')
    await first.finishAuth(back.searchParams)
    const next = new Client(info, { versionNegotiation: { mode: 'auto' } })
    await next.connect(transport())
    expect((await next.listTools()).tools.map(({ name }) => name)).toEqual(['test__echo'])
    await next.callTool({ name: 'test__echo', arguments: { text: 'v2' } })
    await next.close()
  })

  test('of the v1 SDK logs in, lists and calls a tool', async () => {
    const authProvider = new ClientState()
    const transport = () => new OldTransport(new URL(`${url}/mcp`), { authProvider })
    const first = transport()
    await expect(new OldClient(info).connect(first)).rejects.toBeInstanceOf(OldUnauthorizedError)
    const back = await allow(new FormBrowser(url), authProvider.authorizeUrl, 'ann')
    await first.finishAuth(back.searchParams.get('code') ?? '')
    const client = new OldClient(info)
    await client.connect(transport())
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['test__echo'])
    await client.callTool({ name: 'test__echo', arguments: { text: 'v1' } })
    await client.close()
  })
})

/** Makes an account for a user and sets its password by its link. */
async function invite(name: string): Promise<FormBrowser> {
  const made = await json('/api/accounts', { body: { name } })
  expect(made.status).toBe(201)
  const browser = new FormBrowser(url)
  const form = await browser.open(made.value.invitation.url)
  await browser.submit(form, { password: PASSWORD, again: PASSWORD })
  return browser
}

/** An access token of a client that was registered and allowed for an account, with what belongs to it. */
async function connect(
  browser: FormBrowser,
  name: string,
  scope = 'mcp chat',
  resource = `${url}/mcp`,
) {
  const { value: client } = await json('/auth/register', {
    body: new ClientState().clientMetadata,
    browser,
  })
  const authorized = await authorize(browser, name, client.client_id, scope, resource)
  return { clientId: client.client_id as string, ...(await redeem(authorized)) }
}

async function authorize(
  browser: FormBrowser,
  name: string,
  clientId: string,
  scope: string,
  resource = `${url}/mcp`,
) {
  const verifier = randomBytes(32).toString('base64url')
  const query = new URLSearchParams({
    client_id: clientId,
    redirect_uri: REDIRECT,
    response_type: 'code',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    scope,
    resource,
  })
  const back = await allow(browser, `${url}/auth/authorize?${query.toString()}`, name)
  return { clientId, verifier, back, code: back.searchParams.get('code') ?? '' }
}

async function redeem({ clientId, verifier, code }: Awaited<ReturnType<typeof authorize>>) {
  return requestTokens({
    grant_type: 'authorization_code',
    client_id: clientId,
    redirect_uri: REDIRECT,
    code,
    code_verifier: verifier,
  })
}

const issuedTokens: string[] = []

async function requestTokens(about: Record<string, string>) {
  const body = new URLSearchParams(about)
  const response = await fetch(`${url}/auth/token`, { method: 'POST', body })
  const value = (await response.json()) as Record<string, string>
  const { access_token: access = '', refresh_token: refresh = '' } = value
  issuedTokens.push(...[access, refresh].filter((token) => token !== ''))
  return {
    status: response.status,
    error: value['error'],
    scope: value['scope'],
    access,
    refresh,
  }
}

async function statusOf(token: string, path = '/api/me'): Promise<number> {
  const response = await fetch(url + path, { headers: { authorization: `Bearer ${token}` } })
  await response.body?.cancel()
  return response.status
}

describe('a program that opens a browser to log in', () => {
  let env: Record<string, string | undefined>
  beforeAll(async () => {
    const folder = stackOf.use(await testFolder()).path
    const browser = join(folder, 'browser')
    const fixture = join(root, 'packages', 'testkit', 'fixtures', 'login-browser.ts')
    await writeFile(browser, `#!/bin/sh\nexec "${process.execPath}" "${fixture}" "$@"\n`)
    await chmod(browser, 0o755)
    env = {
      PATH: process.env['PATH'],
      HOME: folder,
      BROWSER: browser,
      LOGIN_NAME: 'ann',
      LOGIN_PASSWORD: PASSWORD,
      MCP_REMOTE_CONFIG_DIR: folder,
      MCP_AUTO_OPEN_ENABLED: 'true',
    }
  })

  test('mcp-remote lists and calls a tool', async () => {
    const program = join(root, 'node_modules', 'mcp-remote', 'dist', 'proxy.js')
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [program, `${url}/mcp`],
      env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, value ?? ''])),
      stderr: 'ignore',
    })
    const client = new OldClient(info)
    await client.connect(transport, { timeout: 60_000 })
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['test__echo'])
    await client.callTool({ name: 'test__echo', arguments: { text: 'remote' } })
    await client.close()
  }, 90_000)

  // Its packages take 120 MB, so it is no dependency: npm i --prefix DIR @modelcontextprotocol/inspector
  const inspector = process.env['INSPECTOR_CLI'] ?? ''
  test.runIf(inspector !== '')(
    'the command line of the Inspector lists and calls a tool (needs INSPECTOR_CLI)',
    async () => {
      const inspect = async (...args: string[]) =>
        (await run(process.execPath, [inspector, '--cli', `${url}/mcp`, ...args], { env })).stdout
      expect(await inspect('--method', 'tools/list')).toContain('"test__echo"')
      await inspect('--method', 'tools/call', '--tool-name', 'test__echo')
    },
    90_000,
  )
})

describe('an account', () => {
  test('is created, listed, disabled and given roles by a command', async () => {
    const link = await command('create', 'Dora', '--role', 'user')
    expect(link).toMatch(`${url}/invite/`)
    const browser = new FormBrowser(url)
    const page = await browser.submit(await browser.open(link), {
      password: PASSWORD,
      again: PASSWORD,
    })
    expect(page.text).toContain('dora')
    expect(await command('list')).toMatch(/ann +active +admin\n.*dora +active +user/s)
    await command('roles', 'dora', '--role', 'auditor')
    await eventually(async () => (await json('/api/me', { browser })).text.includes('auditor'))
    await command('disable', 'dora')
    await eventually(async () => (await json('/api/me', { browser })).status === 401)
    await expect(command('disable', 'ann')).rejects.toThrow('last admin')
    await expect(command('invite', 'nobody')).rejects.toThrow('there is no account "nobody"')
  })
})

test('what stands for an account is refused while the account is disabled', async () => {
  const made = await json('/api/accounts', { body: { name: 'fred', roles: ['admin'] } })
  const { url: link } = made.value.invitation
  const change = async (disabled: boolean) =>
    json('/api/accounts/fred', { method: 'PATCH', body: { disabled } })
  const second = await json('/api/accounts/fred/invitation', { method: 'POST' })
  expect((await new FormBrowser(url).open(link)).status).toBe(404)
  const fred = new FormBrowser(url)
  const form = await fred.open(second.value.url)
  await fred.submit(form, { password: PASSWORD, again: PASSWORD })

  const about = { roles: ['admin'], scopes: ['mcp', 'chat', 'decide', 'admin'] }
  const key = await json('/api/keys', { browser: fred, body: { name: 'fred', ...about } })
  const headers = { cookie: '', authorization: `Bearer ${key.value.key}` }
  await eventually(async () => (await statusOf(key.value.key)) === 200)
  const child = await json('/api/keys', { headers, body: { name: 'child', ...about } })
  expect(child.value).toMatchObject({
    createdBy: 'key:fred',
    makers: { principals: ['key:fred', 'user:fred'], keys: [key.value.id] },
  })
  await eventually(async () => (await statusOf(child.value.key)) === 200)
  const { value: session } = await json('/api/chat/session', {
    browser: fred,
    body: { title: 'shared' },
  })
  const shares = `/api/chat/session/${session.sessionId}/shares`
  const { value: share } = await json(shares, { browser: fred, body: {} })
  const { value: keyShare } = await json(shares, { headers, body: {} })
  // Links for others: one by the login, one by a key.
  const invited = await json('/api/accounts', { browser: fred, body: { name: 'gina' } })
  const invitedByKey = await json('/api/accounts', { headers, body: { name: 'gerd' } })
  const links = [invited, invitedByKey].map(({ value }): string => value.invitation.url)
  const statuses = async () => [
    await statusOf(key.value.key),
    await statusOf(child.value.key),
    (await fetch(share.url)).status,
    (await fetch(keyShare.url)).status,
    ...(await Promise.all(links.map(async (each) => (await fetch(each)).status))),
  ]
  expect(await statuses()).toEqual([200, 200, 200, 200, 200, 200])
  const { value: last } = await json('/api/accounts/fred/invitation', { method: 'POST' })
  await change(true)
  await eventually(async () => (await statuses()).join() === '401,401,404,404,404,404')
  await change(false)
  await eventually(async () => (await statuses()).join() === '200,200,200,200,200,200')
  // Without the role, the keys are those of a user, and what they did as admins ends.
  const setRoles = (...roles: string[]) =>
    json('/api/accounts/fred', { method: 'PATCH', body: { roles } })
  await setRoles('user')
  await eventually(async () => (await statuses()).join() === '200,200,200,404,404,404')
  const raised = { method: 'PATCH', headers, body: { roles: ['admin'] } }
  expect(await json('/api/accounts/fred', raised)).toMatchObject({ status: 403 })
  await setRoles('admin')
  await eventually(async () => (await statuses()).join() === '200,200,200,200,200,200')
  // What a key made ends with the key.
  await json(`/api/keys/${key.value.id}`, { method: 'DELETE' })
  await eventually(async () => (await statuses()).join() === '401,401,200,404,200,404')
  expect((await json('/api/keys')).text).not.toContain(child.value.id)
  expect((await new FormBrowser(url).open(last.url)).status).toBe(404)

  const { value: next } = await json('/api/accounts/fred/invitation', { method: 'POST' })
  expect((await new FormBrowser(url).open(next.url)).status).toBe(200)
  await json('/api/accounts/fred/invitation', { method: 'DELETE' })
  expect((await new FormBrowser(url).open(next.url)).status).toBe(404)
  expect(await command('invite', 'fred')).toContain('/invite/')
  expect(await command('revoke-link', 'fred')).toBe('fred has no link')
})

describe('a second user', () => {
  test('comes by an invitation, and does not see the sessions of the first one', async () => {
    const bob = await invite('bob')
    expect((await json('/api/me', { browser: bob })).value).toMatchObject({ id: 'user:bob' })
    const { value: session } = await json('/api/chat/session', { body: { title: 'secret plan' } })
    const path = `/api/chat/session/${session.sessionId}`
    expect((await json(path)).status).toBe(200)
    expect((await json(path, { browser: bob })).status).toBe(404)
    expect((await json('/api/chat/sessions', { browser: bob })).text).not.toContain(
      session.sessionId,
    )
    const token = await connect(bob, 'bob')
    expect(await statusOf(token.access, path)).toBe(404)
    expect((await json('/api/accounts', { browser: bob })).status).toBe(403)
  })

  test('gets no scope that its role does not allow', async () => {
    const token = await connect(await loggedIn('bob'), 'bob', 'mcp admin')
    expect(token).toMatchObject({ status: 200, scope: 'mcp' })
  })
})

describe('a token', () => {
  test('is issued by a gateway that did not see the authorization, whose gateway was killed', async () => {
    const browser = await loggedIn('bob')
    const { value: client } = await json('/auth/register', {
      body: new ClientState().clientMetadata,
    })
    proxy.route(stack.url)
    const authorized = await authorize(browser, 'bob', client.client_id, 'mcp chat')
    await stack.kill('gateway')
    proxy.route(stack.url, otherGateway)
    const issued = await redeem(authorized)
    expect(issued).toMatchObject({ status: 200, scope: 'mcp chat' })
    expect(await statusOf(issued.access)).toBe(200)
    await stack.restart('gateway')
    for (let round = 0; round < 4; round++) expect(await statusOf(issued.access)).toBe(200)
    // Its session of the browser lives on, too.
    expect((await json('/api/me', { browser })).status).toBe(200)
  })

  test('is good for this host alone, and for what it was issued for', async () => {
    const { access } = await connect(await loggedIn('bob'), 'bob', 'mcp')
    expect(await statusOf(access, '/capabilities')).toBe(200)
    expect(await statusOf(access, '/api/chat/sessions')).toBe(403)
    const [head = '', body = '', signature = ''] = access.split('.')
    const claims = JSON.parse(Buffer.from(body, 'base64url').toString())
    expect(claims).toMatchObject({ iss: url, aud: `${url}/mcp`, sub: 'bob' })
    expect(claims.exp - claims.iat).toBeLessThanOrEqual(3_600)
    // In an address it would be in logs.
    expect((await fetch(`${url}/api/me?access_token=${access}`)).status).toBe(401)
    const one = await connect(await loggedIn('bob'), 'bob', 'mcp', `${url}/mcp/servers/test`)
    const list = async (path: string) => {
      const headers = { authorization: `Bearer ${one.access}`, 'content-type': 'application/json' }
      const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })
      return (await fetch(url + path, { method: 'POST', headers, body: ping })).status
    }
    expect(await list('/mcp/servers/test')).not.toBe(401)
    expect(await list('/mcp')).toBe(401)
    expect(await statusOf(one.access, '/capabilities')).toBe(401)
    const forged = Buffer.from(JSON.stringify({ ...claims, sub: 'ann' })).toString('base64url')
    expect(await statusOf(`${head}.${forged}.${signature}`)).toBe(401)
  })

  test('that was refreshed for other scopes opens nothing of this host', async () => {
    const { clientId, refresh } = await connect(admin, 'ann', 'openid mcp')
    const about = { grant_type: 'refresh_token', client_id: clientId, refresh_token: refresh }
    const fewer = await requestTokens({ ...about, scope: 'openid' })
    const opened = ['/api/me', '/api/audit', '/capabilities', '/api/chat/sessions', '/api/accounts']
    for (const path of opened)
      expect([path, await statusOf(fewer.access, path)]).toEqual([path, 403])
    const socket = await fetch(`${url}/api/tickets`, {
      method: 'POST',
      headers: { authorization: `Bearer ${fewer.access}` },
    })
    expect(socket.status).toBe(403)
  })

  test.each(['openid', 'claudeai', ''])(
    'of a client that asks for "%s" is good for MCP alone',
    async (scope) => {
      const { access } = await connect(admin, 'ann', scope)
      expect(await statusOf(access, '/capabilities')).toBe(200)
      expect(await statusOf(access, '/api/chat/sessions')).toBe(403)
      expect(await statusOf(access, '/api/accounts')).toBe(403)
    },
  )

  test('cannot be had without PKCE, for a foreign resource, or by a code twice', async () => {
    const browser = await loggedIn('bob')
    const { value: client } = await json('/auth/register', {
      body: new ClientState().clientMetadata,
    })
    const plain = new URLSearchParams({
      client_id: client.client_id,
      redirect_uri: REDIRECT,
      response_type: 'code',
    })
    await browser.open(`${url}/auth/authorize?${plain.toString()}`)
    expect(browser.leftFor).toContain('error=invalid_request')
    plain.append('code_challenge', 'x'.repeat(43))
    plain.append('code_challenge_method', 'S256')
    plain.append('resource', 'https://other.example/mcp')
    await browser.open(`${url}/auth/authorize?${plain.toString()}`)
    expect(browser.leftFor).toContain('error=invalid_target')
    browser.leftFor = undefined
    plain.set('resource', `${url}/mcp`)
    plain.set('redirect_uri', 'http://127.0.0.1:9/other')
    const refused = await browser.open(`${url}/auth/authorize?${plain.toString()}`)
    expect([refused.status, browser.leftFor]).toEqual([400, undefined])
    expect(refused.text).toContain('redirect_uri')
    const authorized = await authorize(browser, 'bob', client.client_id, 'mcp')
    expect(await redeem({ ...authorized, verifier: 'y'.repeat(43) })).toMatchObject({ status: 400 })
    const again = await authorize(browser, 'bob', client.client_id, 'mcp')
    const [first, second] = [await redeem(again), await redeem(again)]
    expect([first.status, second.status, second.error]).toEqual([200, 400, 'invalid_grant'])
    // The code was stolen, or the first token was: neither is good any more.
    await eventually(async () => (await statusOf(first.access)) === 401)
  })

  test('is refreshed by two requests at once, and by no old refresh token later', async () => {
    const { clientId, refresh } = await connect(await loggedIn('bob'), 'bob')
    const withToken = (refresh_token: string) =>
      requestTokens({ grant_type: 'refresh_token', client_id: clientId, refresh_token })
    const both = await Promise.all([withToken(refresh), withToken(refresh)])
    expect(both.map(({ status }) => status)).toEqual([200, 200])
    // A copied token that is used at once leads to the same next one, which only one of its holders can use later.
    const shared = both[0].refresh
    expect(both[1].refresh).toBe(shared)
    const next = await withToken(shared)
    expect((await withToken(refresh)).refresh).toBe(shared)
    expect((await withToken(shared)).refresh).toBe(next.refresh)
    // Reuse is tolerated for ten seconds.
    await delay(10_500)
    expect(await withToken(shared)).toMatchObject({ status: 400, error: 'invalid_grant' })
    for (const { access } of [...both, next]) {
      await eventually(async () => (await statusOf(access)) === 401)
    }
    expect(await withToken(next.refresh)).toMatchObject({ status: 400, error: 'invalid_grant' })
  })

  test('ends with its account, at all gateways at once', async () => {
    const carl = await invite('carl')
    const token = await connect(carl, 'carl')
    const both = async () => {
      const headers = { authorization: `Bearer ${token.access}` }
      const cookie = { cookie: carl.cookies(), origin: url }
      const asks = [stack.url, otherGateway].flatMap((gateway) =>
        [headers, cookie].map((each) => fetch(`${gateway}/api/me`, { headers: each })),
      )
      return (await Promise.all(asks)).map(({ status }) => status)
    }
    expect(await both()).toEqual([200, 200, 200, 200])
    using chat = await ChatSocket.open({
      url: otherGateway,
      headers: { cookie: carl.cookies(), origin: url },
    })
    const change = (body: object) => json('/api/accounts/carl', { method: 'PATCH', body })
    expect((await change({ disabled: true })).value).toMatchObject({ state: 'disabled' })
    await eventually(async () => (await both()).every((status) => status === 401))
    await eventually(() => chat.closed?.code === 1008, { limitMs: 5_000 })
    const refreshed = { client_id: token.clientId, refresh_token: token.refresh }
    expect(await requestTokens({ grant_type: 'refresh_token', ...refreshed })).toMatchObject({
      status: 400,
    })
    await change({ disabled: false })
    // What was issued before stays invalid.
    expect(await both()).toEqual([401, 401, 401, 401])
    expect((await json('/api/me', { browser: await loggedIn('carl') })).status).toBe(200)
  })
})

describe('a user', () => {
  test('sees the programs that it allowed, and withdraws one, at all gateways', async () => {
    const dave = await invite('dave')
    const first = await connect(dave, 'dave')
    const other = new FormBrowser(url)
    await other.submit(await other.open(`${url}/login`), { name: 'dave', password: PASSWORD })
    const second = await connect(other, 'dave', 'mcp')
    const headers = { authorization: `Bearer ${first.access}` }
    using chat = await ChatSocket.open({ url: otherGateway, headers })
    const page = await dave.open(`${url}/login/clients`)
    expect(page.text.match(/A test client/g)).toHaveLength(2)
    expect(page.text).toContain('mcp, chat')
    // The newest is the first: the one of the other browser.
    const left = await dave.submit(page, { decision: 'withdraw' })
    expect(left.text.match(/A test client/g)).toHaveLength(1)
    const statusAt = async (gateway: string, token: string) =>
      (await fetch(`${gateway}/api/me`, { headers: { authorization: `Bearer ${token}` } })).status
    for (const gateway of [stack.url, otherGateway]) {
      await eventually(async () => (await statusAt(gateway, second.access)) === 401)
      expect(await statusAt(gateway, first.access)).toBe(200)
    }
    const refreshed = { client_id: second.clientId, refresh_token: second.refresh }
    expect(await requestTokens({ grant_type: 'refresh_token', ...refreshed })).toMatchObject({
      status: 400,
      error: 'invalid_grant',
    })
    expect(chat.closed).toBeUndefined()
    await dave.submit(left, { decision: 'withdraw' })
    await eventually(() => chat.closed !== undefined, { limitMs: 5_000 })
    expect((await dave.open(`${url}/login/clients`)).text).toContain('None.')
  })

  test('cannot withdraw what another user allowed', async () => {
    const erin = await invite('erin')
    const token = await connect(erin, 'erin')
    const page = await erin.open(`${url}/login/clients`)
    const [, id = ''] = /name="client" value="([^"]+)"/.exec(page.text) ?? []
    const bob = await loggedIn('bob')
    await fetch(`${url}/login/clients`, {
      method: 'POST',
      headers: { cookie: bob.cookies(), origin: url },
      body: new URLSearchParams({ client: id }),
    })
    await fetch(`${url}/login/clients`, {
      method: 'POST',
      headers: { cookie: erin.cookies(), origin: 'https://evil.example' },
      body: new URLSearchParams({ client: id }),
    })
    expect((await erin.open(`${url}/login/clients`)).text).toContain('A test client')
    expect(await statusOf(token.access)).toBe(200)
    const nobody = await new FormBrowser(url).open(`${url}/login/clients`)
    expect(nobody.text).toContain('name="password"')
  })
})

describe('the metadata', () => {
  test('of each resource name it exactly, and the authorization server, which calls itself so', async () => {
    for (const path of ['', '/mcp', '/mcp/servers/test', '/mcp/bundles/some']) {
      const response = await fetch(`${url}/.well-known/oauth-protected-resource${path}`)
      expect(response.headers.get('content-type')).toContain('application/json')
      expect(await response.json()).toMatchObject({
        resource: url + path,
        authorization_servers: [url],
        bearer_methods_supported: ['header'],
      })
    }
    for (const name of ['oauth-authorization-server', 'openid-configuration']) {
      const response = await fetch(`${url}/.well-known/${name}`)
      expect(await response.json()).toMatchObject({
        issuer: url,
        code_challenge_methods_supported: ['S256'],
        response_types_supported: ['code'],
        client_id_metadata_document_supported: true,
        registration_endpoint: `${url}/auth/register`,
      })
    }
  })
})

describe('a registration', () => {
  const register = (body: object) => json('/auth/register', { body })

  test('is answered with what was registered, and kept by no cache', async () => {
    const response = await fetch(`${url}/auth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(new ClientState().clientMetadata),
    })
    expect(response.status).toBe(201)
    expect(response.headers.get('cache-control')).toContain('no-store')
    expect(await response.json()).toMatchObject({
      client_id: expect.stringMatching(/^.{20,}$/),
      redirect_uris: [REDIRECT],
      token_endpoint_auth_method: 'none',
    })
  })

  test.each([
    ['claudeai', undefined],
    ['openid profile email', 'openid'],
    ['mcp:tools mcp', 'mcp'],
  ])('with the scopes "%s" is answered with those of this host alone', async (scope, known) => {
    const { status, value } = await register({ ...new ClientState().clientMetadata, scope })
    expect([status, value?.scope]).toEqual([201, known])
  })

  test.each([
    ['no redirect address', { redirect_uris: [] }, 'invalid_redirect_uri'],
    [
      'a script as redirect address',
      { redirect_uris: ['javascript:alert(1)'] },
      'invalid_redirect_uri',
    ],
    ['a scheme of the system in it', { redirect_uris: ['ms-msdt:/id'] }, 'invalid_redirect_uri'],
    ['a fragment in it', { redirect_uris: ['https://a.example/#b'] }, 'invalid_redirect_uri'],
    ['another host without TLS', { redirect_uris: ['http://a.example/'] }, 'invalid_redirect_uri'],
    [
      'another host without TLS, for a web application',
      { application_type: 'web', redirect_uris: ['http://localhost.evil.example/'] },
      'invalid_redirect_uri',
    ],
    [
      'a user name in it',
      { redirect_uris: ['https://localhost@evil.example/'] },
      'invalid_redirect_uri',
    ],
    [
      'many redirect addresses',
      {
        redirect_uris: Array.from({ length: 1_500 }, (_, port) => `http://127.0.0.1:${port + 1}/`),
      },
      'invalid_redirect_uri',
    ],
    ['a long name', { client_name: 'x'.repeat(201) }, 'invalid_client_metadata'],
    ['a grant that is not offered', { grant_types: ['implicit'] }, 'invalid_client_metadata'],
    ['tokens in the redirect', { response_types: ['token'] }, 'invalid_client_metadata'],
  ])('with %s is refused', async (_, more, error) => {
    const { status, value } = await register({ ...new ClientState().clientMetadata, ...more })
    expect([status, value.error]).toEqual([400, error])
  })

  test('with JSON of 20,000 levels is refused', async () => {
    const response = await fetch(`${url}/auth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: `{"contacts":${'['.repeat(20_000)}${']'.repeat(20_000)}}`,
    })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: 'invalid_client_metadata' })
  })
})

test.each([
  [{ application_type: 'web' }, 'https://127.0.0.1.evil.example/', '127.0.0.1.evil.example'],
  [{ application_type: 'web' }, 'https://localhost:4321/', 'a program on this computer'],
  [{}, 'http://localhost:4321/', 'a program on this computer (localhost:4321)'],
  [{}, 'cursor://mcp/callback', 'the program that this computer opens for cursor:// addresses'],
])(
  'the consent page of a client %o tells from %s that it goes back to %s',
  async (more, to, words) => {
    const browser = await loggedIn('bob')
    const metadata = { ...new ClientState().clientMetadata, redirect_uris: [to], ...more }
    const { value: client } = await json('/auth/register', { body: metadata })
    const query = new URLSearchParams({
      client_id: client.client_id,
      redirect_uri: to,
      response_type: 'code',
      code_challenge: 'x'.repeat(43),
      code_challenge_method: 'S256',
    })
    const page = await browser.open(`${url}/auth/authorize?${query.toString()}`)
    expect(page.text).toContain(words)
    expect(page.text.includes('this computer')).toBe(words.includes('this computer'))
  },
)

test.each([
  ['state', 2_049, 'state must have at most 2048 characters'],
  ['a=?&state', 2_049, 'state must have at most 2048 characters'],
  ['nonce', 8_192, 'the parameters must have at most 8192 characters together'],
])(
  'an authorization with a %s of %d characters is refused on a page',
  async (name, length, fault) => {
    const browser = new FormBrowser(url)
    const page = await browser.open(`${url}/auth/authorize?${name}=${'x'.repeat(length)}`)
    expect([page.status, page.text]).toEqual([400, expect.stringContaining(fault)])
  },
)

describe('an authorization answer', () => {
  test('names this host as its issuer, also when it is an error', async () => {
    const metadata = await (await fetch(`${url}/.well-known/oauth-authorization-server`)).json()
    expect(metadata).toMatchObject({
      issuer: url,
      authorization_response_iss_parameter_supported: true,
    })
    const browser = await loggedIn('bob')
    const { value: client } = await json('/auth/register', {
      body: new ClientState().clientMetadata,
    })
    const { back } = await authorize(browser, 'bob', client.client_id, 'mcp')
    expect([back.searchParams.get('iss'), back.searchParams.has('code')]).toEqual([url, true])
    const query = new URLSearchParams({
      client_id: client.client_id,
      redirect_uri: REDIRECT,
      response_type: 'code',
      code_challenge: 'x'.repeat(43),
      code_challenge_method: 'S256',
      prompt: 'none',
      scope: 'mcp',
    })
    const faults = [
      ['prompt', 'none'],
      ['response_type', 'token'],
      ['resource', 'https://other.example'],
      ['code_challenge_method', 'plain'],
    ]
    for (const [name = '', value = ''] of faults) {
      const faulty = new URLSearchParams(query)
      faulty.set(name, value)
      const stranger = new FormBrowser(url)
      await stranger.open(`${url}/auth/authorize?${faulty.toString()}`)
      const answer = new URL(stranger.leftFor ?? 'about:blank')
      const part =
        answer.hash === '' ? answer.searchParams : new URLSearchParams(answer.hash.slice(1))
      expect([name, part.get('iss'), part.has('error')]).toEqual([name, url, true])
    }
    const page = await browser.open(
      `${url}/auth/authorize?${query.toString().replace('prompt=none', 'prompt=consent')}`,
    )
    await browser.submit(page, { decision: 'deny' })
    const denied = new URL(browser.leftFor ?? 'about:blank').searchParams
    expect([denied.get('iss'), denied.get('error')]).toEqual([url, 'access_denied'])
  })
})

describe('the keys that sign tokens', () => {
  const keyOf = (token: string): string =>
    JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()).kid
  const published = async (): Promise<string[]> => {
    const { keys } = (await json('/auth/jwks')).value as { keys: { kid: string }[] }
    return keys.map(({ kid }) => kid)
  }
  const atAll = async (token: string): Promise<number[]> => {
    const headers = { authorization: `Bearer ${token}` }
    const asks = [stack.url, otherGateway].map((each) => fetch(`${each}/api/me`, { headers }))
    return (await Promise.all(asks)).map(({ status }) => status)
  }

  test('are replaced by a command while gateways run, and old tokens stay good', async () => {
    const browser = await loggedIn('bob')
    const old = await connect(browser, 'bob')
    await command('rotate-keys')
    const next = await connect(browser, 'bob')
    expect(keyOf(next.access)).not.toBe(keyOf(old.access))
    expect(await published()).toEqual([keyOf(next.access), keyOf(old.access)])
    expect([await atAll(old.access), await atAll(next.access)]).toEqual([
      [200, 200],
      [200, 200],
    ])
    expect((await json('/api/me', { browser })).status).toBe(200)
  })

  test('that were stolen are good for nothing at once, and clients refresh their tokens', async () => {
    const browser = await loggedIn('bob')
    const old = await connect(browser, 'bob')
    expect(await atAll(old.access)).toEqual([200, 200])
    await command('rotate-keys', '--at-once')
    await eventually(async () => (await atAll(old.access)).every((status) => status === 401))
    expect(await published()).not.toContain(keyOf(old.access))
    const about = { grant_type: 'refresh_token', client_id: old.clientId }
    const next = await requestTokens({ ...about, refresh_token: old.refresh })
    expect(await atAll(next.access)).toEqual([200, 200])
  })
})

describe('the login of a browser', () => {
  test('ends at all gateways, and clients that were connected stay so', async () => {
    const browser = await loggedIn('bob')
    const token = await connect(browser, 'bob')
    const cookie = browser.cookies()
    const meAt = async (gateway: string) =>
      (await fetch(`${gateway}/api/me`, { headers: { cookie } })).status
    expect([await meAt(stack.url), await meAt(otherGateway)]).toEqual([200, 200])
    const out = await browser.submit(await browser.open(`${url}/login`), {})
    expect(out.text).toContain('You are logged out')
    for (const gateway of [stack.url, otherGateway]) {
      await eventually(async () => (await meAt(gateway)) === 401)
    }
    expect(await statusOf(token.access)).toBe(200)
    const page = await browser.open(`${url}/auth/authorize?client_id=${token.clientId}`)
    expect(page.text).not.toContain('to connect?')
  })

  test('counts for pages of this host alone', async () => {
    const cookie = (await loggedIn('bob')).cookies()
    const ask = async (method: string, headers: Record<string, string>) =>
      (
        await fetch(`${url}/api/${method === 'GET' ? 'me' : 'tickets'}`, {
          method,
          headers: { cookie, ...headers },
        })
      ).status
    expect(await ask('GET', {})).toBe(200)
    expect(await ask('POST', { origin: url })).toBe(201)
    expect(await ask('POST', {})).toBe(401)
    expect(await ask('POST', { origin: 'http://localhost:8080' })).toBe(401)
    expect(await ask('GET', { origin: 'http://localhost:8080' })).toBe(401)
    expect(await ask('GET', { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors' })).toBe(
      401,
    )
  })

  test('opens sockets of pages of this host, and of no others', async () => {
    const cookie = (await loggedIn('bob')).cookies()
    using chat = await ChatSocket.open({ url, headers: { cookie, origin: url } })
    chat.send({ type: 'message', payload: { text: 'hello' } })
    await chat.turnsDone()
    using foreign = ChatSocket.start({
      url,
      headers: { cookie, origin: 'http://localhost:8080' },
    })
    await eventually(() => foreign.closed !== undefined)
  })

  test('is refused after some wrong passwords, alike for accounts that do not exist', async () => {
    // Failures are counted by quarters of an hour.
    const quarter = 15 * 60_000
    const left = quarter - (Date.now() % quarter)
    if (left < 30_000) await delay(left)
    for (const name of ['bob', 'nobody-at-all']) {
      const browser = new FormBrowser(url)
      const tries: [number, boolean][] = []
      for (let round = 0; round < 7; round++) {
        const page = await browser.submit(await browser.open(`${url}/login`), {
          name,
          password: 'not the password',
        })
        tries.push([page.status, page.text.includes('The name or the password is wrong.')])
      }
      expect(tries).toEqual([...[1, 2, 3, 4, 5].map(() => [401, true]), [429, false], [429, false]])
    }
  })
})

interface Exported {
  readonly action: string
  readonly principal: string
  readonly detail?: Readonly<Record<string, unknown>>
}

async function exportAudit(): Promise<Exported[]> {
  const { stdout } = await run(
    process.execPath,
    [commands, 'audit', 'export', '--nats', stack.broker.url],
    { cwd: dirname(stack.mcpJson), env: { PATH: process.env['PATH'], ...stack.broker.env } },
  )
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Exported)
}

test('registrations, logouts, lock-outs and reused tokens are in the audit log', async () => {
  const browser = await invite('gus')
  await browser.submit(await browser.open(`${url}/login`), {})
  const expected = [
    ['client-registered', 'nobody', 'client'],
    ['token-reused', 'user:bob', 'client'],
    ['logout', 'user:gus', ''],
    ['login-refused', 'nobody', 'account bob: locked after wrong passwords'],
    ['login-refused', 'nobody', 'unknown account: locked after wrong passwords'],
  ] as const
  await eventually(async () => {
    const entries = await exportAudit()
    return expected.every(([action, principal, text]) =>
      entries.some(
        (each) =>
          each.action === action &&
          each.principal === principal &&
          JSON.stringify(each.detail ?? '').includes(text),
      ),
    )
  })
})

test.each([
  ['is disabled', { disabled: true }],
  ['loses a role', { roles: [] }],
])('a message that waits runs no tool once its account %s', async (what, change) => {
  const name = what.replaceAll(' ', '-')
  const browser = await invite(name)
  const { value } = await json('/api/chat/session', { browser, body: { title: 'waits' } })
  const path = `/api/chat/session/${value.sessionId}`
  const say = (message: string) =>
    json(`${path}/message`, { browser, body: { message } }).catch(() => undefined)
  const history = async () => (await json(`${path}/messages?limit=50`)).text
  void say(script({ tokens: 100, tokensPerSecond: 20 }))
  await eventually(async () => (await history()).includes('running'))
  const calls = [{ name: 'test__echo', arguments: { text: name } }]
  void say(script({ calls }, { text: 'done' }))
  await eventually(async () => (await history()).includes(name))
  await json(`/api/accounts/${name}`, { method: 'PATCH', body: change })
  await eventually(async () => (await history()).includes('was disabled or lost a role'), {
    limitMs: 15_000,
  })
  expect(JSON.stringify(await stack.journal())).not.toContain(name)
})

test('what operators do by commands is in the audit log', async () => {
  await command('create', 'fay')
  await command('sign-out', 'fay')
  await expect(command('create', 'fay')).rejects.toThrow('there is an account "fay" already')
  // Refused changes have no entry.
  const admins = (await json('/api/accounts')).value.accounts.filter(
    ({ name, roles }: { name: string; roles: string[] }) =>
      name !== 'ann' && roles.includes('admin'),
  )
  for (const { name } of admins) await command('roles', name, '--role', 'user')
  const refused = { method: 'PATCH', body: { disabled: true, roles: ['user'] } }
  await eventually(async () => (await json('/api/accounts/ann', refused)).status === 409)
  await expect(command('disable', 'ann')).rejects.toThrow('last admin')
  const entries = await exportAudit()
  expect(
    entries.filter(
      ({ action, detail }) =>
        action === 'account-changed' &&
        detail?.['account'] === 'ann' &&
        detail?.['disabled'] === true,
    ),
  ).toEqual([])
  const ofCommands = entries.filter(({ detail }) => detail?.['command'] === 'npm run accounts')
  const actions = ofCommands.map(({ action }) => action)
  expect(actions.filter((each) => each === 'account-created')).toHaveLength(2)
  for (const action of ['account-invited', 'account-changed', 'keys-rotated']) {
    expect(actions).toContain(action)
  }
  expect(JSON.stringify(ofCommands)).not.toContain('/invite/')
})

test('no password, cookie or token is in the log of any service', async () => {
  const cookies = admin
    .cookies()
    .split('; ')
    .map((pair) => pair.slice(pair.indexOf('=') + 1))
  expect(issuedTokens.length).toBeGreaterThan(20)
  const logs = await stack.logs()
  expect(logs).not.toContain('eyJ')
  const secrets = [PASSWORD, 'not the password', ...cookies, ...issuedTokens]
  expect(secrets.filter((secret) => logs.includes(secret))).toEqual([])
})
