import { readdir, stat, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import type { SessionId } from '@mcp-host/contracts'
import { newSessionId } from '@mcp-host/contracts'
import type { Broker } from '@mcp-host/testkit'
import { eventually, startBroker, testFolder } from '@mcp-host/testkit'
import { expect, test } from 'vitest'
import { envelope, said } from '../test/facts.ts'
import { Follower } from '../test/follower.ts'
import type { Bus } from './bus.ts'

async function append(bus: Bus, session: SessionId, id: string): Promise<number> {
  const options = { envelope, messageId: id }
  return (await bus.sessions.append(session, said(id), options)).seq
}

/** Cuts off the last part of the stream of session logs while the broker is down. */
async function cutLog(broker: Broker, folder: string, share: number): Promise<void> {
  await broker.kill()
  const messages = join(folder, 'nats', 'jetstream', '$G', 'streams', 'SESS', 'msgs')
  const blocks = (await readdir(messages)).filter((file) => file.endsWith('.blk'))
  const last = join(messages, blocks.toSorted().at(-1) ?? '')
  await truncate(last, Math.floor((await stat(last)).size * (1 - share)))
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
