import { describe, expect, test, vi } from 'vitest'

import { hold, startCalls, stopTime } from '../test/calls-stage.ts'
import { eventually } from '@mcp-host/mcp-testkit'
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
      // The host then pings the server, and has no other timer.
      await eventually(() => vi.getTimerCount() === 0)
    }
  }

  const circuitsOf = ({ host }: Awaited<ReturnType<typeof startCalls>>) =>
    host.getMetrics().servers['it']?.counters.circuits

  const brokenOf = ({ host }: Awaited<ReturnType<typeof startCalls>>) =>
    host.getMetrics().servers['it']?.circuits

  test('the circuit breaker refuses a tool that keeps failing, and lets one call probe it after a while', async () => {
    const stage = await startCalls()
    stopTime()
    await fail(stage, 'faulty', 5)
    const call = stage.host.callTool('it.faulty', {}, { requestId: 'r9' })
    await expect(call).rejects.toMatchObject({
      name: 'ServerUnavailableError',
      message: 'it.faulty failed too often; it is tried again in 60 s',
      retryAfterMs: 60_000,
      tool: 'faulty',
      requestId: 'r9',
    })
    expect(stage.find('it').state).toBe('ready')
    expect(brokenOf(stage)).toEqual({ open: 1, 'half-open': 0 })
    expect(stage.host.getMetrics().servers['it']?.tools['faulty']).toMatchObject({
      error: 5,
      refused: 1,
    })

    // The probe fails, so the tool is refused for the same time again.
    await vi.advanceTimersByTimeAsync(60_000)
    expect(brokenOf(stage)).toEqual({ open: 0, 'half-open': 1 })
    await fail(stage, 'faulty', 1)
    await expect(stage.host.callTool('it.faulty')).rejects.toMatchObject({ retryAfterMs: 60_000 })

    await vi.advanceTimersByTimeAsync(60_000)
    await stage.host.callTool('it.repair').catch(() => undefined)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(await stage.call('it.repair')).toBe('repaired')
    expect(await stage.call('it.faulty')).toBe('well')
    expect(await stage.call('it.faulty')).toBe('well')
    expect(circuitsOf(stage)).toMatchObject({ closed: 1 })
    expect(brokenOf(stage)).toEqual({ open: 0, 'half-open': 0 })
  })

  test('the circuits of a server that was shut down do not count as open', async () => {
    const stage = await startCalls({ circuitBreaker: { failures: 1 } })
    await fail(stage, 'faulty', 1)
    expect(brokenOf(stage)?.open).toBeGreaterThan(0)
    await stage.host.shutdown()
    expect(brokenOf(stage)).toEqual({ open: 0, 'half-open': 0 })
  })

  test('the circuit breaker counts its changes of state', async () => {
    const stage = await startCalls({ circuitBreaker: { failures: 2 } })
    stopTime()
    await fail(stage, 'faulty', 2)
    expect(circuitsOf(stage)).toMatchObject({ 'half-open': 0, closed: 0 })
    const opened = circuitsOf(stage)?.open ?? 0
    expect(opened).toBeGreaterThan(0)
    await vi.advanceTimersByTimeAsync(60_000)
    await fail(stage, 'faulty', 1)
    expect(circuitsOf(stage)?.['half-open']).toBeGreaterThan(0)
    expect(circuitsOf(stage)?.open).toBeGreaterThan(opened)
  })

  test('the circuit breaker has the limits of its server, and of the host by default', async () => {
    const circuitBreaker = { failures: 2 }
    const stage = await startCalls({ circuitBreaker }, { circuitBreaker: { openMs: 5000 } })
    await fail(stage, 'faulty', 2)
    const refused = stage.host.callTool('it.faulty')
    await expect(refused).rejects.toThrow('it.faulty failed too often; it is tried again in 5 s')
  })

  test('the circuit breaker lets one call at a time probe', async () => {
    const stage = await startCalls()
    stopTime()
    await timeOut(stage, 'mute', 5)
    await vi.advanceTimersByTimeAsync(60_000)
    const { outcome } = await hold(stage)
    await expect(stage.host.callTool('it.say')).rejects.toMatchObject({ retryAfterMs: 1000 })
    process.kill(stage.find('it').pid ?? 0, 'SIGUSR2')
    expect(await outcome).toBe('released')
    expect(await stage.call('it.say', { text: 'again' })).toBe('again')
  })

  test('the circuit breaker of the server counts timeouts of all its tools', async () => {
    const stage = await startCalls()
    stopTime()
    await timeOut(stage, 'mute', 3)
    await timeOut(stage, 'mute-too', 2)
    await expect(stage.host.callTool('it.say')).rejects.toBeInstanceOf(ServerUnavailableError)
    await expect(stage.host.getPrompt({ server: 'it', prompt: 'p' })).rejects.toMatchObject({
      retryAfterMs: 60_000,
    })
  })

  test('the circuit breaker refuses no other tool because two tools report errors', async () => {
    const stage = await startCalls()
    await fail(stage, 'faulty', 5)
    await fail(stage, 'faulty-too', 5)
    await expect(stage.host.callTool('it.faulty')).rejects.toBeInstanceOf(ServerUnavailableError)
    expect(await stage.call('it.say', { text: 'well' })).toBe('well')
  })

  test('the circuit breaker is closed after a restart', async () => {
    const stage = await startCalls({ restart: { policy: 'on-failure' } })
    const calls = Array.from({ length: 10 }, () => stage.host.callTool('it.die').catch(() => 'x'))
    await Promise.all(calls)
    await stage.host.restart('it')
    expect(await stage.call('it.say', { text: 'well' })).toBe('well')
  })

  test('the circuit breaker evicts old failures', async () => {
    const stage = await startCalls()
    stopTime()
    await fail(stage, 'faulty', 4)
    await vi.advanceTimersByTimeAsync(60_000)
    await fail(stage, 'faulty', 4)
  })

  test('the circuit breaker does not count errors of the caller, or results with an error', async () => {
    const stage = await startCalls({ validateArguments: 'strict' })
    for (let time = 0; time < 6; time += 1) {
      await expect(stage.host.callTool('it.refuse')).rejects.toMatchObject({ rpcCode: -32_602 })
      await expect(stage.host.callTool('it.none')).rejects.toMatchObject({ code: 'validation' })
      expect(await stage.host.callTool('it.fail')).toMatchObject({ isError: true })
      const aborted = AbortSignal.abort('no')
      await expect(stage.host.callTool('it.say', {}, { signal: aborted })).rejects.toBe('no')
      await expect(stage.host.callTool('it.weigh', { result: {} })).rejects.toThrow('output schema')
    }
    expect(await stage.call('it.say', { text: 'fine' })).toBe('fine')
  })

  test('the circuit breaker counts calls that time out', async () => {
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
  const countExits = async (stage: HostStage): Promise<number> =>
    (await stage.workspace.lines('log')).filter((line) => line === 'die').length
  /** Restarts the server and lets the delay before the next retry pass. */
  async function restartServer(stage: HostStage, delayMs: number): Promise<void> {
    await eventually(() => stage.find('it').state === 'unavailable')
    await stage.host.restart('it')
    // Not longer: the delay after the next retry must not pass before the next restart.
    await vi.advanceTimersByTimeAsync(delayMs)
  }

  test.each([
    ['is retried when its tool only reads', 'die-reading', {}, 4],
    ['is retried when its tool is idempotent', 'die-twice', {}, 4],
    [
      'is retried when the caller declares it safe to repeat',
      'die',
      { retry: { maxRetries: 1, isSafeToRepeat: true } },
      2,
    ],
    ['is not retried when its tool has no hints', 'die', {}, 1],
    ['is not retried for a number of retries alone', 'die', { retry: { maxRetries: 3 } }, 1],
    ['is not retried when the caller forbids it', 'die-reading', { retry: false }, 1],
    ['is not retried with a maximum of 0 retries', 'die-reading', { retry: { maxRetries: 0 } }, 1],
    [
      'is not retried for an error that the caller does not list',
      'die-reading',
      { retry: { retryableErrorCodes: ['timeout', -32_603] } },
      1,
    ],
  ] as const)('a call whose server exits %s', async (_title, tool, options, attempts) => {
    const stage = await startCalls({ restart: { policy: 'on-failure' } })
    stopTime()
    const call = stage.host.callTool({ server: 'it', tool }, {}, { ...options, requestId: 'r' })
    const expected = { code: 'server-unavailable', tool, requestId: 'r' }
    const failed = expect(call).rejects.toMatchObject(expected)
    for (let count = 1; count < attempts; count += 1) {
      await eventually(async () => (await countExits(stage)) === count)
      await restartServer(stage, 1000 * 2 ** (count - 1))
    }
    await failed
    expect(await countExits(stage)).toBe(attempts)
  })

  test('a call whose server exits is not retried once it is aborted', async () => {
    const stage = await startCalls({ restart: { policy: 'on-failure' } })
    const abort = new AbortController()
    const options = { signal: abort.signal }
    const call = stage.host.callTool('it.die-reading', {}, options).catch((error: unknown) => error)
    await eventually(() => stage.find('it').state === 'unavailable')
    abort.abort('enough')
    expect(await call).toBe('enough')
    expect(await countExits(stage)).toBe(1)
  })

  test('a call whose server exits is not retried without a restart policy', async () => {
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

  test('a call whose server exits waits for the planned restart, and is retried', async () => {
    const stage = await startCalls({ restart: { policy: 'on-failure' } })
    stopTime()
    const call = stage.call('it.die-once')
    await eventually(() => stage.lines('will be restarted').length > 0)
    await vi.advanceTimersByTimeAsync(1000)
    expect(await call).toBe('alive')
    expect(await countExits(stage)).toBe(1)
    expect(stage.host.getMetrics().servers['it']?.counters.retries).toBe(1)
  })

  test('a call whose server exits waits for a restart no longer than its time limit', async () => {
    const stage = await startCalls({ restart: { policy: 'on-failure' }, timeoutMs: 20 })
    stopTime()
    const options = { retry: { delayMs: 200 } }
    const call = stage.host.callTool('it.die-once', {}, options).catch((error: unknown) => error)
    await eventually(() => stage.lines('will be restarted').length > 0)
    // Long enough for a retry, and not for the restart.
    await vi.advanceTimersByTimeAsync(200)
    expect(await call).toMatchObject({ code: 'server-unavailable', tool: 'die-once' })
    expect(stage.find('it').state).toBe('unavailable')
  })
})
