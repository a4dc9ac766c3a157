import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'

import { LEGACY, MemoryEndpoint, MODERN, SILENCE } from '../../test/memory-endpoint.ts'
import { openConnection } from '../../test/open-connection.ts'
import { ServerUnavailableError } from '../errors/server-unavailable-error.ts'
import { silentLogger } from '@mcp-host/process'
import { CallMeter } from '../metrics/call-meter.ts'
import { CallQueue } from '../policies/call-queue.ts'
import { CircuitBreaker } from '../policies/circuit-breaker.ts'
import { UnsentError } from '../errors/unsent-error.ts'
import type { RetryOptions } from './options.ts'
import { type Live, type PathRequest, RequestPath } from './request-path.ts'

interface TestPath {
  readonly path: RequestPath
  readonly endpoint: MemoryEndpoint
  readonly request: PathRequest
  readonly meter: CallMeter
  readonly onTroubleErrors: Error[]
  /** The input requests, one per round. */
  readonly inputRounds: { readonly inputRequests: object; readonly signal: AbortSignal }[]
  /** Ends the connection, as the server would. */
  readonly end: (reason: string) => Promise<void>
}

interface TestPathOptions {
  readonly era?: 'modern' | 'legacy'
  readonly limit?: number
  readonly maxWaiting?: number
  readonly isAway?: () => boolean
  /** Waits for a restart; resolves with whether the server is ready. */
  readonly comesBack?: (limitMs: number) => Promise<boolean>
  readonly mayComeBack?: () => boolean
  /** The input that the server requests. */
  readonly input?: () => unknown
}

async function create(
  answer: (params: Readonly<Record<string, unknown>>) => unknown,
  options: TestPathOptions = {},
): Promise<TestPath> {
  const { era = 'modern', limit = 10, maxWaiting = 10 } = options
  const { isAway = () => false, comesBack = async () => true, input = () => 'Ada' } = options
  const { mayComeBack = () => true } = options
  const handshake = era === 'modern' ? MODERN : LEGACY
  const endpoint = new MemoryEndpoint({ ...handshake, 'tools/call': answer })
  const ended = new AbortController()
  const connection = await openConnection(endpoint, { onClose: () => ended.abort() })
  const inputRounds: TestPath['inputRounds'] = []
  const onTroubleErrors: Error[] = []
  const live: Live = {
    connection,
    ended: ended.signal,
    inbox: {
      begin: () => 0,
      end: () => undefined,
      answerAll: async (inputRequests, _call, signal) => {
        inputRounds.push({ inputRequests, signal })
        return { who: await input() }
      },
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
        onTroubleErrors.push(error)
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
  return { path, endpoint, request, meter, onTroubleErrors, inputRounds, end }
}

const inputRequired = (more: object = {}): object => ({
  resultType: 'input_required',
  inputRequests: { who: { method: 'elicitation/create' } },
  ...more,
})

describe('a result that requires input', () => {
  test('a result that requires input is answered and requested again, with its state, until it is complete', async () => {
    const rounds: Readonly<Record<string, unknown>>[] = []
    const { path, request, inputRounds } = await create((params) => {
      rounds.push(params)
      if (rounds.length === 1) return inputRequired({ requestState: 'one' })
      if (rounds.length === 2) return inputRequired()
      return { content: [] }
    })
    const result = await path.run(request, { meta: { traceparent: 't' } })
    expect(result).toEqual({ content: [] })
    expect(inputRounds).toHaveLength(2)
    const inputResponses = { who: 'Ada' }
    expect(rounds[0]).not.toHaveProperty('inputResponses')
    expect(rounds[1]).toMatchObject({ name: 'tool', inputResponses, requestState: 'one' })
    expect(rounds[2]).toMatchObject({ name: 'tool', inputResponses })
    // A state is valid for one round: the second result had none.
    expect(rounds[2]).not.toHaveProperty('requestState')
    for (const round of rounds) expect(round['_meta']).toMatchObject({ traceparent: 't' })
  })

  test('the outcome after a result that requires input is unknown even if the next round cannot be sent', async () => {
    const { path, request, endpoint } = await create(() => inputRequired(), {
      input: () => {
        endpoint.send = () => Promise.reject(new UnsentError('closed'))
        return 'Ada'
      },
    })
    await expect(path.run(request, {})).rejects.toMatchObject({ isOutcomeUnknown: true })
    await expect(path.run(request, {})).rejects.toMatchObject({ isOutcomeUnknown: false })
  })

  test('a result that requires input is returned when the caller allows it', async () => {
    const { path, request, inputRounds } = await create(() => inputRequired())
    const result = await path.run({ ...request, allowInputRequired: true }, {})
    expect(result).toEqual(inputRequired())
    expect(inputRounds).toEqual([])
  })

  test('endless results that require input are a protocol error', async () => {
    const { path, request, inputRounds } = await create(() => inputRequired())
    await expect(path.run(request, {})).rejects.toMatchObject({
      name: 'ProtocolError',
      message: 'it.tool was refused: it asks for input without end',
    })
    expect(inputRounds).toHaveLength(10)
  })

  test('a result that requires input is a plain result for a server of an older revision', async () => {
    const { path, request, inputRounds } = await create(() => inputRequired(), { era: 'legacy' })
    expect(await path.run(request, {})).toEqual(inputRequired())
    expect(inputRounds).toEqual([])
  })
})

describe('the input that a result requires', () => {
  const never = (): Promise<never> => new Promise(() => undefined)
  const errorOf = (work: Promise<unknown>): Promise<unknown> => work.catch((error) => error)

  test('the input that a result requires must arrive within the maximum time of the request', async () => {
    const { path, request, inputRounds, meter } = await create(() => inputRequired(), {
      input: never,
    })
    const options = { timeoutMs: 10, maxTimeoutMs: 20, requestId: 'r' }
    await expect(path.run(request, options)).rejects.toMatchObject({
      name: 'TimeoutError',
      message: 'it.tool did not answer within 20 ms',
      timeoutMs: 20,
      tool: 'tool',
      requestId: 'r',
    })
    expect(inputRounds[0]?.signal.aborted).toBe(true)
    expect(meter.snapshot()).toMatchObject({ error: 1, inFlight: 0 })
  })

  test('the time for the input that a result requires counts towards the maximum of the request', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const received = Promise.withResolvers<string>()
    const { path, request, endpoint } = await create(
      ({ inputResponses }) => (inputResponses === undefined ? inputRequired() : SILENCE),
      { input: () => received.promise },
    )
    const run = errorOf(path.run(request, {}))
    await vi.advanceTimersByTimeAsync(4500)
    received.resolve('Ada')
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

  test('a request that waits for input fails when the connection ends', async () => {
    const stage = await create(() => inputRequired(), { input: never })
    const run = errorOf(stage.path.run(stage.request, { timeoutMs: 60_000 }))
    await expect.poll(() => stage.inputRounds.length).toBe(1)
    await stage.end('exited with code 1')
    expect(await run).toMatchObject({
      name: 'ServerUnavailableError',
      message: expect.stringContaining('the server "it" exited with code 1'),
    })
    expect(stage.inputRounds[0]?.signal.aborted).toBe(true)
  })

  test('a request that waits for input fails when the caller aborts', async () => {
    const abort = new AbortController()
    const { path, request, inputRounds, meter } = await create(() => inputRequired(), {
      input: never,
    })
    const run = errorOf(path.run(request, { timeoutMs: 60_000, signal: abort.signal }))
    await expect.poll(() => inputRounds.length).toBe(1)
    expect(inputRounds[0]?.signal.aborted).toBe(false)
    abort.abort('enough')
    expect(await run).toBe('enough')
    expect(inputRounds[0]?.signal.aborted).toBe(true)
    expect(meter.snapshot()).toMatchObject({ cancelled: 1 })
  })

  test('a failure to get the required input is a protocol error with the reason', async () => {
    const input = (): never => {
      throw new Error('nobody is there')
    }
    const { path, request } = await create(() => inputRequired(), { input })
    const options = { requestId: 'r', retry: false as const }
    await expect(path.run(request, options)).rejects.toMatchObject({
      name: 'ProtocolError',
      message: 'it.tool asks for input that cannot be provided: nobody is there',
      tool: 'tool',
      requestId: 'r',
      cause: { message: 'nobody is there' },
    })
  })
})

describe('a request that waits in the queue', () => {
  test('a request that waits in the queue longer than its maximum time is not sent', async () => {
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
    // The request that timed out leaves its slot to the next.
    await path.run(request, {})
    expect(endpoint.methods.filter((method) => method === 'tools/call')).toHaveLength(2)
  })

  test('a request that waits in the queue throws the reason of its abort', async () => {
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
  ): Promise<TestPath & { readonly toolBreaker: CircuitBreaker }> => {
    const stage = await create(() => ({ error: { code, message: 'no' } }))
    const toolBreaker = new CircuitBreaker({})
    const request = { ...stage.request, toolBreaker }
    for (let time = 0; time < 5; time += 1) {
      await expect(stage.path.run(request, {})).rejects.toMatchObject({ rpcCode: code })
    }
    return { ...stage, toolBreaker }
  }

  test('the circuit of a tool counts internal errors, and the circuit of its server does not', async () => {
    const { request, toolBreaker } = await failFiveTimes(-32_603)
    expect([toolBreaker.state, request.breaker.state]).toEqual(['open', 'closed'])
  })

  test('a circuit does not count other errors', async () => {
    const { request, toolBreaker } = await failFiveTimes(-32_602)
    expect([toolBreaker.state, request.breaker.state]).toEqual(['closed', 'closed'])
  })

  test('a circuit does not count the end of a connection', async () => {
    const { path, request, end } = await create(() => new Promise(() => undefined))
    const toolBreaker = new CircuitBreaker({})
    const calls = Array.from({ length: 10 }, () =>
      path.run({ ...request, toolBreaker }, {}).catch((error: unknown) => error),
    )
    await end('exited with code 1')
    await Promise.all(calls)
    expect([toolBreaker.state, request.breaker.state]).toEqual(['closed', 'closed'])
  })

  test('the circuits of a tool and its server count requests that cannot be sent', async () => {
    const { path, request, endpoint } = await create(() => ({}))
    const toolBreaker = new CircuitBreaker({})
    endpoint.send = () => Promise.reject(new Error('broken pipe'))
    for (let time = 0; time < 5; time += 1) {
      await path.run({ ...request, toolBreaker }, {}).catch(() => undefined)
    }
    expect([toolBreaker.state, request.breaker.state]).toEqual(['open', 'open'])
  })
})

describe('the meter', () => {
  const refusal = { error: { code: -32_000, message: 'no' } }

  test('the meter counts requests by outcome', async () => {
    let isFailing = false
    const stage = await create(() => (isFailing ? refusal : {}))
    const { path, request, meter } = stage
    await path.run(request, {})
    isFailing = true
    await expect(path.run(request, {})).rejects.toThrow('it.tool was refused: no')
    await expect(path.run(request, { signal: AbortSignal.abort('no') })).rejects.toBe('no')
    expect(meter.snapshot()).toMatchObject({ success: 1, error: 1, cancelled: 1, inFlight: 0 })
  })

  test('the meter counts a result that its caller refuses as an error', async () => {
    const { path, request, meter } = await create(() => ({}))
    const check = (): void => {
      throw new Error('not like this')
    }
    await expect(path.run({ ...request, check }, {})).rejects.toThrow('not like this')
    expect(meter.snapshot()).toMatchObject({ success: 0, error: 1 })
  })

  test('the meter counts a request that was never sent as refused', async () => {
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

test('requests beyond the limit of the queue are refused with a delay for a retry', async () => {
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

test('a path is idle once no request is in flight', async () => {
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

test('a server that cannot be written to is reported, and unavailable to the caller', async () => {
  const { path, request, endpoint, onTroubleErrors } = await create(() => ({}))
  endpoint.send = () => Promise.reject(new Error('broken pipe'))
  await expect(path.run(request, {})).rejects.toMatchObject({
    name: 'ServerUnavailableError',
    message:
      'the server "it" cannot be reached: broken pipe; whether the tool took effect is not known',
    isOutcomeUnknown: true,
    cause: { name: 'RpcSendError' },
  })
  expect(onTroubleErrors).toHaveLength(1)
})

describe('a connection that ends during a request', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  test('the error of an ended connection says that the outcome of the tool or request is unknown', async () => {
    const gate = Promise.withResolvers<object>()
    const { path, request, end } = await create(() => gate.promise)
    const { tool: _tool, ...withoutTool } = request
    const failed = [request, withoutTool].map(async (each) => {
      return path.run(each, {}).catch((error: unknown) => String(error))
    })
    await end('exited with code 1')
    const [call, read] = await Promise.all(failed)
    expect(call).toBe(
      'ServerUnavailableError: the server "it" exited with code 1; whether the tool took effect is not known',
    )
    expect(read).toContain('whether the request took effect is not known')
  })

  test('a request that is safe to repeat is retried three times, after 1, 2 and 4 seconds', async () => {
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

  test('a retry waits for a restart up to the time limit of the request', async () => {
    const back = Promise.withResolvers<boolean>()
    const waits: number[] = []
    let isAway = true
    const stage = await create(() => ({ content: [] }), {
      isAway: () => isAway,
      comesBack: (limitMs) => {
        waits.push(limitMs)
        return back.promise
      },
    })
    const run = stage.path.run({ ...stage.request, isSafeToRepeat: true }, {})
    await vi.advanceTimersByTimeAsync(1000)
    expect(waits).toEqual([1000])
    isAway = false
    back.resolve(true)
    expect(await run).toEqual({ content: [] })
    expect(stage.meter.snapshot()).toMatchObject({ success: 1, refused: 1 })
  })

  test.each([
    [{}, 1],
    [{ retry: false as const }, 0],
  ])(
    'a request that was not sent is retried once, with the options %j %i times',
    async (options, retries) => {
      let isAway = true
      let waits = 0
      const stage = await create(() => ({ content: [] }), {
        isAway: () => isAway,
        comesBack: async () => {
          waits += 1
          isAway = false
          return true
        },
      })
      const run = stage.path.run(stage.request, options).catch((error) => error)
      await vi.advanceTimersByTimeAsync(400)
      expect(await run).toMatchObject(retries === 1 ? { content: [] } : { message: 'it is away' })
      expect(waits).toBe(retries)
    },
  )

  test('a request that was not sent twice is not retried again', async () => {
    const stage = await create(() => ({}), { isAway: () => true })
    const run = stage.path.run(stage.request, {}).catch((error) => error)
    await vi.advanceTimersByTimeAsync(10_000)
    expect(await run).toMatchObject({ message: 'it is away' })
    expect(stage.meter.snapshot()).toMatchObject({ refused: 2 })
  })

  test('a request is not retried while no restart is expected', async () => {
    const stage = await create(() => ({}), { isAway: () => true, mayComeBack: () => false })
    const run = stage.path
      .run({ ...stage.request, isSafeToRepeat: true }, {})
      .catch((error) => error)
    // At once, without a delay.
    expect(await run).toMatchObject({ message: 'it is away' })
    expect(stage.meter.snapshot()).toMatchObject({ refused: 1 })
  })

  test('an abort ends the wait for a restart', async () => {
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

  /** How often the request was attempted after `afterMs` milliseconds. */
  async function attempts(
    { answer, ...options }: TestPathOptions & { readonly answer?: () => unknown },
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

  test('a request with retry options is retried as often as they allow, with delays that double up to a limit', async () => {
    const retry = { maxRetries: 4, delayMs: 100, maxDelayMs: 200 }
    expect(await attempts(away, retry, 49)).toBe(1)
    expect(await attempts(away, retry, 100)).toBe(2)
    expect(await attempts(away, retry, 100 + 3 * 200)).toBe(5)
    expect(await attempts(away, retry, 10_000)).toBe(5)
    expect(await attempts(away, { delayMs: 1 }, 10_000)).toBe(4)
  })

  test('a request with retry options is retried after a listed error, if it is safe to repeat', async () => {
    const refuse = (): object => ({ error: { code: -32_000, message: 'busy' } })
    const listedErrors = { delayMs: 1, retryableErrorCodes: [-32_000] }
    expect(await attempts({ answer: refuse }, listedErrors, 1000, true)).toBe(4)
    expect(await attempts({ answer: refuse }, { delayMs: 1 }, 1000, true)).toBe(1)
    expect(await attempts({ answer: refuse }, listedErrors, 1000)).toBe(1)
    const declared = { ...listedErrors, isSafeToRepeat: true }
    expect(await attempts({ answer: refuse }, declared, 1000)).toBe(4)

    const timeouts = { delayMs: 1, retryableErrorCodes: ['timeout' as const] }
    expect(await attempts({ answer: () => SILENCE }, timeouts, 1000, true)).toBe(4)
    expect(await attempts({ answer: () => SILENCE }, timeouts, 1000)).toBe(1)
  })

  test('a request with retry options that are no numbers is refused', async () => {
    const { path, request } = await create(() => ({}))
    for (const name of ['maxRetries', 'delayMs', 'maxDelayMs']) {
      const retry = { [name]: Number.NaN }
      await expect(async () => path.run(request, { retry })).rejects.toThrow(`retry.${name} must`)
    }
  })
})
