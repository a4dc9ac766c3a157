import { describe, expect, test, vi } from 'vitest'

import { startCalls } from '../test/calls-stage.ts'
import { eventually } from '@mcp-host/mcp-testkit'
import { HostStage } from '../test/host-stage.ts'
import type { MCPHostOptions, RestartConfig, ServerSnapshot } from './index.ts'

/** Stops the clock of timers; `vi.advanceTimersByTimeAsync` fires the timers that are due. */
function stopTime(): void {
  const toFake = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] as const
  vi.useFakeTimers({ toFake: [...toFake] })
}

/** A host with one server that has a tool "exit", and that logs its starts and ends to the file `log`. */
async function startLives(
  restart?: RestartConfig,
  { failing = 0, ...options }: Partial<MCPHostOptions> & { failing?: number } = {},
): Promise<HostStage> {
  return HostStage.start(
    (workspace) => ({
      it: {
        ...workspace.fixture('lives', workspace.path('log'), 'it', String(failing)),
        protocol: 'legacy',
        ...(restart === undefined ? {} : { restart }),
      },
    }),
    options,
  )
}

/** Makes the server exit and waits until the host has noticed. */
async function exit(stage: HostStage, code: number): Promise<void> {
  await expect(stage.host.callTool('it.exit', { code })).rejects.toMatchObject({
    code: 'server-unavailable',
  })
}

/** The delay before the restart with this index. */
async function delayBefore(stage: HostStage, index: number): Promise<number> {
  const line = await eventually(() => stage.lines('will be restarted')[index])
  return Number(line.fields['delayMs'])
}

describe('a server that ended', () => {
  test.each([
    ['by default, for any exit code', undefined, 1, 'its restart policy is "no"'],
    ['under "on-failure" after the code 0', 'on-failure', 0, 'it ended without a failure'],
  ] as const)('a server that exits stays down %s', async (_title, policy, code, reason) => {
    const stage = await startLives(policy === undefined ? undefined : { policy })
    await exit(stage, code)
    expect(stage.find('it')).toMatchObject({
      state: 'unavailable',
      restarts: 0,
      tools: [],
      error: { code: 'server-unavailable', message: `the server "it" exited with code ${code}` },
    })
    expect(stage.lines('unavailable and stays so').map(({ message }) => message)).toEqual([
      `server is unavailable and stays so: ${reason}`,
    ])
  })

  test.each([
    ['on-failure', 1],
    ['always', 0],
    ['always', 1],
  ] as const)(
    'a server that exits is restarted under "%s" after the code %i, with the same tools',
    async (policy, code) => {
      const stage = await startLives({ policy })
      const seen: string[] = []
      stage.host.on('server', ({ server }) => seen.push(`${server.state} ${server.tools.length}`))
      const before = stage.find('it')
      stopTime()
      await exit(stage, code)
      await vi.advanceTimersByTimeAsync(await delayBefore(stage, 0))
      await eventually(() => stage.find('it').state === 'ready')
      const { pid, restarts, tools } = stage.find('it')
      expect(pid).not.toBe(before.pid)
      expect(restarts).toBe(1)
      expect(tools).toEqual(before.tools)
      expect(await stage.call('it.say')).toBe('it 2')
      expect(seen).toEqual(['unavailable 0', 'starting 0', 'ready 2'])
    },
  )

  test('a call to a server that exited names the server as unavailable', async () => {
    const stage = await startLives()
    await exit(stage, 1)
    await expect(stage.host.callTool('it.say')).rejects.toMatchObject({
      name: 'ServerUnavailableError',
      message: 'the server "it" exited with code 1',
    })
    await expect(stage.host.callTool('it.other')).rejects.toThrow('(not ready: it)')
  })

  test('the delay before a restart grows, and is reset once the server has been ready for a while', async () => {
    const stage = await startLives({ policy: 'always' })
    stopTime()
    const delays: number[] = []
    for (const index of [0, 1, 2]) {
      if (index === 2) await vi.advanceTimersByTimeAsync(30_000)
      await exit(stage, 1)
      const delay = await delayBefore(stage, index)
      delays.push(delay)
      await vi.advanceTimersByTimeAsync(delay)
      await eventually(() => stage.find('it').state === 'ready')
    }
    const [first = 0, second = 0, third = 0] = delays
    expect(first).toBeLessThanOrEqual(1000)
    expect(second).toBeGreaterThanOrEqual(1000)
    expect(third).toBeLessThanOrEqual(1000)
    expect(stage.find('it').restarts).toBe(3)
  })

  test('a server that exits too often within the window stays down, and can be restarted by hand', async () => {
    const stage = await startLives({ policy: 'on-failure', maxRestarts: 1 })
    stopTime()
    const told: unknown[] = []
    stage.host.on('server', ({ server: { state, isRestartPlanned } }) => {
      if (state === 'unavailable') told.push(isRestartPlanned)
    })
    await exit(stage, 1)
    await vi.advanceTimersByTimeAsync(await delayBefore(stage, 0))
    await eventually(() => stage.find('it').state === 'ready')
    expect(stage.find('it')).not.toHaveProperty('isRestartPlanned')
    await exit(stage, 1)
    expect(told).toEqual([true, undefined])
    expect(stage.lines('stays so').map(({ message }) => message)).toEqual([
      'server is unavailable and stays so: restarted once within 60 s',
    ])
    await vi.advanceTimersByTimeAsync(60_000)
    expect(stage.find('it').restarts).toBe(1)
    await stage.host.restart('it')
    expect(stage.find('it')).toMatchObject({ state: 'ready', restarts: 2 })
    expect(await stage.call('it.say')).toBe('it 3')
  })

  test('a restart that fails is retried by the same policy', async () => {
    const stage = await HostStage.open()
    // The log has an earlier start, which counts as the failed one.
    await stage.workspace.write('log', 'it starts\n')
    const fixture = stage.workspace.fixture('lives', stage.workspace.path('log'), 'it', '1')
    const restart = { policy: 'on-failure' } as const
    await stage.host.initialize({ servers: { it: { ...fixture, protocol: 'legacy', restart } } })
    stopTime()
    await stage.workspace.write('log', '')
    await exit(stage, 1)
    await vi.advanceTimersByTimeAsync(await delayBefore(stage, 0))
    await vi.advanceTimersByTimeAsync(await delayBefore(stage, 1))
    await eventually(() => stage.find('it').state === 'ready')
    expect(stage.find('it').restarts).toBe(2)
  })

  test('a server that exited is not restarted after the shutdown', async () => {
    const stage = await startLives({ policy: 'always' })
    stopTime()
    await exit(stage, 1)
    const delay = await delayBefore(stage, 0)
    await stage.host.shutdown()
    await vi.advanceTimersByTimeAsync(delay)
    expect(stage.find('it')).toMatchObject({ state: 'shutdown', restarts: 0 })
  })
})

test('a server that failed to start under "best-effort" is restarted by its policy', async () => {
  stopTime()
  const stage = await startLives(
    { policy: 'on-failure' },
    { failing: 1, startPolicy: 'best-effort' },
  )
  expect(stage.find('it')).toMatchObject({
    state: 'unavailable',
    error: { code: 'server-startup' },
  })
  await vi.advanceTimersByTimeAsync(await delayBefore(stage, 0))
  await eventually(() => stage.find('it').state === 'ready')
})

test('a remote server that cannot be reached is retried by default, a process is not', async () => {
  const stage = await HostStage.start(
    () => ({ it: { type: 'http', url: 'http://127.0.0.1:9/mcp', headers: {} } }),
    { startPolicy: 'best-effort' },
  )
  expect(stage.find('it')).toMatchObject({ type: 'http', state: 'unavailable' })
  expect(stage.find('it').pid).toBeUndefined()
  expect(stage.lines('will be restarted')).toHaveLength(1)
})

describe('a restart by hand', () => {
  test('a restart by hand stops the running process and starts another', async () => {
    const stage = await startCalls({})
    const { pid } = stage.find('it')
    const states: string[] = []
    stage.host.on('server', ({ server }) => states.push(server.state))
    const held = stage.host.callTool('it.hold').catch((error: unknown) => error)
    await eventually(async () => (await stage.workspace.lines('log')).includes('hold'))
    await stage.host.restart('it')
    expect(await held).toMatchObject({ code: 'server-unavailable', tool: 'hold' })
    expect(stage.find('it').pid).not.toBe(pid)
    expect(stage.find('it')).toMatchObject({ state: 'ready', restarts: 1 })
    expect(states).toEqual(['unavailable', 'starting', 'ready'])
    expect(stage.workspace.processes()).toHaveLength(1)
  })

  test('concurrent restarts by hand restart the server once', async () => {
    const stage = await startLives()
    await Promise.all([stage.host.restart('it'), stage.host.restart('it')])
    expect(stage.find('it')).toMatchObject({ state: 'ready', restarts: 1 })
    expect(stage.workspace.processes()).toHaveLength(1)
  })

  test('a restart by hand that fails reports the error and leaves the server unavailable', async () => {
    const stage = await HostStage.open()
    await stage.workspace.write('log', 'it starts\n')
    const fixture = stage.workspace.fixture('lives', stage.workspace.path('log'), 'it', '1')
    await stage.host.initialize({ servers: { it: { ...fixture, protocol: 'legacy' } } })
    await stage.workspace.write('log', '')
    await expect(stage.host.restart('it')).rejects.toMatchObject({
      name: 'ServerStartupError',
      message: 'the server "it" exited with code 1 before it was ready',
    })
    expect(stage.find('it')).toMatchObject({ state: 'unavailable', restarts: 1 })
    await stage.host.restart('it')
    expect(stage.find('it').state).toBe('ready')
  })

  test('a restart by hand during the start waits for that start', async () => {
    const stage = await HostStage.open()
    const servers = {
      it: stage.workspace.fixture('lives', stage.workspace.path('log'), 'it'),
    }
    const starting = stage.host.initialize({ servers })
    await eventually(() => stage.host.getServers().length > 0)
    await stage.host.restart('it')
    expect(stage.find('it')).toMatchObject({ state: 'ready', restarts: 0 })
    await starting
  })

  test('a restart by hand of an unknown server, or after the shutdown, is refused', async () => {
    const stage = await startLives()
    await expect(stage.host.restart('other')).rejects.toMatchObject({
      name: 'ValidationError',
      server: 'other',
      message: 'there is no server "other"',
    })
    const { host } = stage
    const restarting = host.restart('it').catch((error: unknown) => error)
    await host.shutdown()
    expect(await restarting).toMatchObject({ code: expect.stringContaining('server-') })
    await expect(host.restart('it')).rejects.toThrow('the host is shut down')
    expect(stage.workspace.processes()).toEqual([])
  })
})

describe('a call that runs out of time', () => {
  async function timeOut(stage: HostStage): Promise<void> {
    const call = expect(stage.host.callTool('it.hold')).rejects.toMatchObject({ code: 'timeout' })
    await eventually(async () => (await stage.workspace.lines('log')).includes('hold'))
    await vi.advanceTimersByTimeAsync(1000)
    await call
  }

  test('a call that times out leaves a server ready that answers a ping', async () => {
    const stage = await startCalls({ timeoutMs: 1000, maxTimeoutMs: 1000 })
    stopTime()
    await timeOut(stage)
    expect(await stage.call('it.received')).toContain('ping')
    await vi.advanceTimersByTimeAsync(10_000)
    expect(stage.find('it').state).toBe('ready')
  })

  test('a call that times out makes a server unavailable that does not answer a ping', async () => {
    const stage = await startCalls({ timeoutMs: 1000, maxTimeoutMs: 1000 })
    stopTime()
    await stage.host.callTool('it.hang')
    const call = stage.host.callTool('it.say').catch((error: unknown) => error)
    // Two concurrent failures send one ping.
    const other = stage.host.callTool('it.say').catch((error: unknown) => error)
    await vi.advanceTimersByTimeAsync(1000)
    expect(await call).toMatchObject({ name: 'TimeoutError', timeoutMs: 1000 })
    expect(await other).toMatchObject({ code: 'timeout' })
    expect(stage.find('it').state).toBe('ready')
    await vi.advanceTimersByTimeAsync(5000)
    expect(stage.find('it')).toMatchObject({
      state: 'unavailable',
      tools: [],
      error: { message: 'the server "it" does not answer (no answer within 5000 ms)' },
    })
    vi.useRealTimers()
    await eventually(() => stage.workspace.processes().length === 0)
  })
})

describe('a health check', () => {
  const healthCheck = { intervalMs: 10_000, timeoutMs: 3000 }

  test('a health check keeps a server that answers, and makes one unavailable that does not', async () => {
    stopTime()
    const stage = await startCalls({ healthCheck })
    for (const count of [1, 2, 3]) {
      await vi.advanceTimersByTimeAsync(10_000)
      expect(await stage.call('it.received')).toBe(Array(count).fill('ping').join(' '))
    }
    await stage.host.callTool('it.hang')
    await vi.advanceTimersByTimeAsync(10_000)
    await vi.advanceTimersByTimeAsync(2900)
    expect(stage.find('it').error).toBeUndefined()
    await vi.advanceTimersByTimeAsync(100)
    expect(stage.find('it')).toMatchObject({
      state: 'unavailable',
      error: { message: expect.stringContaining('no answer within 3000 ms') },
    })
  })

  test('a health check ends with its server', async () => {
    stopTime()
    const stage = await startCalls({ healthCheck })
    await stage.host.callTool('it.die').catch(() => undefined)
    const after: ServerSnapshot[] = []
    stage.host.on('server', ({ server }) => after.push(server))
    await vi.advanceTimersByTimeAsync(60_000)
    expect(after).toEqual([])
    expect(vi.getTimerCount()).toBe(0)
  })
})
