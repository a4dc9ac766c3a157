import { describe, expect, test, vi } from 'vitest'

import { hold, startCalls, stopTime } from '../test/calls-stage.ts'
import { eventually } from '../test/eventually.ts'
import type { HostStage } from '../test/host-stage.ts'
import { ServerUnavailableError } from './index.ts'

describe('the circuit breaker', () => {
  const fail = async (stage: HostStage, tool: string, times: number): Promise<void> => {
    for (let time = 0; time < times; time += 1) {
      await expect(stage.host.callTool({ server: 'it', tool })).rejects.toMatchObject({
        code: 'protocol',
        rpcCode: -32_603,
      })
    }
  }
  const timeOut = async (stage: HostStage, tool: string, times: number): Promise<void> => {
    for (let time = 0; time < times; time += 1) {
      const call = stage.host.callTool({ server: 'it', tool }, {}, { timeoutMs: 1000 })
      const failed = expect(call).rejects.toMatchObject({ code: 'timeout' })
      await vi.advanceTimersByTimeAsync(1000)
      await failed
      // It is asked whether it lives, and nothing else has a timer.
      await eventually(() => vi.getTimerCount() === 0)
    }
  }

  const circuitsOf = ({ host }: Awaited<ReturnType<typeof startCalls>>) =>
    host.getMetrics().servers['it']?.counters.circuits

  test('refuses a tool that keeps failing, and lets one call try after a while', async () => {
    const stage = await startCalls()
    stopTime()
    await fail(stage, 'ill', 5)
    const call = stage.host.callTool('it.ill', {}, { requestId: 'r9' })
    await expect(call).rejects.toMatchObject({
      name: 'ServerUnavailableError',
      message: 'it.ill failed too often; it is tried again in 60 s',
      retryAfterMs: 60_000,
      tool: 'ill',
      requestId: 'r9',
    })
    expect(stage.find('it').state).toBe('ready')
    expect(stage.host.getMetrics().servers['it']?.tools['ill']).toMatchObject({
      error: 5,
      refused: 1,
    })

    // The one that tries fails: it is refused for as long again.
    await vi.advanceTimersByTimeAsync(60_000)
    await fail(stage, 'ill', 1)
    await expect(stage.host.callTool('it.ill')).rejects.toMatchObject({ retryAfterMs: 60_000 })

    await vi.advanceTimersByTimeAsync(60_000)
    await stage.host.callTool('it.cure').catch(() => undefined)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(await stage.say('it.cure')).toBe('cured')
    expect(await stage.say('it.ill')).toBe('well')
    expect(await stage.say('it.ill')).toBe('well')
    expect(circuitsOf(stage)).toMatchObject({ closed: 1 })
  })

  test('counts its changes of state', async () => {
    const stage = await startCalls({ circuitBreaker: { failures: 2 } })
    stopTime()
    await fail(stage, 'ill', 2)
    expect(circuitsOf(stage)).toMatchObject({ 'half-open': 0, closed: 0 })
    const opened = circuitsOf(stage)?.open ?? 0
    expect(opened).toBeGreaterThan(0)
    await vi.advanceTimersByTimeAsync(60_000)
    await fail(stage, 'ill', 1)
    expect(circuitsOf(stage)?.['half-open']).toBeGreaterThan(0)
    expect(circuitsOf(stage)?.open).toBeGreaterThan(opened)
  })

  test('has the limits of its server, and those of the host for the rest', async () => {
    const circuitBreaker = { failures: 2 }
    const stage = await startCalls({ circuitBreaker }, { circuitBreaker: { openMs: 5000 } })
    await fail(stage, 'ill', 2)
    const refused = stage.host.callTool('it.ill')
    await expect(refused).rejects.toThrow('it.ill failed too often; it is tried again in 5 s')
  })

  test('lets one call at a time try', async () => {
    const stage = await startCalls()
    stopTime()
    await timeOut(stage, 'mute', 5)
    await vi.advanceTimersByTimeAsync(60_000)
    const { outcome } = await hold(stage)
    await expect(stage.host.callTool('it.say')).rejects.toMatchObject({ retryAfterMs: 1000 })
    process.kill(stage.find('it').pid ?? 0, 'SIGUSR2')
    expect(await outcome).toBe('released')
    expect(await stage.say('it.say', { text: 'again' })).toBe('again')
  })

  test('counts for the whole server what several tools did', async () => {
    const stage = await startCalls()
    stopTime()
    await timeOut(stage, 'mute', 3)
    await timeOut(stage, 'mute-too', 2)
    await expect(stage.host.callTool('it.say')).rejects.toBeInstanceOf(ServerUnavailableError)
    await expect(stage.host.getPrompt({ server: 'it', prompt: 'p' })).rejects.toMatchObject({
      retryAfterMs: 60_000,
    })
  })

  test('refuses no other tool because one says that something in it is broken', async () => {
    const stage = await startCalls()
    await fail(stage, 'ill', 5)
    await fail(stage, 'ill-too', 5)
    await expect(stage.host.callTool('it.ill')).rejects.toBeInstanceOf(ServerUnavailableError)
    expect(await stage.say('it.say', { text: 'well' })).toBe('well')
  })

  test('does not begin a restarted server with refusals', async () => {
    const stage = await startCalls({ restart: { policy: 'on-failure' } })
    const calls = Array.from({ length: 10 }, () => stage.host.callTool('it.die').catch(() => 'x'))
    await Promise.all(calls)
    await stage.host.restart('it')
    expect(await stage.say('it.say', { text: 'well' })).toBe('well')
  })

  test('forgets failures of long ago', async () => {
    const stage = await startCalls()
    stopTime()
    await fail(stage, 'ill', 4)
    await vi.advanceTimersByTimeAsync(60_000)
    await fail(stage, 'ill', 4)
  })

  test('does not count what is the fault of the caller, or a result that says that it failed', async () => {
    const stage = await startCalls({ validateArguments: 'strict' })
    for (let time = 0; time < 6; time += 1) {
      await expect(stage.host.callTool('it.refuse')).rejects.toMatchObject({ rpcCode: -32_602 })
      await expect(stage.host.callTool('it.none')).rejects.toMatchObject({ code: 'validation' })
      expect(await stage.host.callTool('it.fail')).toMatchObject({ isError: true })
      const aborted = AbortSignal.abort('no')
      await expect(stage.host.callTool('it.say', {}, { signal: aborted })).rejects.toBe('no')
      await expect(stage.host.callTool('it.weigh', { result: {} })).rejects.toThrow('output schema')
    }
    expect(await stage.say('it.say', { text: 'fine' })).toBe('fine')
  })

  test('counts calls that run out of time', async () => {
    const stage = await startCalls()
    stopTime()
    for (let time = 0; time < 5; time += 1) {
      const { outcome } = await hold(stage, { timeoutMs: 1000 })
      await vi.advanceTimersByTimeAsync(1000)
      expect(await outcome).toMatchObject({ code: 'timeout' })
    }
    await expect(stage.host.callTool('it.hold')).rejects.toMatchObject({
      message: expect.stringContaining('it.hold failed too often'),
    })
  })
})

describe('a call whose server ends', () => {
  const deaths = async (stage: HostStage): Promise<number> =>
    (await stage.workspace.lines('log')).filter((line) => line === 'die').length
  /** Starts the server again and lets the pause before the next attempt pass. */
  async function revive(stage: HostStage, pauseMs: number): Promise<void> {
    await eventually(() => stage.find('it').state === 'unavailable')
    await stage.host.restart('it')
    // No more: the pause after the next attempt must not pass before the next restart.
    await vi.advanceTimersByTimeAsync(pauseMs)
  }

  test.each([
    ['is made again when its tool only reads', 'die-reading', {}, 4],
    ['is made again when its tool may be called twice', 'die-twice', {}, 4],
    [
      'is made again when the caller says that it may be',
      'die',
      { retry: { maxRetries: 1, isSafeToRepeat: true } },
      2,
    ],
    ['is not made again when its server says nothing of that', 'die', {}, 1],
    ['is not made again for a number of retries alone', 'die', { retry: { maxRetries: 3 } }, 1],
    ['is not made again when the caller forbids it', 'die-reading', { retry: false }, 1],
    ['is not made again when once is enough', 'die-reading', { retry: { maxRetries: 0 } }, 1],
    [
      'is not made again for an error that the caller does not list',
      'die-reading',
      { retry: { retryableErrorCodes: ['timeout', -32_603] } },
      1,
    ],
  ] as const)('%s', async (_title, tool, options, attempts) => {
    const stage = await startCalls({ restart: { policy: 'on-failure' } })
    stopTime()
    const call = stage.host.callTool({ server: 'it', tool }, {}, { ...options, requestId: 'r' })
    const expected = { code: 'server-unavailable', tool, requestId: 'r' }
    const failed = expect(call).rejects.toMatchObject(expected)
    for (let count = 1; count < attempts; count += 1) {
      await eventually(async () => (await deaths(stage)) === count)
      await revive(stage, 1000 * 2 ** (count - 1))
    }
    await failed
    expect(await deaths(stage)).toBe(attempts)
  })

  test('is not made again once it is aborted', async () => {
    const stage = await startCalls({ restart: { policy: 'on-failure' } })
    const abort = new AbortController()
    const options = { signal: abort.signal }
    const call = stage.host.callTool('it.die-reading', {}, options).catch((error: unknown) => error)
    await eventually(() => stage.find('it').state === 'unavailable')
    abort.abort('enough')
    expect(await call).toBe('enough')
    expect(await deaths(stage)).toBe(1)
  })

  test('is not made again while nothing brings its server back', async () => {
    const stage = await startCalls()
    const call = stage.host.callTool('it.die-reading', {}, { requestId: 'r' })
    await expect(call).rejects.toMatchObject({
      name: 'ServerUnavailableError',
      message: 'the server "it" exited with code 1; whether the tool took effect is not known',
      server: 'it',
      tool: 'die-reading',
      requestId: 'r',
    })
    const { error, refused } = stage.host.getMetrics().servers['it']?.tools['die-reading'] ?? {}
    expect({ error, refused }).toEqual({ error: 1, refused: 0 })
  })

  test('waits for the restart that is planned, and is made again then', async () => {
    const stage = await startCalls({ restart: { policy: 'on-failure' } })
    stopTime()
    const call = stage.say('it.die-once')
    await eventually(() => stage.lines('will be restarted').length > 0)
    await vi.advanceTimersByTimeAsync(1000)
    expect(await call).toBe('alive')
    expect(await deaths(stage)).toBe(1)
    expect(stage.host.getMetrics().servers['it']?.counters.retries).toBe(1)
  })

  test('waits for a restart no longer than the server may be silent', async () => {
    const stage = await startCalls({ restart: { policy: 'on-failure' }, timeoutMs: 20 })
    stopTime()
    const options = { retry: { delayMs: 200 } }
    const call = stage.host.callTool('it.die-once', {}, options).catch((error: unknown) => error)
    await eventually(() => stage.lines('will be restarted').length > 0)
    // Until it is tried again, but not until the server is started again.
    await vi.advanceTimersByTimeAsync(200)
    expect(await call).toMatchObject({ code: 'server-unavailable', tool: 'die-once' })
    expect(stage.find('it').state).toBe('unavailable')
  })
})
