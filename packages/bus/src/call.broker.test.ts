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
import { Line } from '../test/line.ts'
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
    logger: { info: () => {}, warn: (fields) => void warnings.push(fields), error: () => {} },
  })
})
afterAll(async () => {
  await other[Symbol.asyncDispose]()
  await broker[Symbol.asyncDispose]()
})

const session = newSessionId()
let numbers = 0
/** Names nobody else uses. */
const fresh = () => ({ generation: generationId(session, ++numbers) })
const options = { envelope, timeoutMs: 2_000 }
const ping = { action: 'ping' } as const

describe('a call', () => {
  test('gets the answer of who serves it, who gets the request and its envelope', async () => {
    const params = fresh()
    const served: ServedRequest<unknown>[] = []
    using _ = other.serve(generationControl, params, (each) => {
      served.push(each)
      return { worker: 'w' }
    })
    await other.ping()
    const given = { envelope: childEnvelope(envelope, Date.now() + 10_000), timeoutMs: 2_000 }
    expect(await bus.call(generationControl, params, ping, given)).toEqual({ worker: 'w' })
    expect(served.at(-1)).toEqual({ request: ping, envelope: given.envelope })
  })

  test('that nobody serves is unavailable at once, and again when who served it stopped', async () => {
    const params = fresh()
    const start = Date.now()
    await expect(bus.call(generationControl, params, ping, options)).rejects.toMatchObject({
      code: 'unavailable',
      message: 'no model worker answers right now',
    })
    expect(Date.now() - start).toBeLessThan(1_500)
    const serving = other.serve(generationControl, params, () => ({ worker: 'w' }))
    await other.ping()
    await bus.call(generationControl, params, ping, options)
    serving[Symbol.dispose]()
    await other.ping()
    await expect(bus.call(generationControl, params, ping, options)).rejects.toMatchObject({
      code: 'unavailable',
    })
  })

  test('that was on its way when who served it stopped is refused, so that it can be made again', async () => {
    const params = fresh()
    await using line = await Line.open(broker.url)
    const logger = { info: () => {}, warn: () => {}, error: () => {} }
    await using far = await connectBus({ url: line.url, name: 'far', logger })
    let handled = 0
    const serving = far.serve(generationControl, params, () => ({ worker: `w${handled++}` }))
    await far.ping()
    line.hold()
    const call = bus.call(generationControl, params, ping, options)
    call.catch(() => undefined)
    // By now the broker has handed it over.
    await bus.ping()
    serving[Symbol.dispose]()
    line.release()
    await expect(call).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('is closing'),
    })
    expect(handled).toBe(0)
  })

  test('gets the error of who serves it, with its code and field', async () => {
    const params = fresh()
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

  test('learns nothing of a fault but that there was one; the log does', async () => {
    const params = fresh()
    const fault = new Error('password is hunter2')
    using _ = other.serve(generationControl, params, () => Promise.reject(fault))
    await other.ping()
    const error = await bus.call(generationControl, params, ping, options).catch(inspect)
    expect(error).toContain('internal error')
    expect(error).not.toContain('hunter2')
    expect(warnings).toContainEqual(expect.objectContaining({ err: fault }))
  })

  test('that comes after its deadline is refused and not worked on', async () => {
    const params = fresh()
    let handled = 0
    using _ = other.serve(generationControl, params, () => {
      handled++
      return { worker: 'w' }
    })
    await other.ping()
    const late = { envelope: childEnvelope(envelope, Date.now() - 1), timeoutMs: 2_000 }
    await expect(bus.call(generationControl, params, ping, late)).rejects.toMatchObject({
      code: 'deadline',
      message: expect.stringContaining('came too late'),
    })
    expect(handled).toBe(0)
  })

  test('that is not answered in time ends with deadline', async () => {
    const params = fresh()
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

  test('with a wrong request is refused by its field before it is sent', async () => {
    // What the types forbid, as a caller without types may send it.
    const wrong = { session: 'short' } as unknown as { session: typeof session }
    await expect(
      bus.call(orchestratorControl, { orchestrator: 'nobody' }, wrong, options),
    ).rejects.toMatchObject({ code: 'invalid', field: 'session' })
  })

  test('is told when the answer is not one, by its field', async () => {
    const params = fresh()
    const wrong = {} as { worker: string }
    using _ = other.serve(generationControl, params, () => wrong)
    await other.ping()
    await expect(bus.call(generationControl, params, ping, options)).rejects.toMatchObject({
      code: 'invalid',
      field: 'worker',
    })
  })

  test('whose answer is too large for the broker fails at once', async () => {
    const params = fresh()
    using _ = other.serve(generationControl, params, () => ({ worker: 'x'.repeat(1_100_000) }))
    await other.ping()
    await expect(bus.call(generationControl, params, ping, options)).rejects.toMatchObject({
      code: 'internal',
    })
  })

  test('that is too large for the broker is invalid, not late', async () => {
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

  test('has each call answered by exactly one of them, and all take part', async () => {
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

test('a live event that is too large is left out and logged; those after it are sent', async () => {
  const told: string[] = []
  using _ = bus.listen(orchestratorJobs, {}, ({ orchestrator }) => void told.push(orchestrator))
  await bus.ping()
  other.emit(orchestratorJobs, {}, { orchestrator: 'large', jobs: ['x'.repeat(1_100_000)] })
  other.emit(orchestratorJobs, {}, { orchestrator: 'small', jobs: [] })
  await expect.poll(() => told).toEqual(['small'])
  expect(warnings).toContainEqual(expect.objectContaining({ action: 'emit orch.jobs' }))
})
