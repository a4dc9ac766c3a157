// A type of callers that the product does not have: with another, only a key is written.
import type { Bus, Lease } from '@mcp-host/bus'
import type { ServerName } from '@mcp-host/contracts'
import type { HostedServer } from '@mcp-host/mcp-bus/serve'
import { beforeEach, expect, test } from 'vitest'

import type { CallerKey } from './caller-upstreams.ts'
import { CallerUpstreams } from './caller-upstreams.ts'
import type { Peers } from '../leases/peers.ts'
import { ProcessSlots } from './process-slots.ts'

interface Account {
  readonly user: string
  readonly label: string
}

const accountKey: CallerKey<Account> = {
  lease: 'account',
  nameOf: ({ user, label }) => `${user}-${label}`,
  principalOf: ({ user }) => user,
}

let keys: string[]
let started: string[]
let ended: string[]
let upstreams: CallerUpstreams<Account>

beforeEach(() => {
  ;[keys, started, ended] = [[], [], []]
  const acquire = async (key: string): Promise<Lease> => {
    keys.push(key)
    const release = async (): Promise<void> => undefined
    const { signal: lost } = new AbortController()
    return { key, revision: 1, lost, isHeld: true, release, [Symbol.asyncDispose]: release }
  }
  const holder = async (key: string): Promise<object | undefined> =>
    key.endsWith('.ann-away') ? { holder: 'peer', revision: 1 } : undefined
  // CallerUpstreams uses only these members.
  const bus = { id: 'us', leases: { acquire, holder } } as unknown as Bus
  // CallerUpstreams uses only this method.
  const peers = { isGone: async () => false } as unknown as Peers
  const warn = (error: unknown): never => {
    throw error
  }
  upstreams = new CallerUpstreams(
    { bus, peers, slots: new ProcessSlots(10), idleTimeoutMs: 60_000, warn },
    { server: 'mail' as ServerName, key: accountKey, start },
  )
})

function start({ label }: Account): HostedServer {
  started.push(label)
  const server = {
    label,
    inFlight: 0,
    abandon: () => undefined,
    drained: () => Promise.resolve(),
    snapshot: { state: 'ready' },
    [Symbol.asyncDispose]: async () => void ended.push(label),
  }
  // CallerUpstreams uses only these members.
  return server as unknown as HostedServer
}

test('every account has an upstream of its own, whose lease has the key of its type', async () => {
  const work = { user: 'ann', label: 'work' }
  await Promise.all([upstreams.locate(work), upstreams.locate({ ...work })])
  await upstreams.locate({ user: 'ann', label: 'private' })
  expect(started).toEqual(['work', 'private'])
  expect(keys).toEqual(['account.mail.ann-work', 'account.mail.ann-private'])
  expect(upstreams.size).toBe(2)
  await upstreams.end('ann-work')
  expect(ended).toEqual(['work'])
  expect([upstreams.has('ann-work'), upstreams.has('ann-private')]).toEqual([false, true])
})

test('an account whose upstream a peer has is not started here', async () => {
  expect(await upstreams.locate({ user: 'ann', label: 'away' })).toEqual({ peer: 'peer' })
  expect(started).toEqual([])
})

test('the upstreams of one user count together against the share of one principal', async () => {
  const labels = Array.from('abcdefghij')
  const taken = await Promise.allSettled(
    labels.map((label) => upstreams.locate({ user: 'ann', label })),
  )
  const refused = taken.filter(({ status }) => status === 'rejected')
  expect(refused[0]).toMatchObject({
    reason: { message: expect.stringContaining('this principal uses all') },
  })
  await upstreams.locate({ user: 'bob', label: 'other' })
  expect(started.at(-1)).toBe('other')
})
