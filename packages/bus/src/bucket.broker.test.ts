import { BUCKETS, defineBucket } from '@mcp-host/contracts'
import type { Broker } from '@mcp-host/testkit'
import { eventually, startBroker } from '@mcp-host/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import type { Bucket, Bus } from './bus.ts'

const things = defineBucket('THINGS', {
  record: z.object({ size: z.number() }),
  what: 'things',
})
type Thing = z.infer<typeof things.record>

const texts = defineBucket('TEXTS', { record: z.object({ text: z.string() }), what: 'texts' })

let broker: Broker
let bus: Bus
let bucket: Bucket<Thing>

beforeAll(async () => {
  broker = await startBroker()
  bus = await broker.connect()
  bucket = await bus.bucket(things)
})
afterAll(() => broker[Symbol.asyncDispose]())

test('a record is found as it was last written', async () => {
  expect(await bucket.get('a')).toBeUndefined()
  await bucket.put('a', { size: 1 })
  const revision = await bucket.put('a', { size: 2 })
  expect(await bucket.get('a')).toEqual({ record: { size: 2 }, revision })
})

test('of several processes that remove one revision, one succeeds', async () => {
  const other = await broker.connect()
  const theirs = await other.bucket(things)
  const revision = await bucket.put('ticket', { size: 1 })
  const outcomes = await Promise.allSettled([
    bucket.remove('ticket', revision),
    theirs.remove('ticket', revision),
    theirs.remove('ticket', revision),
  ])
  expect(outcomes.map(({ status }) => status).toSorted()).toEqual([
    'fulfilled',
    'rejected',
    'rejected',
  ])
  expect(await bucket.get('ticket')).toBeUndefined()
})

test('a removed key can be written anew, by one of two writers', async () => {
  const revision = await bucket.put('again', { size: 1 })
  await bucket.remove('again', revision)
  await bucket.put('again', { size: 2 }, { revision: 0 })
  await expect(bucket.put('again', { size: 3 }, { revision: 0 })).rejects.toMatchObject({
    code: 'conflict',
    message: 'things: changed by another process; read again',
  })
})

test('a view has what other processes write, and loses what expires', async () => {
  const view = await (await bus.bucket(things)).watch()
  const theirs = await (await broker.connect()).bucket(things)
  await theirs.put('seen', { size: 5 })
  await theirs.put('short', { size: 6 }, { ttlMs: 1_000 })
  await eventually(() => view.records.get('short')?.size === 6)
  expect(view.records.get('seen')).toEqual({ size: 5 })
  await eventually(() => !view.records.has('short'))
})

test('a bucket with a limit evicts the oldest records', async () => {
  const full = await bus.bucket({ ...texts, name: 'OAUTHCLIENTS' satisfies keyof typeof BUCKETS })
  const large = { text: 'x'.repeat(1_000_000) }
  const count = Math.ceil((BUCKETS.OAUTHCLIENTS.maxBytes ?? 0) / 1_000_000)
  for (let number = 0; number <= count; number++) await full.put(`large-${number}`, large)
  expect(await full.get('large-0')).toBeUndefined()
  expect(await full.get(`large-${count}`)).toBeDefined()
})

test('a record that is not of the schema is refused', async () => {
  const wrong = { size: 'large' } as unknown as Thing // what a faulty caller passes
  await expect(bucket.put('b', wrong)).rejects.toMatchObject({ code: 'invalid' })
})
