// A login at an MCP server whose tokens end, at three supervisors, while processes and connections fail.
import { randomBytes } from 'node:crypto'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { type LoginServer, openLoginServer } from '@mcp-host/mcp-testkit'
import type { Stack } from '@mcp-host/testkit'
import { eventually, FormBrowser, logIn, startStack, startTcpProxy } from '@mcp-host/testkit'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'

const cleanup = new AsyncDisposableStack()
let url: string
let stack: Stack
/** The supervisors besides the first one. */
let others: Awaited<ReturnType<Stack['add']>>[]
/** Ends a login when one of its refresh tokens is used twice. */
let strict: LoginServer
/** Takes a refresh token again. */
let lenient: LoginServer
let mcp: Client

beforeAll(async () => {
  strict = cleanup.use(await openLoginServer())
  lenient = cleanup.use(await openLoginServer({ rotates: false }))
  const proxy = cleanup.use(await startTcpProxy())
  url = proxy.url
  stack = cleanup.use(
    await startStack({
      tools: [{ name: 'echo', inputSchema: { type: 'object' } }],
      servers: { strict: strict.entry, lenient: lenient.entry },
      toolCount: 3,
      env: { PUBLIC_URL: url, TOKEN_ENC_KEY: randomBytes(32).toString('base64') },
    }),
  )
  others = [await stack.add('mcp-supervisor'), await stack.add('mcp-supervisor')]
  proxy.route(stack.url)
  mcp = new Client({ name: 'test', version: '1.0.0' })
  await mcp.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)))
  cleanup.defer(() => mcp.close())
  await connect('strict')
  await connect('lenient')
  await eventually(async () => {
    const names = (await mcp.listTools()).tools.map(({ name }) => name)
    return names.includes('strict__whoami') && names.includes('lenient__whoami')
  })
}, 120_000)
afterAll(() => cleanup.disposeAsync())

beforeEach(() => {
  for (const { issuer } of [strict, lenient]) issuer.onTokenRequest = undefined
})

function serverOf(name: 'strict' | 'lenient'): LoginServer {
  return name === 'strict' ? strict : lenient
}

async function connect(name: 'strict' | 'lenient'): Promise<void> {
  const { issuer } = serverOf(name)
  const page = await logIn(`${url}/connect/${name}`, new FormBrowser(url), { issuer, as: 'ann' })
  expect(page).toContain('You are connected')
}

async function call(name: 'strict' | 'lenient'): Promise<string> {
  const { content } = await mcp.callTool({ name: `${name}__whoami`, arguments: {} })
  return (content as { readonly text: string }[]).map(({ text }) => text).join('')
}

/** Ends the present access token, so that the next call needs another one. */
async function expire(name: 'strict' | 'lenient'): Promise<void> {
  const { issuer } = serverOf(name)
  await issuer.revoke(issuer.issued.at(-1) ?? '')
}

const refreshes = (name: 'strict' | 'lenient'): number =>
  serverOf(name).issuer.asked.filter((body) => body.get('grant_type') === 'refresh_token').length

test('a token that ends under load is replaced once, and no call fails', async () => {
  const before = refreshes('strict')
  const rounds = 20
  for (let round = 0; round < rounds; round += 1) {
    await expire('strict')
    const calls = await Promise.all(Array.from({ length: 200 }, () => call('strict')))
    expect(new Set(calls)).toEqual(new Set(['ann']))
  }
  expect(refreshes('strict') - before).toBe(rounds)
}, 120_000)

test('an authorization server that is away for a while costs no login', async () => {
  await expire('strict')
  strict.issuer.isBroken = true
  await expect(call('strict')).rejects.toThrow('there is no login at the server')
  strict.issuer.isBroken = false
  expect(await call('strict')).toBe('ann')
})

/** Kills all supervisors while one of them replaces a token, at a moment of it. */
async function killAt(name: 'strict' | 'lenient', moment: 'received' | 'processed'): Promise<void> {
  const { issuer } = serverOf(name)
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>()
  issuer.onTokenRequest = (at) => {
    if (at !== moment) return undefined
    issuer.onTokenRequest = undefined
    reach()
    // Its supervisor does not live to see the answer.
    return new Promise(() => undefined)
  }
  await expire(name)
  const called = call(name).catch((error: unknown) => error)
  await reached
  for (const { process } of others.splice(0)) process.signal('SIGKILL')
  await stack.kill('mcp-supervisor')
  await stack.restart('mcp-supervisor')
  await called
}

test.each(['received', 'processed'] as const)(
  'supervisors that are killed when the request of one for a token is %s cost no login',
  async (moment) => {
    await killAt('lenient', moment)
    await eventually(async () => (await call('lenient').catch(() => '')) === 'ann')
  },
  60_000,
)

test('a connection that breaks after the token was replaced costs no login where it can be helped', async () => {
  const tearOnce = (name: 'strict' | 'lenient'): void => {
    const { issuer } = serverOf(name)
    issuer.onTokenRequest = (moment, tear) => {
      if (moment !== 'processed') return
      issuer.onTokenRequest = undefined
      tear()
    }
  }
  await expire('lenient')
  tearOnce('lenient')
  await call('lenient').catch(() => undefined)
  expect(await call('lenient')).toBe('ann')
  await expire('strict')
  tearOnce('strict')
  await call('strict').catch(() => undefined)
  // Elsewhere the user is asked, and told where.
  expect(await call('strict')).toContain(`${url}/connect/strict`)
  expect(await call('lenient')).toBe('ann')
  await connect('strict')
  expect(await call('strict')).toBe('ann')
})
