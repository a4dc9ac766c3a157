// Attacks on the logins of users at MCP servers: forged answers of browsers, forged requests to the pages, other users.
import { type LoginServer, openLoginServer } from '@mcp-host/mcp-testkit'
import { FormBrowser, leaveFor, logIn } from '@mcp-host/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { LoginStage } from './upstream-login-stage.ts'
import { callTool, loginsOf, openLoginStage, PASSWORD } from './upstream-login-stage.ts'

const FORM = 'application/x-www-form-urlencoded'
const cleanup = new AsyncDisposableStack()
let stage: LoginStage
let url: string
let mail: LoginServer
let notes: LoginServer

beforeAll(async () => {
  mail = cleanup.use(await openLoginServer())
  notes = cleanup.use(await openLoginServer())
  stage = cleanup.use(await openLoginStage({ mail: mail.entry, notes: notes.entry }))
  ;({ url } = stage)
}, 120_000)
afterAll(() => cleanup.disposeAsync())

const connected = async (): Promise<string[][]> =>
  Promise.all(
    [stage.ann, stage.bob].flatMap((user) =>
      ['mail', 'notes'].map((server) => loginsOf(url, user, server)),
    ),
  )
const NOBODY = [[], [], [], []]

/** Begins a login of ann. Returns the address to which the authorization server sends the browser back. */
async function answerTo(server: 'mail' | 'notes', browser: FormBrowser): Promise<URL> {
  const { issuer } = server === 'mail' ? mail : notes
  return issuer.login(await leaveFor(`${url}/connect/${server}`, browser), 'eve')
}

const param = (name: string, value: (old: string) => string) => (back: URL) => {
  back.searchParams.set(name, value(back.searchParams.get(name) ?? ''))
}
const at = (path: string) => (back: URL) => void (back.pathname = path)

interface ForgedAnswer {
  readonly change?: (back: URL) => unknown
  /** The browser that opens the address. Default: that of ann. */
  readonly browser?: () => Promise<FormBrowser> | FormBrowser
  readonly status: number
}

async function otherBrowserOfAnn(): Promise<FormBrowser> {
  const browser = new FormBrowser(url)
  await browser.submit(await browser.open(`${url}/login`), { name: 'ann', password: PASSWORD })
  return browser
}

/** The browser of bob, with the cookie that ann's browser got when the login began. */
async function bobWithCookieOfAnn(): Promise<FormBrowser> {
  const browser = new FormBrowser(url)
  await browser.submit(await browser.open(`${url}/login`), { name: 'bob', password: PASSWORD })
  const stolen = /mcp-host-connect=[\w-]+/.exec(stage.ann.browser.cookies())?.[0] ?? ''
  browser.keep([`${stolen}; Path=/`])
  return browser
}

const FORGED_ANSWERS: readonly (readonly [string, ForgedAnswer])[] = [
  ['at the path of another server', { change: at('/connected/notes'), status: 404 }],
  ['at the path of a server without logins', { change: at('/connected/test'), status: 404 }],
  ['without an issuer', { change: (back) => back.searchParams.delete('iss'), status: 503 }],
  ['with an issuer that has a suffix', { change: param('iss', (iss) => `${iss}/x`), status: 503 }],
  ['with an unknown state', { change: param('state', () => 'x'.repeat(43)), status: 404 }],
  ['without a state', { change: (back) => back.searchParams.delete('state'), status: 404 }],
  ['with an empty state', { change: param('state', () => ''), status: 404 }],
  ['with junk after the state', { change: param('state', (old) => `${old}x`), status: 404 }],
  ['with a line break after the state', { change: param('state', (s) => `${s}\n`), status: 404 }],
  ['with a space before the state', { change: param('state', (old) => ` ${old}`), status: 404 }],
  ['with a shorter state', { change: param('state', (old) => old.slice(0, -1)), status: 404 }],
  ['with a state in capitals', { change: param('state', (s) => s.toUpperCase()), status: 404 }],
  [
    'with another state before its own',
    { change: (back) => (back.search = `?state=x&${back.search.slice(1)}`), status: 404 },
  ],
  ['with an invented code', { change: param('code', () => 'x'), status: 503 }],
  ['without a code', { change: (back) => back.searchParams.delete('code'), status: 503 }],
  ['of more than 16 KiB', { change: param('more', () => 'x'.repeat(20_000)), status: 431 }],
  ['in the browser of another user', { browser: () => stage.bob.browser, status: 404 }],
  ['in another browser of its user', { browser: otherBrowserOfAnn, status: 404 }],
  ['of another user with the stolen cookie', { browser: bobWithCookieOfAnn, status: 404 }],
]

describe('forged answers', () => {
  test.each(FORGED_ANSWERS)(
    'an answer %s completes no login',
    async (_, { change, browser, status }) => {
      const back = await answerTo('mail', stage.ann.browser)
      change?.(back)
      const page = await (await (browser?.() ?? stage.ann.browser)).open(back.href)
      expect([page.status, page.text]).toEqual([
        status,
        expect.stringMatching(/did not work|Too Large/),
      ])
      expect(await connected()).toEqual(NOBODY)
    },
  )

  test('an answer with the state of a login at another server completes no login', async () => {
    const other = await answerTo('notes', stage.ann.browser)
    const back = await answerTo('mail', stage.ann.browser)
    param('state', () => other.searchParams.get('state') ?? '')(back)
    expect((await stage.ann.browser.open(back.href)).status).toBe(404)
    expect(await connected()).toEqual(NOBODY)
  })

  test('an answer with the code of another user completes no login', async () => {
    const injected = await answerTo('mail', stage.bob.browser)
    const back = await answerTo('mail', stage.ann.browser)
    param('code', () => injected.searchParams.get('code') ?? '')(back)
    expect((await stage.ann.browser.open(back.href)).status).toBe(503)
    expect(await connected()).toEqual(NOBODY)
  })

  test('an answer to a login that was begun again meanwhile completes no login', async () => {
    const old = await answerTo('mail', stage.ann.browser)
    await answerTo('mail', stage.ann.browser)
    expect((await stage.ann.browser.open(old.href)).status).toBe(404)
    expect(await connected()).toEqual(NOBODY)
  })

  test.each([
    ['error', '<img src=x onerror=alert(1)>'],
    ['error_description', '"><script>alert(1)</script>'],
    ['error_uri', 'javascript:alert(1)'],
  ])('the page for an answer with a script in %s has no script', async (name, value) => {
    const back = await answerTo('mail', stage.ann.browser)
    param('error', () => 'access_denied')(back)
    param(name, () => value)(back)
    const page = await stage.ann.browser.open(back.href)
    expect(page.status).toBe(503)
    expect(page.text).not.toMatch(/<img|<script|javascript:/)
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(await connected()).toEqual(NOBODY)
  })

  test.each(['HEAD', 'POST', 'PUT'])('an answer by %s completes no login', async (method) => {
    const back = await answerTo('mail', stage.ann.browser)
    const headers = { cookie: stage.ann.browser.cookies(), origin: url, 'content-type': FORM }
    const response = await fetch(back, { method, headers, redirect: 'manual' })
    expect(response.status).toBeGreaterThanOrEqual(400)
    expect(await connected()).toEqual(NOBODY)
  })
})

interface ForgedRequest {
  readonly method?: string
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly isAnonymous?: boolean
  readonly status: number
}

async function send(request: Omit<ForgedRequest, 'status'>): Promise<Response> {
  const { method = 'POST', path = '/connect/mail', headers = {}, isAnonymous, body } = request
  const cookie = isAnonymous === true ? {} : { cookie: stage.ann.browser.cookies() }
  return fetch(`${url}${path}`, {
    method,
    headers: { 'content-type': FORM, origin: url, ...cookie, ...headers },
    redirect: 'manual',
    ...(method === 'GET' ? {} : { body: body ?? 'decision=connect' }),
  })
}

const origin = (foreign: () => string) => ({ headers: { origin: foreign() } })
const connectAs = (account: string): string =>
  new URLSearchParams({ decision: 'connect', account }).toString()

const FORGED_REQUESTS: readonly (readonly [string, () => ForgedRequest])[] = [
  ['a form of a sandboxed page', () => ({ ...origin(() => 'null'), status: 403 })],
  ['a form of another port', () => ({ ...origin(() => 'http://127.0.0.1:1'), status: 403 })],
  [
    'a form of another scheme',
    () => ({ ...origin(() => url.replace('http', 'https')), status: 403 }),
  ],
  [
    'a form of a site whose name begins like this host',
    () => ({ ...origin(() => `${url}.evil.example`), status: 403 }),
  ],
  ['a form without a login at this host', () => ({ isAnonymous: true, status: 303 })],
  [
    'a form that is sent as text',
    () => ({ headers: { 'content-type': 'text/plain' }, status: 415 }),
  ],
  [
    'a form that is sent as JSON',
    () => ({ headers: { 'content-type': 'application/json' }, body: '{}', status: 415 }),
  ],
  ['a link with the fields of the form', () => ({ ...get('?decision=connect'), status: 200 })],
  ['a form with two accounts', () => ({ body: `${connectAs('a')}&account=b`, status: 400 })],
  ['a label of 61 characters', () => ({ body: connectAs('x'.repeat(61)), status: 400 })],
  ['a label with a line break', () => ({ body: connectAs('x\r\nset-cookie: a=b'), status: 400 })],
  ['a label that turns the writing around', () => ({ body: connectAs('x\u202Ey'), status: 400 })],
  ['a path out of the folder', () => ({ path: '/connect/..%2F..%2Fapi%2Fkeys', status: 404 })],
  ['a server with a line break', () => ({ path: '/connect/mail%0d%0aset-cookie:x', status: 404 })],
  ['a server with a zero byte', () => ({ path: '/connect/mail%00', status: 404 })],
  ['a server that is a prototype', () => ({ path: '/connect/__proto__', status: 404 })],
  ['a server that is a constructor', () => ({ path: '/connect/constructor', status: 404 })],
]

function get(query: string): Pick<ForgedRequest, 'method' | 'path'> {
  return { method: 'GET', path: `/connect/mail${query}` }
}

describe('forged requests', () => {
  test.each(FORGED_REQUESTS)('%s begins no login', async (_, forged) => {
    const { status, ...request } = forged()
    const registered = mail.issuer.registered.length
    const response = await send(request)
    expect(response.status).toBe(status)
    expect(response.headers.get('refresh')).toBeNull()
    expect(response.headers.get('set-cookie') ?? '').not.toContain('connect')
    expect(response.headers.get('x-frame-options')).toBe('DENY')
    expect(mail.issuer.registered).toHaveLength(registered)
  })
})

test.each(['https://evil.example/', '//evil.example/', '/\\evil.example/', 'javascript:alert(1)'])(
  'a page of logins leads nowhere but to the authorization server, whatever is asked: %s',
  async (target) => {
    const names = ['return', 'returnTo', 'next', 'redirect_uri', 'url']
    const wanted = new URLSearchParams(
      Object.fromEntries(names.map((name) => [name, target])),
    ).toString()
    const asked = await send(get(`?${wanted}`))
    expect([asked.status, asked.headers.get('location')]).toEqual([200, null])
    expect(await asked.text()).not.toContain('evil.example')
    const begun = await send({
      path: `/connect/mail?${wanted}`,
      body: `decision=connect&${wanted}`,
    })
    const page = new URL(begun.headers.get('refresh')?.slice(7) ?? '')
    expect(page.origin).toBe(mail.issuer.url)
    expect(page.searchParams.get('redirect_uri')).toBe(`${url}/connected/mail`)
    const ended = await send({ body: `decision=disconnect&account=none&${wanted}` })
    expect(ended.headers.get('location')).toBe('/connect/mail')
  },
)

test.each(['/connect/mail', '/connected/mail?state=x&code=y', '/connect/mail?account=other'])(
  'the page %s is in no frame, in no cache, and runs no script',
  async (path) => {
    const { headers } = await send({ method: 'GET', path })
    expect(headers.get('x-frame-options')).toBe('DENY')
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'.*frame-ancestors 'none'/,
    )
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('referrer-policy')).toBe('same-origin')
  },
)

describe('a user who is connected', () => {
  beforeAll(async () => {
    for (const label of ['default', 'work']) {
      const link = `${url}/connect/mail?account=${label}`
      await logIn(link, stage.ann.browser, { issuer: mail.issuer, as: `ann.${label}` })
    }
    // The label of a call counts for users with several logins.
    for (const label of ['default', 'other']) {
      const link = `${url}/connect/mail?account=${label}`
      await logIn(link, stage.bob.browser, { issuer: mail.issuer, as: `bob.${label}` })
    }
    expect(await loginsOf(url, stage.ann, 'mail')).toEqual(['default', 'work'])
    expect(await callTool(stage.bob, 'mail__whoami', 'other')).toContain('bob.other')
  })

  test('an answer that was used is refused', async () => {
    const back = await answerTo('notes', stage.ann.browser)
    expect((await stage.ann.browser.open(back.href)).status).toBe(200)
    const exchanges = notes.issuer.asked.length
    expect((await stage.ann.browser.open(back.href)).status).toBe(404)
    expect(notes.issuer.asked).toHaveLength(exchanges)
  })

  test('a user who is connected is asked again before each redirect', async () => {
    for (const query of ['', '?account=work', '?account=third']) {
      const page = await send(get(query))
      expect([page.status, page.headers.get('location')]).toEqual([200, null])
      expect(page.headers.get('refresh')).toBeNull()
      expect(await page.text()).toContain('method="post"')
    }
  })

  test('the label of another user gives none of the tokens of that user', async () => {
    for (const label of ['work', 'user:ann', '../ann/work']) {
      const answer = await callTool(stage.bob, 'mail__whoami', label)
      expect(answer).toContain('/connect/mail')
      expect(answer).not.toContain('ann.')
    }
  })

  test('a link that another user opens is about the user who opens it', async () => {
    const page = await stage.bob.browser.open(`${url}/connect/mail?account=work`)
    expect(page.text).toContain('user:bob')
    expect(page.text).not.toContain('Disconnect')
  })

  test.each<[string, () => Promise<number>, number]>([
    ['the form of another user', disconnectAsBob, 303],
    ['a request of another user', () => remove(stage.bob.headers, 'mail/work'), 204],
    ['a path out of the own logins', () => remove(stage.bob.headers, 'mail/..%2Fann%2Fwork'), 204],
    ['a server that is a path', () => remove(stage.bob.headers, '..%2Fmail/work'), 400],
    ['a key that is none', () => remove({ authorization: 'Bearer none' }, 'mail/work'), 401],
    ['a key for the audit log', async () => remove(await auditKey(), 'mail/work'), 403],
    ['a foreign page in the browser of the user', () => remove(foreignPage(), 'mail/work'), 403],
  ])('%s does not end the login of a user', async (_, attack, status) => {
    expect(await attack()).toBe(status)
    expect(await loginsOf(url, stage.ann, 'mail')).toEqual(['default', 'work'])
    expect(await callTool(stage.ann, 'mail__whoami', 'work')).toContain('ann.work')
  })

  test('a key for the audit log begins no login', async () => {
    const headers = await auditKey()
    const response = await send({ headers, isAnonymous: true })
    expect([response.status, response.headers.get('refresh')]).toEqual([303, null])
    expect(response.headers.get('location')).toContain('/login?return=')
  })
})

const foreignPage = (): Record<string, string> => ({
  cookie: stage.ann.browser.cookies(),
  origin: 'https://evil.example',
})

async function disconnectAsBob(): Promise<number> {
  const headers = { cookie: stage.bob.browser.cookies() }
  return (await send({ headers, body: 'decision=disconnect&account=work' })).status
}

async function remove(headers: Readonly<Record<string, string>>, path: string): Promise<number> {
  const { status } = await fetch(`${url}/api/connections/${path}`, { method: 'DELETE', headers })
  return status
}

/** An API key of ann that is for the audit log alone. */
async function auditKey(): Promise<{ readonly authorization: string }> {
  const about = { name: 'audit', principal: 'user:ann', roles: ['auditor'], scopes: ['audit'] }
  const response = await fetch(`${url}/api/keys`, {
    method: 'POST',
    headers: { ...stage.ann.headers, 'content-type': 'application/json' },
    body: JSON.stringify(about),
  })
  const { key } = (await response.json()) as { readonly key: string }
  return { authorization: `Bearer ${key}` }
}
