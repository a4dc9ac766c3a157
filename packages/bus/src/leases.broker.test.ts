import { jetstream } from '@nats-io/jetstream'
import type { Broker } from '@mcp-host/testkit'
import { eventually, startBroker } from '@mcp-host/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Line } from '../test/line.ts'
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

test('of many that want a lease at once one gets it, and everybody can see who', async () => {
  const buses = await Promise.all(Array.from({ length: 8 }, () => broker.connect()))
  const leases = await Promise.all(buses.map((bus) => bus.leases.acquire(key, { ttlMs })))
  const winners = buses.filter((_, index) => leases[index] !== undefined)
  expect(winners).toHaveLength(1)
  expect(await other.leases.holder(key)).toMatchObject({ holder: winners[0]?.id })
})

test('a lease that was never asked for has no holder', async () => {
  expect(await one.leases.holder(key)).toBeUndefined()
})

test('a lease renews itself: nobody else gets it while its holder lives', async () => {
  const lease = await acquire(one)
  const first = lease.revision
  await eventually(() => lease.revision > first + 3, { what: 'more renewals than fit its time' })
  expect(lease).toMatchObject({ isHeld: true, lost: { aborted: false } })
  expect(await other.leases.acquire(key, { ttlMs })).toBeUndefined()
})

test('a lease of a fixed time is not renewed: it ends, and is free for all', async () => {
  const lease = await one.leases.acquire(key, { ttlMs, isFixed: true })
  if (lease === undefined) throw new Error('nobody else wants it')
  const { revision } = lease
  expect(await other.leases.acquire(key, { ttlMs })).toBeUndefined()
  expect(await one.leases.acquire(key, { ttlMs })).toBeUndefined()
  await eventually(() => lease.lost.aborted, { what: 'its end' })
  expect(lease).toMatchObject({ revision, isHeld: false })
  await acquire(other)
})

test('a lease that is released is free at once, for others and for the same process', async () => {
  const lease = await acquire(one)
  await lease.release()
  expect(lease.isHeld).toBe(false)
  expect(await other.leases.holder(key)).toBeUndefined()
  const second = await other.leases.acquire(key, { ttlMs })
  expect(second?.isHeld).toBe(true)
  await second?.release()
  expect((await one.leases.acquire(key, { ttlMs }))?.isHeld).toBe(true)
})

test('a lease whose holder is gone is free once its time has passed', async () => {
  await acquire(one)
  await one[Symbol.asyncDispose]()
  expect(await other.leases.acquire(key, { ttlMs })).toBeUndefined()
  expect((await acquire(other)).isHeld).toBe(true)
})

test('a dead holder is replaced by who names its revision, once', async () => {
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

test('a holder that was thought dead and renewed meanwhile keeps its lease', async () => {
  const lease = await acquire(one)
  const { revision } = lease
  await eventually(() => lease.revision > revision)
  expect(await other.leases.take(key, revision, { ttlMs })).toBeUndefined()
  expect(lease.isHeld).toBe(true)
})

test('a holder whose lease was taken is told', async () => {
  const lease = await acquire(one)
  const taken = await eventually(() => other.leases.take(key, lease.revision, { ttlMs }))
  await eventually(() => isAborted(lease))
  expect(lease.isHeld).toBe(false)
  expect(lease.lost.reason).toMatchObject({ code: 'conflict' })
  // Too late to end what belongs to another.
  await lease.release()
  expect(taken.isHeld).toBe(true)
  expect(await one.leases.holder(key)).toMatchObject({ holder: other.id })
})

test('a lease that was taken unnoticed is not ended by its release', async () => {
  const lease = await eventually(() => one.leases.acquire(key, { ttlMs: 20_000 }))
  const taken = await other.leases.take(key, lease.revision, { ttlMs: 20_000 })
  expect(lease.lost.aborted).toBe(false)
  await lease.release()
  expect(taken?.isHeld).toBe(true)
  expect(await one.leases.holder(key)).toMatchObject({ holder: other.id })
})

test('a holder that the broker is away from for too long knows by its own clock', async () => {
  const lease = await acquire(one)
  await broker.kill()
  await eventually(() => isAborted(lease))
  expect(lease.isHeld).toBe(false)
  await broker.start()
  expect((await acquireOverOutage(other)).isHeld).toBe(true)
})

test('a lease outlasts a broker that is back in time', async () => {
  const lease = await eventually(() => one.leases.acquire(key, { ttlMs: 20_000 }))
  const { revision } = lease
  await broker.kill()
  await broker.start()
  await eventually(() => lease.revision > revision, { what: 'a renewal after the outage' })
  expect(lease.isHeld).toBe(true)
  expect(await acquireOverOutage(other).catch(() => 'taken')).toBe('taken')
})

/** Asks again while the broker is away. */
async function acquireOverOutage(bus: Bus): Promise<Lease> {
  const ask = async (): Promise<Lease | 'taken' | undefined> =>
    bus.leases.acquire(key, { ttlMs }).then(
      (lease) => lease ?? 'taken',
      () => undefined,
    )
  const answer = await eventually(ask, { what: 'an answer of the broker' })
  if (answer === 'taken') throw new Error('taken')
  return answer
}

describe('a holder whose line to the broker was cut for a moment', () => {
  // Its own time for a renewal does not come during the test.
  const options = { ttlMs: 600_000 }
  let line: Line
  let far: Bus
  let lease: Lease
  beforeEach(async () => {
    line = await Line.open(broker.url)
    const logger = { info: () => {}, warn: () => {}, error: () => {} }
    far = await connectBus({ url: line.url, name: 'far', logger })
    lease = await eventually(() => far.leases.acquire(key, options))
    expect(lease.isHeld).toBe(true)
    line.cut()
    await eventually(() => !lease.isHeld, { what: 'its doubt' })
  })
  afterEach(async () => {
    await far[Symbol.asyncDispose]()
    await line[Symbol.asyncDispose]()
  })

  test('never holds it beside who took it meanwhile', async () => {
    const taken = await other.leases.take(key, lease.revision, options)
    line.mend()
    const end = await eventually(() => (lease.isHeld ? 'held' : isAborted(lease) && 'lost'))
    expect(end).toBe('lost')
    expect(taken?.isHeld).toBe(true)
  })

  test('holds it again as soon as the broker has said so', async () => {
    const { revision } = lease
    line.mend()
    await eventually(() => lease.isHeld)
    expect(lease.revision).toBeGreaterThan(revision)
    expect(await other.leases.holder(key)).toEqual({ holder: far.id, revision: lease.revision })
  })
})

test('a lease whose answer was lost is got by asking again', async () => {
  // As the broker has it when only the answer did not arrive.
  const connection = await connectNats(broker.url, 'writer')
  await jetstream(connection).publish(`$KV.OWN.${key}`, one.id, { ttl: '20s' })
  await connection.close()
  expect(await other.leases.acquire(key, { ttlMs })).toBeUndefined()
  expect((await one.leases.acquire(key, { ttlMs }))?.isHeld).toBe(true)
})

test('a renewal whose answer was lost does not cost the lease, and its time counts from another', async () => {
  const lease = await eventually(() => one.leases.acquire(key, { ttlMs: 3_000 }))
  await using connection = await connectNats(broker.url, 'writer')
  const { seq } = await jetstream(connection).publish(`$KV.OWN.${key}`, one.id, { ttl: '20s' })
  const next = await eventually(() => lease.revision >= seq && lease.revision)
  expect(next).toBeGreaterThan(seq)
  expect(lease).toMatchObject({ isHeld: true, lost: { aborted: false } })
})

test('a view follows who holds what, also when a holder just vanishes', async () => {
  const { holders, onChange } = await other.leases.watch('server.*')
  let changes = 0
  using _ = onChange(() => void changes++)
  await acquire(one, 'session.a.1')
  const lease = await acquire(one)
  await eventually(() => holders.get(key)?.holder === one.id)
  const { revision } = lease
  await eventually(() => lease.revision > revision + 1)
  // Renewals are no news.
  expect(changes).toBe(1)
  await lease.release()
  await eventually(() => holders.size === 0)
  await acquire(one)
  await eventually(() => holders.get(key)?.holder === one.id)
  await one[Symbol.asyncDispose]()
  await eventually(() => holders.size === 0, { what: 'the end of a lease that nobody renews' })
  expect(changes).toBe(4)
})

test('without a broker everything is unavailable', async () => {
  await broker.kill()
  const unavailable = { code: 'unavailable', retryable: true }
  await Promise.all([
    expect(one.leases.acquire(key, { ttlMs })).rejects.toMatchObject(unavailable),
    expect(one.leases.take(key, 1, { ttlMs })).rejects.toMatchObject(unavailable),
  ])
})
