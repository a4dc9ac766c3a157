// Users who log in at MCP servers: two of them, at two servers with an authorization server each.
import type { ChildProcessWithoutNullStreams as Child } from 'node:child_process'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { text as textOf } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
} from '@modelcontextprotocol/client'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { defineBucket } from '@mcp-host/contracts'
import {
  AuthorizationServer,
  fixturePath,
  type LoginServer,
  openLoginServer,
} from '@mcp-host/mcp-testkit'
import type { Stack, TcpProxy } from '@mcp-host/testkit'
import { ChatSocket, eventually, FormBrowser, leaveFor, logIn, script } from '@mcp-host/testkit'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { authorize } from './authorize.ts'
import { openLoginStage, PASSWORD, type StageUser } from './upstream-login-stage.ts'

/** The time for entries to arrive in the audit log. */
const RECORDED = { timeout: 20_000, interval: 250 }

const JSON_RPC = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
}

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const run = promisify(execFile)
const cleanup = new AsyncDisposableStack()
let url: string
let proxy: TcpProxy
let stack: Stack
let notes: LoginServer
let mail: LoginServer
/** The authorization server of a program. */
let code: AuthorizationServer
let ann: StageUser
let bob: StageUser

beforeAll(async () => {
  notes = cleanup.use(await openLoginServer())
  mail = cleanup.use(await openLoginServer())
  code = cleanup.use(await AuthorizationServer.open({ ttlSeconds: 3 }))
  const auth = { type: 'oauth', issuer: code.url, scope: 'openid', variable: 'CODE_TOKEN' }
  const program = { args: [fixturePath('echo')], auth }
  const servers = { notes: notes.entry, mail: withRule(mail.entry), code: program }
  ;({ url, proxy, stack, ann, bob } = cleanup.use(await openLoginStage(servers)))
  await stack.add('mcp-supervisor')
  proxy.route(stack.url, (await stack.add('gateway')).url)
}, 120_000)
afterAll(() => cleanup.disposeAsync())

async function call({ mcp }: StageUser, name: string): Promise<string> {
  const { content } = await mcp.callTool({ name, arguments: {} })
  return (content as { readonly text: string }[]).map((each) => each.text).join('')
}

async function disconnect({ browser }: StageUser, server: string): Promise<void> {
  const page = await browser.open(`${url}/connect/${server}`)
  await browser.submit(page, { decision: 'disconnect' })
}

/** Logs a user in at a server as somebody. Returns the page at the end. */
function connect({ browser }: StageUser, server: 'notes' | 'mail', as: string): Promise<string> {
  const { issuer } = server === 'notes' ? notes : mail
  return logIn(`${url}/connect/${server}`, browser, { issuer, as })
}

function withRule(entry: object): object {
  const accounts = [{ when: { owner: 'acme' }, label: 'work' }]
  return { ...entry, auth: { type: 'oauth', accounts } }
}

/** What lists say of servers at which a user has no login. */
const missing = (...servers: string[]): object[] =>
  servers.map((server) => ({ server, state: 'login-needed', link: `${url}/connect/${server}` }))

/** What a program prints until its end. */
async function printedBy(program: Child): Promise<string> {
  const all = await Promise.all([textOf(program.stdout), textOf(program.stderr)])
  return all.join('')
}

const listed = (tool: string): Promise<unknown> =>
  eventually(async () => (await ann.mcp.listTools()).tools.some(({ name }) => name === tool))

test('without a login, a call tells where to log in', async () => {
  const { tools } = await ann.mcp.listTools()
  expect(tools.map(({ name }) => name)).toEqual([
    'code__connect',
    'mail__connect',
    'notes__connect',
    'test__echo',
  ])
  expect(await call(ann, 'notes__connect')).toContain(`${url}/connect/notes`)
  const all = { 'mcp-host/missing': missing('notes', 'mail', 'code') }
  expect((await ann.mcp.listTools())._meta).toEqual(all)
  const alone = await fetch(`${url}/mcp/servers/test`, {
    method: 'POST',
    headers: { ...ann.headers, ...JSON_RPC },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  })
  expect(await alone.text()).not.toContain('mcp-host/missing')
})

test('each user has the own login, at each server, and at every supervisor', async () => {
  expect(await connect(ann, 'notes', 'ann@notes')).toContain('You are connected')
  await listed('notes__whoami')
  expect(await call(ann, 'notes__whoami')).toBe('ann@notes')
  expect(await call(bob, 'notes__whoami')).toContain(`${url}/connect/notes`)
  await connect(bob, 'notes', 'bob@notes')
  await connect(bob, 'mail', 'bob@mail')
  await listed('mail__whoami')
  const calls = Array.from({ length: 20 }, () => [
    call(ann, 'notes__whoami'),
    call(bob, 'notes__whoami'),
    call(bob, 'mail__whoami'),
  ])
  expect(new Set(await Promise.all(calls.flat()))).toEqual(
    new Set(['ann@notes', 'bob@notes', 'bob@mail']),
  )
  expect(await call(ann, 'mail__whoami')).toContain(`${url}/connect/mail`)
})

test('a chat asks its user to log in, and the waiting calls go on afterwards', async () => {
  using chat = await ChatSocket.open({ url, headers: ann.headers })
  const names = ['notes__whoami', 'mail__whoami', 'mail__whoami']
  const calls = names.map((name) => ({ name, arguments: {} }))
  chat.send({ type: 'message', payload: { text: script({ calls }, { text: 'done' }) } })
  const asked = await chat.waitFor(({ type }) => type === 'input')
  expect(asked).toMatchObject({ payload: { mode: 'url', url: `${url}/connect/mail` } })
  await connect(ann, 'mail', 'ann@mail')
  await chat.turnsDone()
  const results = JSON.stringify(chat.frames.filter(({ type }) => type === 'tool'))
  expect(results.match(/\w+@\w+/g)?.toSorted()).toEqual(['ann@mail', 'ann@mail', 'ann@notes'])
  await disconnect(ann, 'mail')
})

test('a client that shows pages is asked, and its waiting call goes on after the login', async () => {
  const mcp = new Client(
    { name: 'ann', version: '1.0.0' },
    { capabilities: { elicitation: { url: {} } } },
  )
  const shown: unknown[] = []
  mcp.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
    shown.push(params)
    void connect(ann, 'mail', 'ann@mail')
    return { action: 'accept' }
  })
  const { headers } = ann
  await mcp.connect(
    new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }),
  )
  expect(await call({ ...ann, mcp }, 'mail__whoami')).toBe('ann@mail')
  expect(shown).toMatchObject([{ mode: 'url', url: `${url}/connect/mail` }])
  await mcp.close()
  await disconnect(ann, 'mail')
})

test('so is a client of 2026-07-28, at whichever gateway and supervisor its repeated call arrives', async () => {
  const mcp = new ModernClient(
    { name: 'ann', version: '1.0.0' },
    { capabilities: { elicitation: { url: {} } }, versionNegotiation: { mode: 'auto' } },
  )
  mcp.setRequestHandler('elicitation/create', async () => {
    void connect(ann, 'mail', 'ann@mail')
    return { action: 'accept' }
  })
  const { headers } = ann
  await mcp.connect(new ModernTransport(new URL(`${url}/mcp`), { requestInit: { headers } }))
  // The answer for the list before is kept for two seconds.
  await vi.waitFor(async () => {
    const said = { 'mcp-host/missing': missing('mail', 'code') }
    expect((await mcp.listTools())._meta).toMatchObject(said)
  }, RECORDED)
  const { content } = await mcp.callTool({ name: 'mail__whoami', arguments: {} })
  expect(content).toEqual([{ type: 'text', text: 'ann@mail' }])
  await mcp.close()
  await disconnect(ann, 'mail')
})

// Its packages take 120 MB, so it is no dependency: npm i --prefix DIR @modelcontextprotocol/inspector
const inspector = process.env['INSPECTOR_CLI'] ?? ''
test.runIf(inspector !== '').for(['legacy', 'modern'])(
  'the command line of the Inspector, %s, gets the link, and after the login the own answer (needs INSPECTOR_CLI)',
  async (era) => {
    const inspect = async ({ headers }: StageUser): Promise<string> => {
      const header = `Authorization: ${headers.authorization}`
      const method = ['--method', 'tools/call', '--tool-name', 'mail__whoami']
      const given = ['--protocol-era', era, '--header', header, ...method]
      const called = run(process.execPath, [inspector, '--cli', `${url}/mcp`, ...given])
      // A result that is an error is printed, too, but is the failure of the program.
      const { stdout } = await called.catch((error: { readonly stdout: string }) => error)
      return stdout
    }
    expect(await inspect(ann)).toContain(`${url}/connect/mail`)
    await connect(ann, 'mail', 'ann@mail')
    expect(await inspect(ann)).toContain('ann@mail')
    expect(await inspect(bob)).toContain('bob@mail')
    await disconnect(ann, 'mail')
  },
)

test('a user has several logins at a server, which rules, callers and their age choose', async () => {
  const { issuer } = mail
  for (const label of ['private', 'work']) {
    const link = `${url}/connect/mail?account=${label}`
    await logIn(link, ann.browser, { issuer, as: `ann.${label}` })
  }
  const as = async (given: object, account?: string): Promise<string> => {
    const chosen = account === undefined ? {} : { _meta: { 'mcp-host/options': { account } } }
    const { content } = await ann.mcp.callTool({
      name: 'mail__whoami',
      arguments: { ...given },
      ...chosen,
    })
    return JSON.stringify(content)
  }
  const calls = Array.from({ length: 100 }, () => [
    as({}).then((who) => expect(who).toContain('ann.private')),
    as({ owner: 'acme' }).then((who) => expect(who).toContain('ann.work')),
    as({ owner: 'me' }).then((who) => expect(who).toContain('ann.private')),
    as({}, 'work').then((who) => expect(who).toContain('ann.work')),
    as({ owner: 'acme' }, 'private').then((who) => expect(who).toContain('ann.work')),
  ])
  await Promise.all(calls.flat())
  await vi.waitFor(async () => {
    const query = 'action=tool-finished&server=mail'
    const entries = await fetch(`${url}/api/audit?${query}`, { headers: ann.headers })
    const text = await entries.text()
    for (const label of ['private', 'work']) expect(text).toContain(`"detail":{"label":"${label}"}`)
  }, RECORDED)
  expect(await as({}, 'third')).toContain(`${url}/connect/mail?account=third`)
  using chat = await ChatSocket.open({ url, headers: ann.headers })
  const given = [{ owner: 'acme' }, {}].map((each) => ({ name: 'mail__whoami', arguments: each }))
  chat.send({ type: 'message', payload: { text: script({ calls: given }, { text: 'done' }) } })
  await chat.turnsDone()
  const results = JSON.stringify(chat.frames.filter(({ type }) => type === 'tool'))
  expect(results).toContain('ann.work')
  expect(results).toContain('ann.private')
})

test('a user renames a login, says which one is the default, and chooses one for a chat', async () => {
  const json = { ...ann.headers, 'content-type': 'application/json' }
  const change = async (label: string, body: object): Promise<number> => {
    const address = `${url}/api/connections/mail/${label}`
    const answer = await fetch(address, {
      method: 'PATCH',
      headers: json,
      body: JSON.stringify(body),
    })
    return answer.status
  }
  const whoami = (): Promise<string> => call(ann, 'mail__whoami')
  expect(await change('private', { label: 'home' })).toBe(204)
  expect(await change('private', { label: 'house' })).toBe(404)
  expect(await change('home', { label: 'work' })).toBe(409)
  expect(await change('home', {})).toBe(400)
  await eventually(async () => (await whoami()).includes('ann.private'))
  expect(await change('work', { isDefault: true })).toBe(204)
  await eventually(async () => (await whoami()).includes('ann.work'))
  const made = await fetch(`${url}/api/chat/session`, {
    method: 'POST',
    headers: json,
    body: JSON.stringify({ accounts: { mail: 'home' } }),
  })
  const { sessionId } = (await made.json()) as { readonly sessionId: string }
  using chat = await ChatSocket.open({ url, headers: ann.headers, sessionId })
  const calls = [{ name: 'mail__whoami', arguments: {} }]
  chat.send({ type: 'message', payload: { text: script({ calls }, { text: 'done' }) } })
  await chat.turnsDone()
  const results = JSON.stringify(chat.frames.filter(({ type }) => type === 'tool'))
  expect(results).toContain('ann.private')
  const page = await ann.browser.open(`${url}/connect/mail`)
  expect(page.text).toContain('home')
  for (const account of ['home', 'work']) {
    await ann.browser.submit(page, { decision: 'disconnect', account })
  }
})

test('a program has a process for each user, with a token that is good', async () => {
  const environmentOf = async (user: StageUser): Promise<unknown> =>
    JSON.parse(await call(user, 'code__inspect')).env
  const tokenOf = async (user: StageUser): Promise<string> =>
    z.object({ CODE_TOKEN: z.string() }).parse(await environmentOf(user)).CODE_TOKEN
  for (const [user, as] of [
    [ann, 'ann.code'],
    [bob, 'bob.code'],
  ] as const) {
    const page = await logIn(`${url}/connect/code`, user.browser, { issuer: code, as })
    expect(page).toContain('You are connected')
  }
  await listed('code__inspect')
  const first = await tokenOf(ann)
  expect([code.userOf(first), code.userOf(await tokenOf(bob))]).toEqual(['ann.code', 'bob.code'])
  const next = await eventually(async () => {
    const token = await tokenOf(ann)
    return token === first ? undefined : token
  })
  expect(code.userOf(next ?? '')).toBe('ann.code')
  await disconnect(ann, 'code')
  await eventually(async () => (await call(ann, 'code__inspect')).includes('/connect/code'))
  expect(code.userOf(await tokenOf(bob))).toBe('bob.code')
  await disconnect(bob, 'code')
})

test('a login ends only in its browser, for its user, and once', async () => {
  const { issuer } = mail
  const begun = await leaveFor(`${url}/connect/mail`, ann.browser)
  const back = await issuer.login(begun, 'eve')
  const stranger = await bob.browser.open(back.href)
  expect([stranger.status, stranger.text]).toEqual([404, expect.stringContaining('no login of')])
  const elsewhere = new FormBrowser(url)
  const form = await elsewhere.open(`${url}/login`)
  await elsewhere.submit(form, { name: 'ann', password: PASSWORD })
  expect((await elsewhere.open(back.href)).status).toBe(404)
  const forged = new URL(back)
  forged.searchParams.set('iss', notes.issuer.url)
  expect((await ann.browser.open(forged.href)).status).toBe(503)
  // A state is good for one answer, even for a wrong one.
  expect((await ann.browser.open(back.href)).status).toBe(404)
  expect(await call(ann, 'mail__whoami')).toContain('/connect/mail')
})

test('a user who disconnects has no login any more, nor has the server', async () => {
  await connect(bob, 'mail', 'bob@mail')
  const token = mail.issuer.issued.at(-1) ?? ''
  await disconnect(bob, 'mail')
  await eventually(async () => (await call(bob, 'mail__whoami')).includes('/connect/mail'))
  expect(await mail.issuer.accepts(token)).toBe(false)
  expect(await call(bob, 'notes__whoami')).toBe('bob@notes')
})

test('the pages of logins are for users in pages of this host alone', async () => {
  const page = `${url}/connect/mail`
  const visitor = await fetch(page, { redirect: 'manual' })
  expect(visitor.headers.get('location')).toBe('/login?return=%2Fconnect%2Fmail')
  const { cookie } = { cookie: ann.browser.cookies() }
  const form = { 'content-type': 'application/x-www-form-urlencoded', cookie }
  const foreign = await fetch(page, {
    method: 'POST',
    headers: { ...form, origin: 'https://evil.example' },
    body: 'decision=connect',
  })
  expect(foreign.status).toBe(403)
  const own = await fetch(page, { headers: { cookie } })
  expect(own.headers.get('x-frame-options')).toBe('DENY')
  expect(own.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
  expect(own.headers.get('cache-control')).toBe('no-store')
  const begun = await fetch(page, {
    method: 'POST',
    headers: { ...form, origin: url },
    body: 'decision=connect',
  })
  expect(begun.headers.get('set-cookie')).toMatch(
    /^mcp-host-connect=[\w-]{43}; .*HttpOnly; SameSite=Lax/,
  )
  expect(new URL(begun.headers.get('refresh')?.slice(7) ?? '').origin).toBe(mail.issuer.url)
  for (const name of ['test', 'nowhere', '%2Fmail']) {
    const { status } = await fetch(`${url}/connect/${name}`, { headers: { cookie } })
    expect(status).toBe(404)
  }
})

test('a program of a user gets tokens by itself, and logs the user in by them', async () => {
  const { issuer } = mail
  const ask = (path: string, init: RequestInit = {}): Promise<Response> => {
    const headers = { ...ann.headers, 'content-type': 'application/json' }
    return fetch(`${url}/api/connections/mail/${path}`, { ...init, headers })
  }
  const bring = (label: string, tokens: object): Promise<Response> =>
    ask(label, { method: 'PUT', body: JSON.stringify(tokens) })
  const described = (await (await ask('authorization')).json()) as Record<string, string>
  expect(described).toMatchObject({
    issuer: issuer.url,
    tokenEndpoint: `${issuer.url}/token`,
    scope: 'notes.read offline_access',
    resource: mail.server.url,
  })
  const { tokens, clientId } = await authorize(described, (page) => issuer.login(page, 'robot'))
  expect(await (await bring('robot', tokens)).text()).toContain('client_id')
  expect((await bring('robot', { ...tokens, client_id: clientId })).status).toBe(204)
  const asRobot = async (): Promise<string> => {
    const _meta = { 'mcp-host/options': { account: 'robot' } }
    const { content } = await ann.mcp.callTool({ name: 'mail__whoami', arguments: {}, _meta })
    return JSON.stringify(content)
  }
  expect(await asRobot()).toContain('robot')
  const before = issuer.refreshes
  await issuer.revoke(tokens.access_token)
  expect(await asRobot()).toContain('robot')
  expect(issuer.refreshes).toBe(before + 1)

  const refused = await bring('other', { access_token: 'made-up' })
  expect(refused.status).toBe(400)
  expect(await refused.text()).toContain('the server refuses this token')
  expect((await bring('other', { access_token: '' })).status).toBe(400)
  expect((await ask('robot', { method: 'DELETE' })).status).toBe(204)
})

test('a terminal logs its user in by a code for another device, or by a token from stdin', async () => {
  const { issuer } = mail
  const env = { ...process.env, MCP_HOST_TOKEN: ann.headers.authorization.replace('Bearer ', '') }
  const login = async (...words: string[]): Promise<Child> => {
    const given = [`${ROOT}tools/login/login.ts`, ...words, '--url', url]
    return spawn(process.execPath, given, { env })
  }
  const program = await login('mail', '--account', 'terminal')
  const ended = printedBy(program)
  const [page = ''] = await once(program.stdout.setEncoding('utf8'), 'data')
  const [, address = '', word = ''] = /Open (\S+) .* the code (\S+) /.exec(String(page)) ?? []
  await issuer.loginDevice(new URL(address), word, 'ann.terminal')
  expect(await ended).toContain('You are logged in at mail.')
  const _meta = { 'mcp-host/options': { account: 'terminal' } }
  const { content } = await ann.mcp.callTool({ name: 'mail__whoami', arguments: {}, _meta })
  expect(JSON.stringify(content)).toContain('ann.terminal')

  const piped = await login('mail', '--account', 'piped', '--with-token')
  piped.stdin.end(`${issuer.issued.at(-1)}\n`)
  expect(await printedBy(piped)).toContain('You are logged in at mail.')
  expect(await printedBy(await login('test'))).toContain('users cannot log in at "test"')
  for (const account of ['terminal', 'piped']) {
    const { headers } = ann
    await fetch(`${url}/api/connections/mail/${account}`, { method: 'DELETE', headers })
  }
})

test('a user lists and ends the own logins alone', async () => {
  const ask = (user: StageUser, path = '', method = 'GET') =>
    fetch(`${url}/api/connections${path}`, { method, headers: user.headers })
  const loginsOf = async (user: StageUser): Promise<string[]> => {
    const { connections } = (await (await ask(user)).json()) as {
      readonly connections: readonly { readonly server: string; readonly logins: object[] }[]
    }
    return connections.flatMap(({ server, logins }) => (logins.length === 0 ? [] : server))
  }
  expect([await loginsOf(ann), await loginsOf(bob)]).toEqual([['notes'], ['notes']])
  expect(await (await ask(ann)).text()).not.toMatch(/token|secret/i)
  expect((await ask(bob, '/notes/default', 'DELETE')).status).toBe(204)
  expect([await loginsOf(ann), await loginsOf(bob)]).toEqual([['notes'], []])
  expect(await call(ann, 'notes__whoami')).toBe('ann@notes')
  expect((await ask({ ...ann, headers: { authorization: 'Bearer no' } })).status).toBe(401)
})

test('an admin sees who is logged in, and ends a login', async () => {
  const ask = (user: StageUser, path = '', method = 'GET') =>
    fetch(`${url}/api/servers/notes/users${path}`, { method, headers: user.headers })
  await connect(bob, 'notes', 'bob@notes')
  const found = await (await ask(ann)).text()
  for (const name of ['user:ann', 'user:bob']) expect(found).toContain(`"principal":"${name}"`)
  expect(found).not.toMatch(/token|secret|sealed/i)
  const health = await (await fetch(`${url}/health`, { headers: ann.headers })).text()
  expect(health).toMatch(/"logins":\{"usable":\d+,"needed":0\}/)
  expect((await ask(bob)).status).toBe(403)
  expect((await ask(bob, '/user:ann/default', 'DELETE')).status).toBe(403)
  expect((await ask(ann, '/user:bob/default', 'DELETE')).status).toBe(204)
  await eventually(async () => (await call(bob, 'notes__whoami')).includes('/connect/notes'))
  expect(await call(ann, 'notes__whoami')).toBe('ann@notes')
})

test('after a kill of all supervisors the logins are there', async () => {
  await stack.kill('mcp-supervisor')
  await stack.restart('mcp-supervisor')
  expect(await call(ann, 'notes__whoami')).toBe('ann@notes')
})

test('no token is in a log, nor is one readable in the broker', async () => {
  const logs = await stack.logs()
  const tokens = [...notes.issuer.issued, ...mail.issuer.issued]
  expect(tokens.length).toBeGreaterThan(2)
  for (const token of tokens) expect(logs).not.toContain(token)
  const bus = await stack.broker.connect()
  const bucket = defineBucket('UPSTREAM_LOGINS', { record: z.unknown(), what: 'logins' })
  const { records } = await (await bus.bucket(bucket)).watch()
  const stored = JSON.stringify(Array.from(records))
  expect(stored).toContain('user:ann')
  for (const token of tokens) expect(stored).not.toContain(token)
})
