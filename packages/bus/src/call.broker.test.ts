import { inspect } from 'node:util'
import {
  BusError,
  childEnvelope,
  generationControl,
  generationId,
  newSessionId,
  orchestratorControl,
  orchestratorJobs,
  runTool,
  toolCallId,
} from '@mcp-host/contracts'
import type { Broker } from '@mcp-host/testkit'
import { startBroker } from '@mcp-host/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { envelope } from '../test/facts.ts'
import { BrokerProxy } from '../test/broker-proxy.ts'
import { silentLogger } from '../test/silent-logger.ts'
import type { Bus, ServedRequest } from './bus.ts'
import { connectBus } from './nats-bus.ts'

let broker: Broker
let bus: Bus
let other: Bus
const warnings: object[] = []

beforeAll(async () => {
  broker = await startBroker()
  bus = await broker.connect()
  other = await connectBus({
    url: broker.url,
    name: 'other',
    logger: { ...silentLogger, warn: (fields) => void warnings.push(fields) },
  })
})
afterAll(async () => {
  await other[Symbol.asyncDispose]()
  await broker[Symbol.asyncDispose]()
})

const session = newSessionId()
let numbers = 0
/** Parameters that no other test uses. */
const uniqueParams = () => ({ generation: generationId(session, ++numbers) })
const options = { envelope, timeoutMs: 2_000 }
const ping = { action: 'ping' } as const

describe('a call', () => {
  test('a call gets the answer of its server, which gets the request and its envelope', async () => {
    const params = uniqueParams()
    const served: ServedRequest<unknown>[] = []
    using _ = other.serve(generationControl, params, (each) => {
      served.push(each)
      return { worker: 'w' }
    })
    await other.ping()
    const sentOptions = { envelope: childEnvelope(envelope), timeoutMs: 2_000 }
    expect(await bus.call(generationControl, params, ping, sentOptions)).toEqual({ worker: 'w' })
    expect(served.at(-1)).toEqual({ request: ping, envelope: sentOptions.envelope })
  })

  test('a call without a server is unavailable at once, and so is a call after the server stopped', async () => {
    const params = uniqueParams()
    // A call that waited for its limit would outlast the test.
    const patient = { ...options, timeoutMs: 60_000 }
    await expect(bus.call(generationControl, params, ping, patient)).rejects.toMatchObject({
      code: 'unavailable',
      message: 'no model worker answers right now',
    })
    const serving = other.serve(generationControl, params, () => ({ worker: 'w' }))
    await other.ping()
    await bus.call(generationControl, params, ping, options)
    serving[Symbol.dispose]()
    await other.ping()
    await expect(bus.call(generationControl, params, ping, options)).rejects.toMatchObject({
      code: 'unavailable',
    })
  })

  test('a call in flight when its server stops is refused as unavailable, so that it can be retried', async () => {
    const params = uniqueParams()
    await using proxy = await BrokerProxy.open(broker.url)
    await using far = await connectBus({ url: proxy.url, name: 'far', logger: silentLogger })
    let handled = 0
    const serving = far.serve(generationControl, params, () => ({ worker: `w${handled++}` }))
    await far.ping()
    proxy.hold()
    const call = bus.call(generationControl, params, ping, options)
    call.catch(() => undefined)
    // The broker has delivered the request before it answers this ping.
    await bus.ping()
    serving[Symbol.dispose]()
    proxy.release()
    await expect(call).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('is closing'),
    })
    expect(handled).toBe(0)
  })

  test('a call gets the error of its server, with code and field', async () => {
    const params = uniqueParams()
    using _ = other.serve(generationControl, params, () => {
      throw new BusError('exhausted', 'full', { field: 'worker' })
    })
    await other.ping()
    await expect(bus.call(generationControl, params, ping, options)).rejects.toMatchObject({
      name: 'BusError',
      code: 'exhausted',
      message: 'full',
      field: 'worker',
    })
  })

  test('a call gets an internal error without the cause, which is logged', async () => {
    const params = uniqueParams()
    const fault = new Error('password is hunter2')
    using _ = other.serve(generationControl, params, () => Promise.reject(fault))
    await other.ping()
    const error = await bus.call(generationControl, params, ping, options).catch(inspect)
    expect(error).toContain('internal error')
    expect(error).not.toContain('hunter2')
    expect(warnings).toContainEqual(expect.objectContaining({ err: fault }))
  })

  test('a call that arrives after its time is refused as not begun', async () => {
    const params = uniqueParams()
    let handled = 0
    using _ = other.serve(generationControl, params, () => {
      handled++
      return { worker: 'w' }
    })
    await other.ping()
    const late = { ...options, envelope: { ...envelope, expiresAt: bus.clock.now() - 1 } }
    await expect(bus.call(generationControl, params, ping, late)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('came too late and was not begun'),
    })
    expect(handled).toBe(0)
  })

  test('a call that expires is not begun by a server that got it after that time', async () => {
    const params = uniqueParams()
    await using proxy = await BrokerProxy.open(broker.url)
    await using far = await connectBus({ url: proxy.url, name: 'far', logger: silentLogger })
    let handled = 0
    using _ = far.serve(generationControl, params, () => ({ worker: `w${handled++}` }))
    await far.ping()
    proxy.hold()
    const short = { envelope, timeoutMs: 100, expires: true }
    await expect(bus.call(generationControl, params, ping, short)).rejects.toMatchObject({
      code: 'deadline',
    })
    proxy.release()
    // This answer comes after the decision about the first request.
    await bus.call(generationControl, params, ping, options)
    expect(handled).toBe(1)
  })

  test.each([-60_000, -5_000, 5_000, 60_000])(
    'a clock that is off by %i ms does not change the time that a server has for a call',
    async (offsetMs) => {
      const params = uniqueParams()
      const about = { url: broker.url, logger: silentLogger, now: () => Date.now() + offsetMs }
      await using moved = await connectBus({ ...about, name: 'moved' })
      const lefts: unknown[] = []
      const expiring = { ...options, timeoutMs: 10_000, expires: true }
      for (const [from, to] of [
        [moved, other],
        [bus, moved],
      ] as const) {
        using _ = to.serve(generationControl, params, ({ timeLeftMs }) => {
          lefts.push(timeLeftMs)
          return { worker: 'w' }
        })
        await to.ping()
        expect(await from.call(generationControl, params, ping, expiring)).toEqual({ worker: 'w' })
        await from.ping()
      }
      // Half of the time is room for a busy machine.
      for (const left of lefts) expect(Math.abs(Number(left) - 7_500)).toBeLessThan(2_600)
      expect(lefts).toHaveLength(2)
    },
  )

  test('the deadline of a sender of an earlier version, whose clock is behind, is not taken literally', async () => {
    const params = uniqueParams()
    using _ = other.serve(generationControl, params, () => ({ worker: 'w' }))
    await other.ping()
    const old = { ...options, envelope: { ...envelope, deadline: Date.now() - 20_000 } }
    expect(await bus.call(generationControl, params, ping, old)).toEqual({ worker: 'w' })
  })

  test('a receiver of an earlier version gets a deadline by the clock of the broker', async () => {
    const params = uniqueParams()
    let sent: ServedRequest<unknown>['envelope'] | undefined
    using _ = other.serve(generationControl, params, (served) => {
      sent = served.envelope
      return { worker: 'w' }
    })
    await other.ping()
    await bus.call(generationControl, params, ping, { ...options, expires: true })
    expect(sent?.expiresAt).toBeGreaterThan(Date.now() - 2_000)
    expect(sent?.deadline).toBe(sent?.expiresAt)
  })

  test('a call without an answer ends with the code deadline', async () => {
    const params = uniqueParams()
    let handled = 0
    using _ = other.serve(generationControl, params, () => {
      handled++
      return new Promise<never>(() => {})
    })
    const short = { envelope, timeoutMs: 300 }
    await other.ping()
    await expect(bus.call(generationControl, params, ping, short)).rejects.toMatchObject({
      code: 'deadline',
      message: 'the model worker did not answer in time',
    })
    expect(handled).toBe(1)
  })

  test('a call with an invalid request is refused with its field before it is sent', async () => {
    // Callers without types may send what the types forbid.
    const invalid = { session: 'short' } as unknown as { session: typeof session }
    await expect(
      bus.call(orchestratorControl, { orchestrator: 'nobody' }, invalid, options),
    ).rejects.toMatchObject({ code: 'invalid', field: 'session' })
  })

  test('a call with an invalid answer fails with its field', async () => {
    const params = uniqueParams()
    const invalid = {} as { worker: string }
    using _ = other.serve(generationControl, params, () => invalid)
    await other.ping()
    await expect(bus.call(generationControl, params, ping, options)).rejects.toMatchObject({
      code: 'invalid',
      field: 'worker',
    })
  })

  test('a call whose answer is too large for the broker fails at once', async () => {
    const params = uniqueParams()
    using _ = other.serve(generationControl, params, () => ({ worker: 'x'.repeat(1_100_000) }))
    await other.ping()
    await expect(bus.call(generationControl, params, ping, options)).rejects.toMatchObject({
      code: 'internal',
    })
  })

  test('a call that is too large for the broker is invalid', async () => {
    const request = {
      session,
      call: toolCallId(generationId(session, 1), 0),
      attempt: 1,
      tool: 't',
      arguments: { text: 'x'.repeat(1_100_000) },
      after: 0,
    }
    await expect(bus.call(runTool, { server: 's' }, request, options)).rejects.toMatchObject({
      code: 'invalid',
    })
  })
})

describe('a group of replicas', () => {
  const request = () => ({
    session,
    call: toolCallId(generationId(session, ++numbers), 0),
    attempt: 1,
    tool: 't',
    arguments: {},
    after: 0,
  })

  test('each call to a group of replicas is answered by exactly one, and all replicas take part', async () => {
    const counts = new Map<string, number>()
    const serve = (by: Bus) =>
      by.serve(runTool, { server: 'group' }, () => {
        counts.set(by.id, (counts.get(by.id) ?? 0) + 1)
        return { supervisor: by.id }
      })
    using _ = serve(other)
    using __ = serve(bus)
    // Both subscriptions are known to the broker once both have answered a ping.
    await Promise.all([bus.ping(), other.ping()])
    const replies = await Promise.all(
      Array.from({ length: 100 }, () => bus.call(runTool, { server: 'group' }, request(), options)),
    )
    expect(new Set(replies.map(({ supervisor }) => supervisor))).toEqual(
      new Set([bus.id, other.id]),
    )
    expect(Array.from(counts.values()).reduce((sum, count) => sum + count, 0)).toBe(100)
  })
})

test('an event that is too large is dropped and logged, and the events after it are sent', async () => {
  const orchestrators: string[] = []
  using _ = bus.listen(
    orchestratorJobs,
    {},
    ({ orchestrator }) => void orchestrators.push(orchestrator),
  )
  await bus.ping()
  other.emit(orchestratorJobs, {}, { orchestrator: 'large', jobs: ['x'.repeat(1_100_000)] })
  other.emit(orchestratorJobs, {}, { orchestrator: 'small', jobs: [] })
  await expect.poll(() => orchestrators).toEqual(['small'])
  expect(warnings).toContainEqual(expect.objectContaining({ action: 'emit orch.jobs' }))
})
