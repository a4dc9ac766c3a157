// A login at an MCP server whose tokens end, at three supervisors, while processes and connections fail.
import { type LoginServer, openLoginServer } from '@mcp-host/mcp-testkit'
import { eventually } from '@mcp-host/testkit'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type LoginHost, startLoginHost } from './login-host.ts'

type Name = 'strict' | 'lenient'

const cleanup = new AsyncDisposableStack()
let host: LoginHost<Name>
/** Ends a login when one of its refresh tokens is used twice. */
let strict: LoginServer
/** Takes a refresh token again. */
let lenient: LoginServer

beforeAll(async () => {
  strict = cleanup.use(await openLoginServer())
  lenient = cleanup.use(await openLoginServer({ rotates: false }))
  host = cleanup.use(await startLoginHost({ strict, lenient }))
  for (const name of ['strict', 'lenient'] as const) {
    await host.connect(name)
    await host.listed(name)
  }
}, 120_000)
afterAll(() => cleanup.disposeAsync())

beforeEach(() => {
  for (const { issuer } of [strict, lenient]) issuer.onTokenRequest = undefined
})

function serverOf(name: Name): LoginServer {
  return name === 'strict' ? strict : lenient
}

test('a token that ends under load is replaced once, and no call fails', async () => {
  const { refreshes: before } = strict.issuer
  const rounds = 5
  await host.expireUnderLoad('strict', { rounds, calls: 100 })
  expect(strict.issuer.refreshes - before).toBe(rounds)
}, 120_000)

test('an authorization server that is away for a while costs no login', async () => {
  await host.expire('strict')
  strict.issuer.isBroken = true
  await expect(host.call('strict')).rejects.toThrow('the login cannot be used now')
  strict.issuer.isBroken = false
  expect(await host.call('strict')).toBe('ann')
})

/** Kills all supervisors while one of them replaces a token, at a moment of it. */
async function killAt(name: Name, moment: 'received' | 'processed'): Promise<void> {
  const { issuer } = serverOf(name)
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>()
  issuer.onTokenRequest = (at) => {
    if (at !== moment) return undefined
    issuer.onTokenRequest = undefined
    reach()
    // Its supervisor does not live to see the answer.
    return new Promise(() => undefined)
  }
  await host.expire(name)
  const called = host.call(name).catch((error: unknown) => error)
  await reached
  for (const { process } of host.others.splice(0)) process.signal('SIGKILL')
  await host.stack.kill('mcp-supervisor')
  await host.stack.restart('mcp-supervisor')
  await called
}

test.each(['received', 'processed'] as const)(
  'supervisors that are killed when the request of one for a token is %s cost no login',
  async (moment) => {
    await killAt('lenient', moment)
    await eventually(async () => (await host.call('lenient').catch(() => '')) === 'ann')
  },
  60_000,
)

test('a connection that breaks after the token was replaced costs no login where it can be helped', async () => {
  const tearOnce = (name: Name): void => {
    const { issuer } = serverOf(name)
    issuer.onTokenRequest = (moment, tear) => {
      if (moment !== 'processed') return
      issuer.onTokenRequest = undefined
      tear()
    }
  }
  await host.expire('lenient')
  tearOnce('lenient')
  await host.call('lenient').catch(() => undefined)
  expect(await host.call('lenient')).toBe('ann')
  await host.expire('strict')
  tearOnce('strict')
  await host.call('strict').catch(() => undefined)
  // Elsewhere the user is asked, and told where.
  expect(await host.call('strict')).toContain(`${host.url}/connect/strict`)
  expect(await host.call('lenient')).toBe('ann')
  await host.connect('strict')
  expect(await host.call('strict')).toBe('ann')
})
