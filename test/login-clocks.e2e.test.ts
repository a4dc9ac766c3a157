// Logins, tokens, keys and approvals at two gateways, one of whose clocks is wrong.
import { createHash, randomBytes } from 'node:crypto'
import type { Stack, TcpProxy } from '@mcp-host/testkit'
import { createKey, eventually, FormBrowser, startStack, startTcpProxy } from '@mcp-host/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findBroker } from '../tools/servers/find-broker.ts'
import { firstAdminLink } from '../tools/start/first-admin.ts'

const PASSWORD = 'correct horse battery'
const REDIRECT = 'http://127.0.0.1:9/callback'
const META = 'io.modelcontextprotocol'
const PAY = 'test__pay'
/** Shorter than the largest offset. */
const APPROVAL_TIMEOUT_MS = 120_000

describe.each([
  ['5 minutes ahead', 300_000],
  ['5 minutes behind', -300_000],
  ['60 s ahead', 60_000],
  ['60 s behind', -60_000],
])('beside a gateway whose clock is %s', (_, offsetMs) => {
  const cleanup = new AsyncDisposableStack()
  let proxy: TcpProxy
  let stack: Stack
  let url: string
  /** The addresses of both gateways: the wrong one, the right one. */
  let gateways: readonly [string, string]
  beforeAll(async () => {
    proxy = cleanup.use(await startTcpProxy())
    url = proxy.url
    const env = { AUTH: 'local,keys', PUBLIC_URL: url, TOOL_APPROVAL: 'test.pay' }
    stack = cleanup.use(
      await startStack({
        tools: [{ name: 'pay', inputSchema: { type: 'object' } }],
        env: { ...env, APPROVAL_TIMEOUT_MS: String(APPROVAL_TIMEOUT_MS) },
        clockOffsetsMs: { gateway: offsetMs },
      }),
    )
    gateways = [stack.url, (await stack.add('gateway', { CLOCK_OFFSET_MS: '0' })).url]
    const broker = findBroker(stack.broker.env, '/', stack.broker.url)
    const { link = '' } = await firstAdminLink(broker, env)
    await passTo(gateways[0])
    const browser = new FormBrowser(url)
    const fields = { name: 'ann', password: PASSWORD, again: PASSWORD }
    const done = await browser.submit(await browser.open(link), fields)
    expect(done.text).toContain('You are logged in')
  }, 120_000)
  afterAll(() => cleanup.disposeAsync())

  const ways = [
    ['from the wrong to the right one', () => gateways],
    ['from the right to the wrong one', () => gateways.toReversed()],
  ] as const

  /** Sends the requests for the public address to a gateway. */
  async function passTo(gateway = ''): Promise<void> {
    proxy.reset(gateway)
    // The client finds the closed connections.
    await eventually(async () => (await fetch(`${url}/health`).catch(() => undefined))?.ok === true)
  }

  async function logIn(): Promise<FormBrowser> {
    const browser = new FormBrowser(url)
    const form = await browser.open(`${url}/login`)
    const done = await browser.submit(form, { name: 'ann', password: PASSWORD })
    expect(done.text).toContain('You are logged in')
    return browser
  }

  async function post(path: string, body: object, headers: object = {}) {
    const response = await fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: url, ...headers },
      body: JSON.stringify(body),
    })
    return { status: response.status, value: JSON.parse(await response.text()) }
  }

  /** The answer of a gateway about the principal of a credential. */
  async function statusAt(gateway = '', credential: Record<string, string>): Promise<number> {
    const headers = { origin: url, ...credential }
    const response = await fetch(`${gateway}/api/me`, { headers })
    await response.body?.cancel()
    return response.status
  }

  const cookieOf = (browser: FormBrowser) => ({ cookie: browser.cookies() })
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

  /** Allows a client that a user has just connected; resolves with the request of its first tokens. */
  async function authorize(browser: FormBrowser): Promise<Record<string, string>> {
    const { value } = await post('/auth/register', {
      client_name: 'A test client',
      redirect_uris: [REDIRECT],
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    })
    const verifier = randomBytes(32).toString('base64url')
    const query = new URLSearchParams({
      client_id: value.client_id,
      redirect_uri: REDIRECT,
      response_type: 'code',
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
      scope: 'mcp chat',
    })
    const page = await browser.open(`${url}/auth/authorize?${query.toString()}`)
    await browser.submit(page, { decision: 'allow' })
    const code = new URL(browser.leftFor ?? 'about:blank').searchParams.get('code') ?? ''
    return {
      grant_type: 'authorization_code',
      client_id: value.client_id,
      redirect_uri: REDIRECT,
      code,
      code_verifier: verifier,
    }
  }

  async function tokens(gateway = '', about: Record<string, string>) {
    const body = new URLSearchParams(about)
    const response = await fetch(`${gateway}/auth/token`, { method: 'POST', body })
    const value = (await response.json()) as Record<string, string>
    const { access_token: access = '', refresh_token = '' } = value
    const { client_id = '' } = about
    return { access, next: { grant_type: 'refresh_token', client_id, refresh_token }, value }
  }

  test.each(ways)('logins and tokens are good %s', async (_way, order) => {
    const [from, to] = order()
    await passTo(from)
    const browser = await logIn()
    for (const gateway of gateways) expect(await statusAt(gateway, cookieOf(browser))).toBe(200)
    const first = await tokens(to, await authorize(browser))
    const second = await tokens(from, first.next)
    const third = await tokens(to, second.next)
    for (const { access, value } of [first, second, third]) {
      expect(value).toMatchObject({ token_type: 'Bearer' })
      for (const gateway of gateways) expect(await statusAt(gateway, bearer(access))).toBe(200)
    }
  })

  test.each(ways)('the end of all logins counts at once %s', async (_way, order) => {
    const [from, to] = order()
    await passTo(to)
    const browser = await logIn()
    const old = await tokens(to, await authorize(browser))
    // The connection of the login itself would be closed.
    const root = await createKey(await stack.broker.connect(), 'user:root', ['admin'])
    const ended = await fetch(`${from}/api/accounts/ann`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json', ...root },
      body: JSON.stringify({ signOut: true }),
    })
    expect(ended.status).toBe(200)
    for (const gateway of gateways) {
      await eventually(async () => (await statusAt(gateway, bearer(old.access))) === 401)
      await eventually(async () => (await statusAt(gateway, cookieOf(browser))) === 401)
      expect((await tokens(gateway, old.next)).value).toMatchObject({ error: 'invalid_grant' })
    }
    await passTo(to)
    const again = await logIn()
    const fresh = await tokens(from, await authorize(again))
    for (const gateway of gateways) {
      expect(await statusAt(gateway, cookieOf(again))).toBe(200)
      expect(await statusAt(gateway, bearer(fresh.access))).toBe(200)
    }
  })

  test.each(ways)('keys are good until they are revoked %s', async (_way, order) => {
    const [from, to] = order()
    await passTo(from)
    const browser = await logIn()
    const { value } = await post('/api/keys', { name: 'ci', expiresInDays: 1 }, cookieOf(browser))
    const day = value.expiresAt - Date.now()
    expect(Math.abs(day - 86_400_000)).toBeLessThan(30_000)
    for (const gateway of gateways) {
      await eventually(async () => (await statusAt(gateway, bearer(value.key))) === 200)
    }
    await passTo(to)
    const headers = { origin: url, ...cookieOf(browser) }
    const revoked = await fetch(`${url}/api/keys/${value.id}`, { method: 'DELETE', headers })
    expect(revoked.status).toBe(204)
    for (const gateway of gateways) {
      await eventually(async () => (await statusAt(gateway, bearer(value.key))) === 401)
    }
  })

  test.each(ways)('approvals are good %s', async (way, order) => {
    const [from, to] = order()
    const ann = await createKey(await stack.broker.connect(), 'user:ann')
    const call = (more: object) => ({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        name: PAY,
        arguments: { way },
        _meta: {
          [`${META}/protocolVersion`]: '2026-07-28',
          [`${META}/clientCapabilities`]: { elicitation: { form: {} } },
        },
        ...more,
      },
    })
    const headers = {
      ...ann,
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': PAY,
    }
    await passTo(from)
    const asked = await post('/mcp', call({}), headers)
    expect(asked.value.result).toMatchObject({ resultType: 'input_required' })
    await passTo(to)
    const { requestState } = asked.value.result
    const inputResponses = { approval: { action: 'accept', content: {} } }
    const done = await post('/mcp', call({ requestState, inputResponses }), headers)
    expect(done.value.result).toMatchObject({ resultType: 'complete' })
    const calls = await stack.journal()
    expect(calls.map(({ arguments: given }) => given)).toContainEqual({ way })
  })
})
