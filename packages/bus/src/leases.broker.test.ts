import { jetstream } from '@nats-io/jetstream'
import type { Broker } from '@mcp-host/testkit'
import { eventually, startBroker } from '@mcp-host/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { BrokerProxy } from '../test/broker-proxy.ts'
import { silentLogger } from '../test/silent-logger.ts'
import type { Bus, Lease } from './bus.ts'
import { connectNats } from './connect.ts'
import { connectBus } from './nats-bus.ts'

const ttlMs = 1_000
const key = 'server.a'

let broker: Broker
let one: Bus
let other: Bus

beforeEach(async () => {
  broker = await startBroker()
  one = await broker.connect('one')
  other = await broker.connect('other')
})
afterEach(() => broker[Symbol.asyncDispose]())

async function acquire(bus: Bus, name = key): Promise<Lease> {
  return eventually(() => bus.leases.acquire(name, { ttlMs }), { what: 'the lease' })
}

function isAborted({ lost }: Lease): boolean {
  return lost.aborted
}

test('one of many processes gets a lease, and all see its holder', async () => {
  const buses = await Promise.all(Array.from({ length: 8 }, () => broker.connect()))
  const leases = await Promise.all(buses.map((bus) => bus.leases.acquire(key, { ttlMs })))
  const holders = buses.filter((_, index) => leases[index] !== undefined)
  expect(holders).toHaveLength(1)
  expect(await other.leases.holder(key)).toMatchObject({ holder: holders[0]?.id })
})

test('a lease that was never acquired has no holder', async () => {
  expect(await one.leases.holder(key)).toBeUndefined()
})

test('a lease is renewed while its holder lives, and no other process gets it', async () => {
  const lease = await acquire(one)
  const first = lease.revision
  await eventually(() => lease.revision > first + 3, { what: 'several renewals' })
  expect(lease).toMatchObject({ isHeld: true, lost: { aborted: false } })
  expect(await other.leases.acquire(key, { ttlMs })).toBeUndefined()
})

test('a lease of a fixed time is not renewed and expires', async () => {
  const lease = await one.leases.acquire(key, { ttlMs, isFixed: true })
  if (lease === undefined) throw new Error('the lease was not acquired')
  const { revision } = lease
  expect(await other.leases.acquire(key, { ttlMs })).toBeUndefined()
  expect(await one.leases.acquire(key, { ttlMs })).toBeUndefined()
  await eventually(() => lease.lost.aborted, { what: 'the end of the lease' })
  expect(lease).toMatchObject({ revision, isHeld: false })
  await acquire(other)
})

test('a released lease is free at once, for any process', async () => {
  const lease = await acquire(one)
  await lease.release()
  expect(lease.isHeld).toBe(false)
  expect(await other.leases.holder(key)).toBeUndefined()
  const second = await other.leases.acquire(key, { ttlMs })
  expect(second?.isHeld).toBe(true)
  await second?.release()
  expect((await one.leases.acquire(key, { ttlMs }))?.isHeld).toBe(true)
})

test('a lease whose holder died is free after its time to live', async () => {
  await acquire(one)
  await one[Symbol.asyncDispose]()
  expect(await other.leases.acquire(key, { ttlMs })).toBeUndefined()
  expect((await acquire(other)).isHeld).toBe(true)
})

test('a lease of a dead holder is taken once by its revision', async () => {
  await acquire(one)
  await one[Symbol.asyncDispose]()
  const dead = await other.leases.holder(key)
  const third = await broker.connect('third')
  const taken = await Promise.all([
    other.leases.take(key, dead?.revision ?? 0, { ttlMs }),
    third.leases.take(key, dead?.revision ?? 0, { ttlMs }),
  ])
  expect(taken.filter((lease) => lease !== undefined)).toHaveLength(1)
})

test('a lease cannot be taken by an outdated revision', async () => {
  const lease = await acquire(one)
  const { revision } = lease
  await eventually(() => lease.revision > revision)
  expect(await other.leases.take(key, revision, { ttlMs })).toBeUndefined()
  expect(lease.isHeld).toBe(true)
})

test('a holder whose lease was taken learns of it', async () => {
  const lease = await acquire(one)
  const taken = await eventually(() => other.leases.take(key, lease.revision, { ttlMs }))
  await eventually(() => isAborted(lease))
  expect(lease.isHeld).toBe(false)
  expect(lease.lost.reason).toMatchObject({ code: 'conflict' })
  // This release must not end the lease of the other process.
  await lease.release()
  expect(taken.isHeld).toBe(true)
  expect(await one.leases.holder(key)).toMatchObject({ holder: other.id })
})

test("a release does not end a lease that was taken without the holder's notice", async () => {
  const lease = await eventually(() => one.leases.acquire(key, { ttlMs: 20_000 }))
  const taken = await other.leases.take(key, lease.revision, { ttlMs: 20_000 })
  expect(lease.lost.aborted).toBe(false)
  await lease.release()
  expect(taken?.isHeld).toBe(true)
  expect(await one.leases.holder(key)).toMatchObject({ holder: other.id })
})

test('a holder that the broker does not answer loses the lease by its own clock', async () => {
  const lease = await acquire(one)
  await broker.kill()
  await eventually(() => isAborted(lease))
  expect(lease.isHeld).toBe(false)
  await broker.start()
  expect((await acquireOverOutage(other)).isHeld).toBe(true)
})

test('a lease survives an outage of the broker that ends in time', async () => {
  const lease = await eventually(() => one.leases.acquire(key, { ttlMs: 20_000 }))
  const { revision } = lease
  await broker.kill()
  await broker.start()
  await eventually(() => lease.revision > revision, { what: 'a renewal after the outage' })
  expect(lease.isHeld).toBe(true)
  expect(await acquireOverOutage(other).catch(() => 'taken')).toBe('taken')
})

/** Retries while the broker does not answer. */
async function acquireOverOutage(bus: Bus): Promise<Lease> {
  const attempt = async (): Promise<Lease | 'taken' | undefined> =>
    bus.leases.acquire(key, { ttlMs }).then(
      (lease) => lease ?? 'taken',
      () => undefined,
    )
  const answer = await eventually(attempt, { what: 'an answer of the broker' })
  if (answer === 'taken') throw new Error('taken')
  return answer
}

describe('a holder that was disconnected for a moment', () => {
  // Longer than the test, so that no renewal is due.
  const options = { ttlMs: 600_000 }
  let proxy: BrokerProxy
  let far: Bus
  let lease: Lease
  beforeEach(async () => {
    proxy = await BrokerProxy.open(broker.url)
    far = await connectBus({ url: proxy.url, name: 'far', logger: silentLogger })
    lease = await eventually(() => far.leases.acquire(key, options))
    expect(lease.isHeld).toBe(true)
    proxy.cut()
    await eventually(() => !lease.isHeld, { what: 'the loss of certainty' })
  })
  afterEach(async () => {
    await far[Symbol.asyncDispose]()
    await proxy[Symbol.asyncDispose]()
  })

  test('a holder that was disconnected does not hold a lease that another took meanwhile', async () => {
    const taken = await other.leases.take(key, lease.revision, options)
    proxy.mend()
    const end = await eventually(() => (lease.isHeld ? 'held' : isAborted(lease) && 'lost'))
    expect(end).toBe('lost')
    expect(taken?.isHeld).toBe(true)
  })

  test('a holder that was disconnected holds its lease again once the broker confirms it', async () => {
    const { revision } = lease
    proxy.mend()
    await eventually(() => lease.isHeld)
    expect(lease.revision).toBeGreaterThan(revision)
    expect(await other.leases.holder(key)).toEqual({ holder: far.id, revision: lease.revision })
  })
})

test('an acquisition whose answer was lost succeeds when it is retried', async () => {
  // The broker has stored the value, and only its answer was lost.
  const connection = await connectNats(broker.url, 'writer')
  await jetstream(connection).publish(`$KV.OWN.${key}`, one.id, { ttl: '20s' })
  await connection.close()
  expect(await other.leases.acquire(key, { ttlMs })).toBeUndefined()
  expect((await one.leases.acquire(key, { ttlMs }))?.isHeld).toBe(true)
})

test('a lease survives a renewal whose answer was lost, and is renewed again', async () => {
  const lease = await eventually(() => one.leases.acquire(key, { ttlMs: 3_000 }))
  await using connection = await connectNats(broker.url, 'writer')
  const { seq } = await jetstream(connection).publish(`$KV.OWN.${key}`, one.id, { ttl: '20s' })
  const next = await eventually(() => lease.revision >= seq && lease.revision)
  expect(next).toBeGreaterThan(seq)
  expect(lease).toMatchObject({ isHeld: true, lost: { aborted: false } })
})

test('a view follows the holders of leases, including a holder that vanishes', async () => {
  const { holders, onChange } = await other.leases.watch('server.*')
  let changes = 0
  using _ = onChange(() => void changes++)
  await acquire(one, 'session.a.1')
  const lease = await acquire(one)
  await eventually(() => holders.get(key)?.holder === one.id)
  const { revision } = lease
  await eventually(() => lease.revision > revision + 1)
  // Renewals are no changes.
  expect(changes).toBe(1)
  await lease.release()
  await eventually(() => holders.size === 0)
  await acquire(one)
  await eventually(() => holders.get(key)?.holder === one.id)
  await one[Symbol.asyncDispose]()
  await eventually(() => holders.size === 0, { what: 'the expiry of the lease' })
  expect(changes).toBe(4)
})

test('leases are unavailable without a broker', async () => {
  await broker.kill()
  const unavailable = { code: 'unavailable', retryable: true }
  await Promise.all([
    expect(one.leases.acquire(key, { ttlMs })).rejects.toMatchObject(unavailable),
    expect(one.leases.take(key, 1, { ttlMs })).rejects.toMatchObject(unavailable),
  ])
})
