// Two gateways whose clocks differ by days use the same records.
import { Accounts, Invitations } from '@mcp-host/auth'
import type { Bus, BusLogger } from '@mcp-host/bus'
import { connectBus } from '@mcp-host/bus'
import { newSessionId } from '@mcp-host/contracts'
import type { Logger } from '@mcp-host/service'
import { RateLimits } from '@mcp-host/service'
import type { Broker } from '@mcp-host/testkit'
import { startBroker } from '@mcp-host/testkit'
import { Registry } from 'prom-client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ApprovalQueue } from './approvals/approval-queue.ts'
import { LoginStarts } from './auth/identity-provider/login-starts.ts'
import { Tickets } from './auth/tickets.ts'
import type { GatewayAudit } from './gateway-audit.ts'
import { newShare, Shares } from './http/shares/shares.ts'

const DAY_MS = 86_400_000
/** A window that does not end during the test. */
const WINDOW_MS = 1_000 * DAY_MS
const logger: BusLogger = { info: () => {}, warn: () => {}, error: () => {} }
const ann = { id: 'user:ann', issuer: 'test', method: 'key' as const, roles: [], scopes: [] }
const auth = { principalOf: () => ann, areInOrder: () => true }

let broker: Broker
let right: Bus
let ahead: Bus
let behind: Bus
beforeAll(async () => {
  broker = await startBroker({ hasAccounts: false })
  const connect = (offsetMs: number): Promise<Bus> =>
    connectBus({ url: broker.url, name: 'gateway', logger, now: () => Date.now() + offsetMs })
  ;[right, ahead, behind] = await Promise.all([connect(0), connect(WINDOW_MS), connect(-WINDOW_MS)])
})
afterAll(async () => {
  await Promise.all([right, ahead, behind].map((bus) => bus[Symbol.asyncDispose]()))
  await broker[Symbol.asyncDispose]()
})

describe.each([
  ['ahead', () => [ahead, right] as const],
  ['behind', () => [behind, right] as const],
  ['right', () => [right, ahead] as const],
])('records of a gateway whose clock is %s', (_, buses) => {
  test('tickets are valid at another gateway', async () => {
    const [from, to] = buses()
    const ticket = await new Tickets(from, auth).issue({ kind: 'key', id: 'a' })
    expect(await new Tickets(to, auth).redeem(ticket)).toMatchObject({ principal: ann })
  })

  test('logins that were begun go on at another gateway', async () => {
    const [from, to] = buses()
    const about = { nonce: 'n', verifier: 'v' }
    const state = crypto.randomUUID()
    await (await LoginStarts.open(from)).add(state, 'browser', about)
    expect(await (await LoginStarts.open(to)).take(state, 'browser')).toMatchObject(about)
  })

  test('invitations are valid at another gateway', async () => {
    const [from, to] = buses()
    const [ours, theirs] = await Promise.all(
      [from, to].map(async (bus) => Invitations.open(bus, await Accounts.open(bus))),
    )
    const account = `ann${crypto.randomUUID()}`
    const about = { name: account, roles: ['user'], createdBy: 'local' }
    await (await Accounts.open(from)).create(about)
    const { token } = (await ours?.create(account, 'local')) ?? { token: '' }
    expect(await theirs?.find(token, () => true)).toMatchObject({ account })
  })

  test('share links are valid at another gateway', async () => {
    const [from, to] = buses()
    const about = { session: newSessionId(), owner: ann.id, createdBy: ann.id }
    const { share, token, digest } = newShare(about, 1, from.clock.now())
    await new Shares(from, auth).add(share, digest)
    expect(await new Shares(to, auth).find(token)).toEqual(share)
  })

  test('calls that wait for approval are found at another gateway', async () => {
    // Approvals use only this method.
    const audit = { approvalAsked: () => undefined } as unknown as GatewayAudit
    const [from, to] = buses().map(
      (bus) => new ApprovalQueue({ bus, audit }, { timeoutMs: 60_000 }),
    )
    const call = { server: 's', tool: 't', arguments: { id: crypto.randomUUID() } }
    const { id } = (await from?.ask(ann, call)) ?? {}
    expect(await to?.get(ann, id ?? '')).toMatchObject({ id, state: 'pending' })
  })

  test('rates are counted together with those of another gateway', async () => {
    // Limits only warn.
    const log = logger as unknown as Logger
    const [from, to] = buses().map(
      (bus) => new RateLimits({ bus, logger: log, metrics: new Registry() }),
    )
    const limit = { rate: { permits: 1, windowMs: WINDOW_MS }, what: 'requests' }
    const key = crypto.randomUUID()
    await from?.take(limit, key)
    await expect(to?.take(limit, key)).rejects.toMatchObject({ code: 'exhausted' })
  })
})
