import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'

import { LEGACY, MemoryEndpoint, MODERN, SILENCE } from '../../test/fixtures/memory-endpoint.ts'
import { Connection } from '../connection/connection.ts'
import { ServerUnavailableError } from '../errors/server-unavailable-error.ts'
import { silentLogger } from '../logger.ts'
import { CallMeter } from '../metrics/call-meter.ts'
import { CallQueue } from '../policies/call-queue.ts'
import { CircuitBreaker } from '../policies/circuit-breaker.ts'
import { UnsentError } from '../transport/unsent-error.ts'
import type { RetryOptions } from './options.ts'
import { type Live, type PathRequest, RequestPath } from './request-path.ts'

interface Road {
  readonly path: RequestPath
  readonly endpoint: MemoryEndpoint
  readonly request: PathRequest
  readonly meter: CallMeter
  readonly troubles: Error[]
  /** Input that was asked for, by round. */
  readonly asked: { readonly inputRequests: object; readonly signal: AbortSignal }[]
  /** Ends the connection, as the server would. */
  readonly end: (reason: string) => Promise<void>
}

interface RoadOptions {
  readonly era?: 'modern' | 'legacy'
  readonly limit?: number
  readonly maxWaiting?: number
  readonly isAway?: () => boolean
  /** Whether a restart is to be waited for, and leads to something. */
  readonly comesBack?: (limitMs: number) => Promise<boolean>
  readonly mayComeBack?: () => boolean
  /** Gives the input that the server asks for. */
  readonly input?: () => unknown
}

async function create(
  answer: (params: Readonly<Record<string, unknown>>) => unknown,
  options: RoadOptions = {},
): Promise<Road> {
  const { era = 'modern', limit = 10, maxWaiting = 10 } = options
  const { isAway = () => false, comesBack = async () => true, input = () => 'Ada' } = options
  const { mayComeBack = () => true } = options
  const handshake = era === 'modern' ? MODERN : LEGACY
  const endpoint = new MemoryEndpoint({ ...handshake, 'tools/call': answer })
  const ended = new AbortController()
  const connection = await Connection.open(endpoint, {
    clientInfo: { name: 'test', version: '1.0.0' },
    capabilities: {},
    era: 'auto',
    signal: new AbortController().signal,
    onClose: () => ended.abort(),
    onError: () => undefined,
    prepare: () => undefined,
  })
  const asked: Road['asked'] = []
  const troubles: Error[] = []
  const live: Live = {
    connection,
    ended: ended.signal,
    begin: () => 0,
    end: () => undefined,
    answerAll: async (inputRequests, _call, signal) => {
      asked.push({ inputRequests, signal })
      return { who: await input() }
    },
  }
  const path = new RequestPath(
    {
      queue: new CallQueue({ limit, maxWaiting }),
      logger: silentLogger,
      live: (request) => {
        if (!isAway()) return live
        throw new ServerUnavailableError('it is away', { server: 'it', ...request })
      },
      onTrouble: async (_live, error) => {
        troubles.push(error)
        return false
      },
      mayComeBack,
      comesBack,
      lastOutput: () => [],
    },
    { server: 'it', timeoutMs: 1000, maxTimeoutMs: 5000 },
  )
  const meter = new CallMeter()
  const request: PathRequest = {
    method: 'tools/call',
    params: { name: 'tool' },
    subject: 'tool',
    tool: 'tool',
    isSafeToRepeat: false,
    breaker: new CircuitBreaker({}),
    meter,
    check: () => undefined,
  }
  const end = (reason: string): Promise<void> => {
    endpoint.closeReason = reason
    return endpoint.close()
  }
  return { path, endpoint, request, meter, troubles, asked, end }
}

const inputRequired = (more: object = {}): object => ({
  resultType: 'input_required',
  inputRequests: { who: { method: 'elicitation/create' } },
  ...more,
})

describe('a result that asks for input', () => {
  test('is answered and asked for again, with the state that came with it, until it is one', async () => {
    const rounds: Readonly<Record<string, unknown>>[] = []
    const { path, request, asked } = await create((params) => {
      rounds.push(params)
      if (rounds.length === 1) return inputRequired({ requestState: 'one' })
      if (rounds.length === 2) return inputRequired()
      return { content: [] }
    })
    const result = await path.run(request, { meta: { traceparent: 't' } })
    expect(result).toEqual({ content: [] })
    expect(asked).toHaveLength(2)
    const inputResponses = { who: 'Ada' }
    expect(rounds[0]).not.toHaveProperty('inputResponses')
    expect(rounds[1]).toMatchObject({ name: 'tool', inputResponses, requestState: 'one' })
    expect(rounds[2]).toMatchObject({ name: 'tool', inputResponses })
    // A state is good for one round: the second answer had none.
    expect(rounds[2]).not.toHaveProperty('requestState')
    for (const round of rounds) expect(round['_meta']).toMatchObject({ traceparent: 't' })
  })

  test('was a beginning, also when the next round cannot be sent', async () => {
    const { path, request, endpoint } = await create(() => inputRequired(), {
      input: () => {
        endpoint.send = () => Promise.reject(new UnsentError('closed'))
        return 'Ada'
      },
    })
    await expect(path.run(request, {})).rejects.toMatchObject({ isOutcomeUnknown: true })
    await expect(path.run(request, {})).rejects.toMatchObject({ isOutcomeUnknown: false })
  })

  test('is handed over where the caller wants it', async () => {
    const { path, request, asked } = await create(() => inputRequired())
    const result = await path.run({ ...request, allowInputRequired: true }, {})
    expect(result).toEqual(inputRequired())
    expect(asked).toEqual([])
  })

  test('again and again is a fault of the protocol', async () => {
    const { path, request, asked } = await create(() => inputRequired())
    await expect(path.run(request, {})).rejects.toMatchObject({
      name: 'ProtocolError',
      message: 'it.tool was refused: it asks for input without end',
    })
    expect(asked).toHaveLength(10)
  })

  test('is a result like any other from a server of before', async () => {
    const { path, request, asked } = await create(() => inputRequired(), { era: 'legacy' })
    expect(await path.run(request, {})).toEqual(inputRequired())
    expect(asked).toEqual([])
  })
})

describe('the input that a server asks for', () => {
  const never = (): Promise<never> => new Promise(() => undefined)
  const settled = (work: Promise<unknown>): Promise<unknown> => work.catch((error) => error)

  test('is waited for no longer than the request may take', async () => {
    const { path, request, asked, meter } = await create(() => inputRequired(), { input: never })
    const options = { timeoutMs: 10, maxTimeoutMs: 20, requestId: 'r' }
    await expect(path.run(request, options)).rejects.toMatchObject({
      name: 'TimeoutError',
      message: 'it.tool did not answer within 20 ms',
      timeoutMs: 20,
      tool: 'tool',
      requestId: 'r',
    })
    expect(asked[0]?.signal.aborted).toBe(true)
    expect(meter.snapshot()).toMatchObject({ error: 1, inFlight: 0 })
  })

  test('takes its time from what is left for the answer', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const given = Promise.withResolvers<string>()
    const { path, request, endpoint } = await create(
      ({ inputResponses }) => (inputResponses === undefined ? inputRequired() : SILENCE),
      { input: () => given.promise },
    )
    const run = settled(path.run(request, {}))
    await vi.advanceTimersByTimeAsync(4500)
    given.resolve('Ada')
    await vi.advanceTimersByTimeAsync(499)
    expect(endpoint.methods.filter((method) => method === 'tools/call')).toHaveLength(2)
    expect(endpoint.methods).not.toContain('notifications/cancelled')
    await vi.advanceTimersByTimeAsync(1)
    expect(await run).toMatchObject({
      name: 'TimeoutError',
      message: 'it.tool did not answer within 5000 ms',
      timeoutMs: 5000,
    })
  })

  test('is of no use once the connection has ended', async () => {
    const road = await create(() => inputRequired(), { input: never })
    const run = settled(road.path.run(road.request, { timeoutMs: 60_000 }))
    await expect.poll(() => road.asked.length).toBe(1)
    await road.end('exited with code 1')
    expect(await run).toMatchObject({
      name: 'ServerUnavailableError',
      message: expect.stringContaining('the server "it" exited with code 1'),
    })
    expect(road.asked[0]?.signal.aborted).toBe(true)
  })

  test('is of no use once the caller has aborted', async () => {
    const abort = new AbortController()
    const { path, request, asked, meter } = await create(() => inputRequired(), { input: never })
    const run = settled(path.run(request, { timeoutMs: 60_000, signal: abort.signal }))
    await expect.poll(() => asked.length).toBe(1)
    expect(asked[0]?.signal.aborted).toBe(false)
    abort.abort('enough')
    expect(await run).toBe('enough')
    expect(asked[0]?.signal.aborted).toBe(true)
    expect(meter.snapshot()).toMatchObject({ cancelled: 1 })
  })

  test('that cannot be had is a fault of the protocol, with the reason', async () => {
    const input = (): never => {
      throw new Error('nobody is there')
    }
    const { path, request } = await create(() => inputRequired(), { input })
    const options = { requestId: 'r', retry: false as const }
    await expect(path.run(request, options)).rejects.toMatchObject({
      name: 'ProtocolError',
      message: 'it.tool asks for input that cannot be had: nobody is there',
      tool: 'tool',
      requestId: 'r',
      cause: { message: 'nobody is there' },
    })
  })
})

describe('a request that waits for its turn', () => {
  test('is not sent when the turn does not come within the most that it may take', async () => {
    const gate = Promise.withResolvers<object>()
    const { path, request, meter, endpoint } = await create(() => gate.promise, { limit: 1 })
    const running = path.run(request, {})
    await expect(path.run(request, { timeoutMs: 20, requestId: 'r' })).rejects.toMatchObject({
      name: 'TimeoutError',
      message: 'it.tool did not get its turn within 20 ms',
      timeoutMs: 20,
      tool: 'tool',
      requestId: 'r',
    })
    expect(meter.snapshot()).toMatchObject({ refused: 1, inFlight: 1 })
    gate.resolve({})
    await running
    // Nobody sits on the place that it did not get.
    await path.run(request, {})
    expect(endpoint.methods.filter((method) => method === 'tools/call')).toHaveLength(2)
  })

  test('throws the reason of its abort', async () => {
    const gate = Promise.withResolvers<object>()
    const { path, request } = await create(() => gate.promise, { limit: 1 })
    const running = path.run(request, {})
    const abort = new AbortController()
    const waiting = path.run(request, { signal: abort.signal, timeoutMs: 5000 })
    abort.abort('enough')
    await expect(waiting).rejects.toBe('enough')
    gate.resolve({})
    await running
  })
})

describe('a circuit', () => {
  const failFiveTimes = async (
    code: number,
  ): Promise<Road & { readonly toolBreaker: CircuitBreaker }> => {
    const road = await create(() => ({ error: { code, message: 'no' } }))
    const toolBreaker = new CircuitBreaker({})
    const request = { ...road.request, toolBreaker }
    for (let time = 0; time < 5; time += 1) {
      await expect(road.path.run(request, {})).rejects.toMatchObject({ rpcCode: code })
    }
    return { ...road, toolBreaker }
  }

  test('of the tool counts internal errors, that of the server does not', async () => {
    const { request, toolBreaker } = await failFiveTimes(-32_603)
    expect([toolBreaker.state, request.breaker.state]).toEqual(['open', 'closed'])
  })

  test('does not count other errors', async () => {
    const { request, toolBreaker } = await failFiveTimes(-32_602)
    expect([toolBreaker.state, request.breaker.state]).toEqual(['closed', 'closed'])
  })

  test('does not count the end of a connection', async () => {
    const { path, request, end } = await create(() => new Promise(() => undefined))
    const toolBreaker = new CircuitBreaker({})
    const calls = Array.from({ length: 10 }, () =>
      path.run({ ...request, toolBreaker }, {}).catch((error: unknown) => error),
    )
    await end('exited with code 1')
    await Promise.all(calls)
    expect([toolBreaker.state, request.breaker.state]).toEqual(['closed', 'closed'])
  })

  test('of the server and of the tool counts what could not be sent', async () => {
    const { path, request, endpoint } = await create(() => ({}))
    const toolBreaker = new CircuitBreaker({})
    endpoint.send = () => Promise.reject(new Error('broken pipe'))
    for (let time = 0; time < 5; time += 1) {
      await path.run({ ...request, toolBreaker }, {}).catch(() => undefined)
    }
    expect([toolBreaker.state, request.breaker.state]).toEqual(['open', 'open'])
  })
})

describe('what is counted', () => {
  const refusal = { error: { code: -32_000, message: 'no' } }

  test('is how each request ended', async () => {
    let isFailing = false
    const road = await create(() => (isFailing ? refusal : {}))
    const { path, request, meter } = road
    await path.run(request, {})
    isFailing = true
    await expect(path.run(request, {})).rejects.toThrow('it.tool was refused: no')
    await expect(path.run(request, { signal: AbortSignal.abort('no') })).rejects.toBe('no')
    expect(meter.snapshot()).toMatchObject({ success: 1, error: 1, cancelled: 1, inFlight: 0 })
  })

  test('as an error is also a result that its caller does not take', async () => {
    const { path, request, meter } = await create(() => ({}))
    const check = (): void => {
      throw new Error('not like this')
    }
    await expect(path.run({ ...request, check }, {})).rejects.toThrow('not like this')
    expect(meter.snapshot()).toMatchObject({ success: 0, error: 1 })
  })

  test('as refused is what never reached the server', async () => {
    const { path, request, meter, endpoint } = await create(() => ({}), { isAway: () => true })
    const options = { requestId: 'r', retry: false as const }
    await expect(path.run(request, options)).rejects.toMatchObject({
      code: 'server-unavailable',
      tool: 'tool',
      requestId: 'r',
    })
    expect(meter.snapshot()).toMatchObject({ refused: 1 })
    expect(endpoint.methods).not.toContain('tools/call')
  })
})

test('more requests than may wait are refused, with the time to come back', async () => {
  const gate = Promise.withResolvers<object>()
  const { path, request } = await create(() => gate.promise, { limit: 1, maxWaiting: 1 })
  const running = [path.run(request, {}), path.run(request, {})]
  await expect(path.run(request, { requestId: 'r' })).rejects.toMatchObject({
    name: 'ServerUnavailableError',
    message: 'it.tool: 1 calls are waiting already; try again later',
    retryAfterMs: 1000,
    tool: 'tool',
    requestId: 'r',
  })
  gate.resolve({})
  await Promise.all(running)
})

test('it is idle once nothing is under way', async () => {
  const gate = Promise.withResolvers<object>()
  const { path, request } = await create(() => gate.promise)
  await path.idle()
  const running = [path.run(request, {}), path.run(request, {})]
  let isIdle = false
  const idle = path.idle().then(() => (isIdle = true))
  await Promise.resolve()
  expect(isIdle).toBe(false)
  gate.resolve({})
  await Promise.all(running)
  await idle
})

test('a server that cannot be written to is a trouble, and unavailable to the caller', async () => {
  const { path, request, endpoint, troubles } = await create(() => ({}))
  endpoint.send = () => Promise.reject(new Error('broken pipe'))
  await expect(path.run(request, {})).rejects.toMatchObject({
    name: 'ServerUnavailableError',
    message:
      'the server "it" cannot be reached: broken pipe; whether the tool took effect is not known',
    isOutcomeUnknown: true,
    cause: { name: 'RpcSendError' },
  })
  expect(troubles).toHaveLength(1)
})

describe('a connection that ends meanwhile', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  test('is told with what is not known, and of a tool in other words than of the rest', async () => {
    const gate = Promise.withResolvers<object>()
    const { path, request, end } = await create(() => gate.promise)
    const { tool: _tool, ...untooled } = request
    const failed = [request, untooled].map(async (each) => {
      return path.run(each, {}).catch((error: unknown) => String(error))
    })
    await end('exited with code 1')
    const [call, read] = await Promise.all(failed)
    expect(call).toBe(
      'ServerUnavailableError: the server "it" exited with code 1; whether the tool took effect is not known',
    )
    expect(read).toContain('whether the request took effect is not known')
  })

  test('is tried four times where that is safe, after 1, 2 and 4 seconds', async () => {
    let isAway = false
    const options = { isAway: () => isAway }
    const { path, request, endpoint, meter } = await create(() => ({}), options)
    endpoint.send = () => Promise.reject(new Error('broken pipe'))
    const run = path.run({ ...request, isSafeToRepeat: true }, {}).catch((error) => error)
    await vi.advanceTimersByTimeAsync(1000)
    await vi.advanceTimersByTimeAsync(2000)
    expect(meter.snapshot()).toMatchObject({ error: 3, refused: 0 })
    isAway = true
    await vi.advanceTimersByTimeAsync(4000)
    expect(await run).toMatchObject({ message: 'it is away' })
    expect(meter.snapshot()).toMatchObject({ error: 3, refused: 1 })
  })

  test('is waited for as long as the server may be silent, before it is tried again', async () => {
    const back = Promise.withResolvers<boolean>()
    const waits: number[] = []
    let isAway = true
    const road = await create(() => ({ content: [] }), {
      isAway: () => isAway,
      comesBack: (limitMs) => {
        waits.push(limitMs)
        return back.promise
      },
    })
    const run = road.path.run({ ...road.request, isSafeToRepeat: true }, {})
    await vi.advanceTimersByTimeAsync(1000)
    expect(waits).toEqual([1000])
    isAway = false
    back.resolve(true)
    expect(await run).toEqual({ content: [] })
    expect(road.meter.snapshot()).toMatchObject({ success: 1, refused: 1 })
  })

  test.each([
    [{}, 1],
    [{ retry: false as const }, 0],
  ])(
    'a request that has not begun is tried once more, with %j %i times',
    async (options, times) => {
      let isAway = true
      let waits = 0
      const road = await create(() => ({ content: [] }), {
        isAway: () => isAway,
        comesBack: async () => {
          waits += 1
          isAway = false
          return true
        },
      })
      const run = road.path.run(road.request, options).catch((error) => error)
      await vi.advanceTimersByTimeAsync(400)
      expect(await run).toMatchObject(times === 1 ? { content: [] } : { message: 'it is away' })
      expect(waits).toBe(times)
    },
  )

  test('a request that has not begun twice is not tried a third time', async () => {
    const road = await create(() => ({}), { isAway: () => true })
    const run = road.path.run(road.request, {}).catch((error) => error)
    await vi.advanceTimersByTimeAsync(10_000)
    expect(await run).toMatchObject({ message: 'it is away' })
    expect(road.meter.snapshot()).toMatchObject({ refused: 2 })
  })

  test('is not tried again while nothing brings the server back', async () => {
    const road = await create(() => ({}), { isAway: () => true, mayComeBack: () => false })
    const run = road.path.run({ ...road.request, isSafeToRepeat: true }, {}).catch((error) => error)
    // At once: no pause leads to anything.
    expect(await run).toMatchObject({ message: 'it is away' })
    expect(road.meter.snapshot()).toMatchObject({ refused: 1 })
  })

  test('is not waited for longer than the caller wants', async () => {
    const abort = new AbortController()
    const { path, request } = await create(() => ({}), {
      isAway: () => true,
      comesBack: async () => {
        abort.abort('enough')
        return false
      },
    })
    const options = { signal: abort.signal }
    const run = path.run({ ...request, isSafeToRepeat: true }, options).catch((error) => error)
    await vi.advanceTimersByTimeAsync(1000)
    expect(await run).toBe('enough')
  })
})

describe('a request with retry options', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  /** How often it was begun, when all timers of so many milliseconds are over. */
  async function attempts(
    { answer, ...options }: RoadOptions & { readonly answer?: () => unknown },
    retry: RetryOptions,
    afterMs: number,
    isSafeToRepeat = false,
  ): Promise<number> {
    const { path, request, meter } = await create(answer ?? (() => ({})), options)
    const run = path.run({ ...request, isSafeToRepeat }, { retry, timeoutMs: 50 })
    run.catch(() => undefined)
    await vi.advanceTimersByTimeAsync(afterMs)
    const { error, refused, inFlight } = meter.snapshot()
    return error + refused + inFlight
  }
  const away = { isAway: () => true }

  test('is tried again as often as it says, with pauses that double up to a limit', async () => {
    const retry = { maxRetries: 4, delayMs: 100, maxDelayMs: 200 }
    expect(await attempts(away, retry, 49)).toBe(1)
    expect(await attempts(away, retry, 100)).toBe(2)
    expect(await attempts(away, retry, 100 + 3 * 200)).toBe(5)
    expect(await attempts(away, retry, 10_000)).toBe(5)
    expect(await attempts(away, { delayMs: 1 }, 10_000)).toBe(4)
  })

  test('is repeated after an error that it lists, if it may take effect twice', async () => {
    const refuse = (): object => ({ error: { code: -32_000, message: 'busy' } })
    const listed = { delayMs: 1, retryableErrorCodes: [-32_000] }
    expect(await attempts({ answer: refuse }, listed, 1000, true)).toBe(4)
    expect(await attempts({ answer: refuse }, { delayMs: 1 }, 1000, true)).toBe(1)
    expect(await attempts({ answer: refuse }, listed, 1000)).toBe(1)
    const declared = { ...listed, isSafeToRepeat: true }
    expect(await attempts({ answer: refuse }, declared, 1000)).toBe(4)

    const late = { delayMs: 1, retryableErrorCodes: ['timeout' as const] }
    expect(await attempts({ answer: () => SILENCE }, late, 1000, true)).toBe(4)
    expect(await attempts({ answer: () => SILENCE }, late, 1000)).toBe(1)
  })

  test('is refused with a number that is none', async () => {
    const { path, request } = await create(() => ({}))
    for (const name of ['maxRetries', 'delayMs', 'maxDelayMs']) {
      const retry = { [name]: Number.NaN }
      await expect(async () => path.run(request, { retry })).rejects.toThrow(`retry.${name} must`)
    }
  })
})
