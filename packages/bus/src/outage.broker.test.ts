import { setTimeout as delay } from 'node:timers/promises'
import type { LogFact } from '@mcp-host/contracts'
import { newSessionId } from '@mcp-host/contracts'
import { eventually, startBroker } from '@mcp-host/testkit'
import { expect, test } from 'vitest'
import { turnClaimed, envelope, userMessage } from '../test/facts.ts'
import { Follower } from '../test/follower.ts'

test('appends, reads and followers survive an outage of 11 s, and no entry is stored twice', async () => {
  await using broker = await startBroker()
  const bus = await broker.connect()
  const session = newSessionId()
  const append = (fact: LogFact, messageId: string, fence?: number) =>
    bus.sessions.append(session, fact, {
      envelope,
      messageId,
      ...(fence === undefined ? {} : { fence }),
    })
  await append(userMessage('before'), 'before')
  await broker.kill()
  const pending = Promise.all([
    append(userMessage('a'), 'a'),
    append(userMessage('b'), 'b'),
    append(turnClaimed('one'), 'one', 0),
  ])
  const reading = bus.sessions.read(session, 0)
  const readingEnd = bus.sessions.end(newSessionId())
  const follower = new Follower(bus, session)
  // The test needs an outage of this length.
  await delay(11_000)
  await broker.start()
  const seqs = (await pending).map(({ seq }) => seq)
  const { seq: last } = await append(userMessage('after'), 'after')
  const stored = await bus.sessions.read(session, 0)
  expect(stored.map(({ seq }) => seq).slice(1)).toEqual([...seqs.toSorted((a, b) => a - b), last])
  expect((await reading)[0]).toMatchObject(userMessage('before'))
  expect(await readingEnd).toEqual({ seq: 0, turnEvent: undefined })
  await eventually(() => follower.entries.length === 5)
  await follower.stop()
})

test('an append is unavailable when its patience runs out', async () => {
  await using broker = await startBroker()
  const bus = await broker.connect()
  await broker.kill()
  const options = { envelope, messageId: 'a', patienceMs: 500 }
  await expect(
    bus.sessions.append(newSessionId(), userMessage('a'), options),
  ).rejects.toMatchObject({
    code: 'unavailable',
    retryable: true,
  })
})

test('an append is not retried once the bus is closed', async () => {
  await using broker = await startBroker()
  const bus = await broker.connect()
  await broker.kill()
  const append = bus.sessions.append(newSessionId(), userMessage('a'), { envelope, messageId: 'a' })
  await bus[Symbol.asyncDispose]()
  await expect(append).rejects.toMatchObject({ code: 'unavailable' })
}, 10_000)

test('a read is not retried once the bus is closed', async () => {
  await using broker = await startBroker()
  const bus = await broker.connect()
  await broker.kill()
  const read = bus.sessions.read(newSessionId(), 0)
  read.catch(() => undefined)
  await bus[Symbol.asyncDispose]()
  await expect(read).rejects.toMatchObject({ code: 'unavailable' })
}, 10_000)

test('a ping shows that the broker is away and back', async () => {
  await using broker = await startBroker()
  const bus = await broker.connect()
  await bus.ping()
  await broker.kill()
  await expect(bus.ping()).rejects.toMatchObject({ code: 'unavailable' })
  await broker.start()
  await expect
    .poll(
      () =>
        bus.ping().then(
          () => 'up',
          () => 'down',
        ),
      { timeout: 5_000 },
    )
    .toBe('up')
})

test('the time since the last outage is known, and reset by each outage', async () => {
  await using broker = await startBroker()
  const bus = await broker.connect()
  expect(bus.sinceOutageMs()).toBe(Infinity)
  for (let outage = 0; outage < 2; outage++) {
    await broker.kill()
    await eventually(() => bus.sinceOutageMs() === 0)
    await broker.start()
    const back = await eventually(() => bus.sinceOutageMs() || undefined)
    await eventually(() => bus.sinceOutageMs() > back)
  }
})
