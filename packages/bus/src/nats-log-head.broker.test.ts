import { open, readdir, rm, stat, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import type { SessionId } from '@mcp-host/contracts'
import { newSessionId } from '@mcp-host/contracts'
import type { Broker } from '@mcp-host/testkit'
import { eventually, startBroker, testFolder } from '@mcp-host/testkit'
import { expect, test, vi } from 'vitest'
import { envelope, userMessage } from '../test/facts.ts'
import { Follower } from '../test/follower.ts'
import { BrokerProxy } from '../test/broker-proxy.ts'
import { silentLogger } from '../test/silent-logger.ts'
import type { Bus } from './bus.ts'
import { connectNats } from './connect.ts'
import { connectBus } from './nats-bus.ts'
import { NatsLogHead } from './nats-log-head.ts'

async function append(bus: Bus, session: SessionId, id: string): Promise<number> {
  const options = { envelope, messageId: id }
  return (await bus.sessions.append(session, userMessage(id), options)).seq
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

test('sequences that were lost with the end of the log are not reused', async () => {
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
  const remaining = await other.sessions.read(cut, 0)
  expect(remaining.length).toBeGreaterThan(0)
  expect(remaining.length).toBeLessThan(20)
  // The other process had not seen the lost entries.
  const { lost = [], seq } = await eventually(async () => {
    const end = await other.sessions.end(cut)
    return end.lost !== undefined && end
  })
  expect(lost).toMatchObject([{ after: seq }])
  expect(lost[0]?.through).toBeGreaterThanOrEqual(last)
  // A follower of lost entries fails, and a follower that starts again gets the later entries.
  await expect(follower.over).rejects.toThrow('lost the end of this session')
  const restarted = new Follower(other, cut)
  await append(bus, cut, 'third')
  await eventually(() => restarted.entries.length === remaining.length + 1)
  await restarted.stop()
})

test('a process that connects after the damage knows the lost sequences', async () => {
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
])('the end of a log that is %s after a clean stop counts as lost', async (_, damage) => {
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

test('sessions that were deleted last do not count as a lost end', async () => {
  await using folder = await testFolder()
  await using broker = await startBroker({ folder: folder.path })
  const before = await broker.connect()
  const [other, deleted] = [newSessionId(), newSessionId()]
  await append(before, other, 'first')
  for (const id of ['a', 'b', 'c']) await append(before, deleted, id)
  await before.sessions.purge(deleted)
  await before[Symbol.asyncDispose]()
  await broker.stop()
  await broker.start()
  const after = await broker.connect()
  expect(await after.sessions.lastSequence(deleted)).toBe(0)
  expect((await after.sessions.end(other)).lost).toBeUndefined()
})

test('a sequence that a reader received is not reused after its writer died', async () => {
  await using folder = await testFolder()
  await using broker = await startBroker({ folder: folder.path })
  const reader = await broker.connect('reader')
  const writer = await broker.connect('writer')
  const session = newSessionId()
  const follower = new Follower(reader, session)
  let last = 0
  for (let count = 0; count < 20; count++) last = await append(writer, session, `m${count}`)
  await eventually(() => follower.entries.length === 20)
  // The broker dies before the writer records the head of the log.
  await broker.kill()
  await writer[Symbol.asyncDispose]()
  await truncateTo(await lastBlock(folder.path), 0.1)
  await broker.start()
  expect(await append(reader, session, 'after')).toBeGreaterThan(last)
  await expect(follower.over).rejects.toThrow('lost the end of this session')
})

test('the end of a log is returned only once its loss is known', async () => {
  await using folder = await testFolder()
  await using broker = await startBroker({ folder: folder.path })
  await using proxy = await BrokerProxy.open(broker.url)
  await using late = await connectBus({ url: proxy.url, name: 'late', logger: silentLogger })
  const bus = await broker.connect()
  const session = newSessionId()
  let last = 0
  for (let count = 0; count < 20; count++) last = await append(bus, session, `m${count}`)
  proxy.cut()
  await cutLog(broker, folder.path, 0.5)
  // This entry follows the lost ones before the other process reconnects.
  expect(await append(bus, session, 'after')).toBeGreaterThan(last)
  proxy.mend()
  // The end is requested before the other process can know of the loss.
  while (late.sinceOutageMs() === 0) await setImmediate()
  expect((await late.sessions.end(session)).lost).toHaveLength(1)
})

test('the head of an undamaged log does not change', async () => {
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
      canRepair: true,
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
