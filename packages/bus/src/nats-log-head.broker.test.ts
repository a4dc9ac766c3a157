import { open, readdir, rm, stat, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import type { SessionId } from '@mcp-host/contracts'
import { newSessionId } from '@mcp-host/contracts'
import type { Broker } from '@mcp-host/testkit'
import { eventually, startBroker, testFolder } from '@mcp-host/testkit'
import { expect, test, vi } from 'vitest'
import { envelope, said } from '../test/facts.ts'
import { Follower } from '../test/follower.ts'
import { Line } from '../test/line.ts'
import type { Bus } from './bus.ts'
import type { BusLogger } from './nats-bus.ts'
import { connectNats } from './connect.ts'
import { connectBus } from './nats-bus.ts'
import { NatsLogHead } from './nats-log-head.ts'

const silent: BusLogger = { info: () => {}, warn: () => {}, error: () => {} }

async function append(bus: Bus, session: SessionId, id: string): Promise<number> {
  const options = { envelope, messageId: id }
  return (await bus.sessions.append(session, said(id), options)).seq
}

/** The newest file of the stream of session logs. */
async function lastBlock(folder: string): Promise<string> {
  const messages = join(folder, 'nats', 'jetstream', '$G', 'streams', 'SESS', 'msgs')
  const blocks = (await readdir(messages)).filter((file) => file.endsWith('.blk'))
  return join(messages, blocks.toSorted().at(-1) ?? '')
}

async function truncateTo(file: string, share: number): Promise<void> {
  await truncate(file, Math.floor((await stat(file)).size * share))
}

async function overwriteMiddle(file: string): Promise<void> {
  await using handle = await open(file, 'r+')
  await handle.write(Buffer.alloc(100, 'Z'), 0, 100, Math.floor((await stat(file)).size / 2))
}

/** Cuts off the last part of the stream of session logs while the broker is down. */
async function cutLog(broker: Broker, folder: string, share: number): Promise<void> {
  await broker.kill()
  await truncateTo(await lastBlock(folder), 1 - share)
  await broker.start()
}

test('sequences that were lost with the end of the log are not given out again', async () => {
  await using folder = await testFolder()
  await using broker = await startBroker({ folder: folder.path })
  const bus = await broker.connect()
  const other = await broker.connect('other')
  const [whole, cut] = [newSessionId(), newSessionId()]
  await append(bus, whole, 'first')
  const follower = new Follower(bus, cut)
  let last = 0
  for (let count = 0; count < 20; count++) last = await append(bus, cut, `m${count}`)
  await eventually(() => follower.entries.length === 20)

  await cutLog(broker, folder.path, 0.5)
  const next = await append(bus, whole, 'second')
  expect(next).toBeGreaterThan(last)
  const kept = await other.sessions.read(cut, 0)
  expect(kept.length).toBeGreaterThan(0)
  expect(kept.length).toBeLessThan(20)
  // The other process had nothing that told it of the loss.
  const { lost = [], seq } = await eventually(async () => {
    const end = await other.sessions.end(cut)
    return end.lost !== undefined && end
  })
  expect(lost).toMatchObject([{ after: seq }])
  expect(lost[0]?.through).toBeGreaterThanOrEqual(last)
  // A reader of lost entries is told, and later entries reach readers that begin anew.
  await expect(follower.over).rejects.toThrow('lost the end of this session')
  const anew = new Follower(other, cut)
  await append(bus, cut, 'third')
  await eventually(() => anew.entries.length === kept.length + 1)
  await anew.stop()
})

test('a process that begins after the damage knows how far the log went', async () => {
  await using folder = await testFolder()
  await using broker = await startBroker({ folder: folder.path })
  const before = await broker.connect()
  const session = newSessionId()
  let last = 0
  for (let count = 0; count < 20; count++) last = await append(before, session, `m${count}`)
  await before[Symbol.asyncDispose]()
  await cutLog(broker, folder.path, 0.7)
  const after = await broker.connect()
  expect(await append(after, session, 'after')).toBeGreaterThan(last)
})

test.each([
  ['truncated', (file: string) => truncateTo(file, 0.5)],
  ['emptied', (file: string) => truncateTo(file, 0)],
  ['deleted', (file: string) => rm(file)],
  ['overwritten', overwriteMiddle],
])('an end that is %s after a clean stop counts as lost', async (_, damage) => {
  await using folder = await testFolder()
  await using broker = await startBroker({ folder: folder.path })
  const before = await broker.connect()
  const session = newSessionId()
  const seqs: number[] = []
  for (let count = 0; count < 20; count++) seqs.push(await append(before, session, `m${count}`))
  await before[Symbol.asyncDispose]()
  await broker.stop()
  await damage(await lastBlock(folder.path))
  await broker.start()
  const after = await broker.connect()
  const { seq, lost = [] } = await after.sessions.end(session)
  expect(lost).toMatchObject([{ after: seq }])
  expect(seq).toBeLessThan(seqs.at(-1) ?? 0)
  expect(lost[0]?.through).toBeGreaterThanOrEqual(seqs.at(-1) ?? Infinity)
  expect(await append(after, session, 'after')).toBeGreaterThan(lost[0]?.through ?? Infinity)
})

test('sessions that are deleted last are not taken for a lost end', async () => {
  await using folder = await testFolder()
  await using broker = await startBroker({ folder: folder.path })
  const before = await broker.connect()
  const [kept, deleted] = [newSessionId(), newSessionId()]
  await append(before, kept, 'first')
  for (const id of ['a', 'b', 'c']) await append(before, deleted, id)
  await before.sessions.purge(deleted)
  await before[Symbol.asyncDispose]()
  await broker.stop()
  await broker.start()
  const after = await broker.connect()
  expect(await after.sessions.lastSequence(deleted)).toBe(0)
  expect((await after.sessions.end(kept)).lost).toBeUndefined()
})

test('a sequence that a reader was shown is not given out again when its writer is gone', async () => {
  await using folder = await testFolder()
  await using broker = await startBroker({ folder: folder.path })
  const reader = await broker.connect('reader')
  const writer = await broker.connect('writer')
  const session = newSessionId()
  const follower = new Follower(reader, session)
  let last = 0
  for (let count = 0; count < 20; count++) last = await append(writer, session, `m${count}`)
  await eventually(() => follower.entries.length === 20)
  // Sooner than the writer notes how far the log goes.
  await broker.kill()
  await writer[Symbol.asyncDispose]()
  await truncateTo(await lastBlock(folder.path), 0.1)
  await broker.start()
  expect(await append(reader, session, 'after')).toBeGreaterThan(last)
  await expect(follower.over).rejects.toThrow('lost the end of this session')
})

test('the end of a log is told only once it is known what was lost', async () => {
  await using folder = await testFolder()
  await using broker = await startBroker({ folder: folder.path })
  await using line = await Line.open(broker.url)
  await using late = await connectBus({ url: line.url, name: 'late', logger: silent })
  const bus = await broker.connect()
  const session = newSessionId()
  let last = 0
  for (let count = 0; count < 20; count++) last = await append(bus, session, `m${count}`)
  line.cut()
  await cutLog(broker, folder.path, 0.5)
  // Entries that pass the lost ones, before the other process is back.
  expect(await append(bus, session, 'after')).toBeGreaterThan(last)
  line.mend()
  // Asked at once, before the other process can know of the loss.
  while (late.sinceOutageMs() === 0) await setImmediate()
  expect((await late.sessions.end(session)).lost).toHaveLength(1)
})

test('a log that is whole is left as it is', async () => {
  await using broker = await startBroker()
  const bus = await broker.connect()
  const session = newSessionId()
  const first = await append(bus, session, 'first')
  await broker.kill()
  await broker.start()
  expect(await append(bus, session, 'second')).toBe(first + 1)
  expect((await bus.sessions.end(session)).lost).toBeUndefined()
})

test('the broker counts the entries of each session', async () => {
  await using broker = await startBroker()
  const bus = await broker.connect()
  const [one, two] = [newSessionId(), newSessionId()]
  for (const id of ['a', 'b', 'c']) await append(bus, one, id)
  await append(bus, two, 'a')
  const { counts, isReliable } = await bus.sessions.counts()
  expect([counts.get(one), counts.get(two), isReliable]).toEqual([3, 1, true])
})

test('an append by another process during the check is no loss', async () => {
  await using broker = await startBroker()
  const bus = await broker.connect()
  const session = newSessionId()
  await append(bus, session, 'first')
  const connection = await connectNats(broker.url, 'head')
  try {
    const manager = await jetstreamManager(connection)
    const losses: unknown[] = []
    const head = new NatsLogHead({
      connection,
      jetstream: jetstream(connection),
      manager,
      warn: (error) => losses.push(error),
      onLoss: (range) => losses.push(range),
    })
    const info = manager.streams.info.bind(manager.streams)
    vi.spyOn(manager.streams, 'info').mockImplementationOnce(async (...args) => {
      const before = await info(...args)
      head.note(await append(bus, session, 'second'))
      return before
    })
    await head.check()
    expect(losses).toEqual([])
    await head.close()
  } finally {
    await connection.close()
  }
})
