import { describe, expect, test, vi } from 'vitest'

import { eventually } from '@mcp-host/mcp-testkit'
import { HostStage } from '../test/host-stage.ts'
import type { Workspace } from '@mcp-host/mcp-testkit'
import { MCPHost, type MCPHostOptions, type StdioServerConfig } from './index.ts'
import { Guardian } from '@mcp-host/process'

const lives = (workspace: Workspace, name: string, failing = 0): StdioServerConfig => ({
  ...workspace.fixture('lives', workspace.path('log'), name, String(failing)),
  // Without a probe for newer revisions, a process starts once per attempt.
  protocol: 'legacy',
})

function stopTime(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
}

/** Lets the delays pass that the host logs after failed starts. */
async function passDelays(stage: HostStage, count: number): Promise<number[]> {
  const delays: number[] = []
  while (delays.length < count) {
    const line = await eventually(() => stage.lines('tried again')[delays.length])
    const delayMs = Number(line.fields['delayMs'])
    delays.push(delayMs)
    await vi.advanceTimersByTimeAsync(delayMs)
  }
  return delays
}

const brokenCommand = (workspace: Workspace): StdioServerConfig => ({
  ...workspace.fixture('named'),
  command: 'no-such-command',
})

describe('a start that fails', () => {
  test('a start that fails is retried after growing delays, up to the limit', async () => {
    const stage = await HostStage.open({ startRetries: 2 })
    stopTime()
    const starting = stage.host.initialize({ servers: { it: lives(stage.workspace, 'it', 2) } })
    const [first = 0, second = 0] = await passDelays(stage, 2)
    await starting
    expect(first).toBeGreaterThanOrEqual(500)
    expect(first).toBeLessThanOrEqual(1000)
    expect(second).toBeGreaterThanOrEqual(1000)
    expect(second).toBeLessThanOrEqual(2000)
    expect(stage.find('it')).toMatchObject({ state: 'ready', restarts: 0 })
    expect(await stage.call('it.say')).toBe('it 3')
  })

  test('a start that fails is an error once the retries are used up', async () => {
    const stage = await HostStage.open({ startRetries: 1 })
    stopTime()
    const starting = stage.host.initialize({ servers: { it: lives(stage.workspace, 'it', 9) } })
    const failed = expect(starting).rejects.toMatchObject({
      name: 'ServerStartupError',
      code: 'server-startup',
      server: 'it',
      message: 'the server "it" exited with code 1 before it was ready',
    })
    await passDelays(stage, 1)
    await failed
    expect(await stage.workspace.lines('log')).toEqual(['it starts', 'it starts'])
  })

  test('a start that fails because the command does not exist is not retried', async () => {
    const stage = await HostStage.open({ startRetries: 3 })
    const servers = { it: brokenCommand(stage.workspace) }
    await expect(stage.host.initialize({ servers })).rejects.toThrow('was not found on PATH')
    expect(stage.lines('tried again')).toEqual([])
  })

  test('a shutdown during the delay before a retry gives up the start at once', async () => {
    const stage = await HostStage.open({ startRetries: 3 })
    const starting = stage.host.initialize({ servers: { it: lives(stage.workspace, 'it', 9) } })
    const failed = expect(starting).rejects.toMatchObject({ code: 'server-startup' })
    await eventually(() => stage.lines('tried again').length > 0)
    await stage.host.shutdown()
    await failed
    expect(await stage.workspace.lines('log')).toEqual(['it starts'])
    expect(stage.find('it').state).toBe('shutdown')
  })
})

describe('the order of starts', () => {
  test('servers start in the order of their dependencies', async () => {
    const stage = await HostStage.start((workspace) => ({
      top: { ...lives(workspace, 'top'), dependencies: ['left', 'right'] },
      left: { ...lives(workspace, 'left'), dependencies: ['base'] },
      right: { ...lives(workspace, 'right'), dependencies: ['base'] },
      base: lives(workspace, 'base'),
    }))
    const started = await stage.workspace.lines('log')
    const at = (line: string): number => started.indexOf(line)
    expect(at('left starts')).toBeGreaterThan(at('base is listed'))
    expect(at('right starts')).toBeGreaterThan(at('base is listed'))
    expect(at('top starts')).toBeGreaterThan(at('left is listed'))
    expect(at('top starts')).toBeGreaterThan(at('right is listed'))

    await stage.host.shutdown()
    const ended = (await stage.workspace.lines('log')).filter((line) => line.endsWith('ends'))
    expect(ended).toHaveLength(4)
    expect([ended[0], ended[3]]).toEqual(['top ends', 'base ends'])
  })

  test('servers without dependencies start concurrently', async () => {
    const meeting = (workspace: Workspace): StdioServerConfig =>
      workspace.fixture('meeting', workspace.path('log'), '3')
    const stage = await HostStage.start((workspace) => ({
      a: meeting(workspace),
      b: meeting(workspace),
      c: meeting(workspace),
    }))
    expect(stage.host.getServers().map(({ state }) => state)).toEqual(['ready', 'ready', 'ready'])
  })

  test('a server does not start when its dependency is not ready', async () => {
    const stage = await HostStage.start(
      (workspace) => ({
        base: brokenCommand(workspace),
        middle: { ...lives(workspace, 'middle'), dependencies: ['base'] },
        top: { ...lives(workspace, 'top'), dependencies: ['middle'] },
        other: lives(workspace, 'other'),
      }),
      { startPolicy: 'best-effort' },
    )
    expect(stage.find('other').state).toBe('ready')
    expect(stage.find('middle')).toMatchObject({
      state: 'unavailable',
      error: {
        name: 'ServerStartupError',
        message: 'the server "middle" needs "base", which is not ready',
      },
    })
    expect(stage.find('top').error?.message).toBe(
      'the server "top" needs "middle", which is not ready',
    )
    expect(await stage.workspace.lines('log')).toEqual(['other starts', 'other is listed'])
  })
})

describe('a server whose dependency is not ready', () => {
  /** Under "best-effort": `top` depends on `base`, which has a tool that exits. */
  const open = (failing = 0, options: Partial<MCPHostOptions> = {}): Promise<HostStage> =>
    HostStage.start(
      (workspace) => ({
        base: { ...lives(workspace, 'base', failing), restart: { policy: 'on-failure' } },
        top: { ...lives(workspace, 'top'), dependencies: ['base'] },
      }),
      { startPolicy: 'best-effort', ...options },
    )
  const needsBase = {
    name: 'ServerStartupError',
    server: 'top',
    message: 'the server "top" needs "base", which is not ready',
  }

  test('a server whose dependency becomes ready starts then, without earlier attempts', async () => {
    stopTime()
    const stage = await open(1, { startRetries: 0 })
    expect(stage.find('top')).toMatchObject({ state: 'unavailable', error: needsBase })
    const line = await eventually(() => stage.lines('will be restarted')[0])
    await vi.advanceTimersByTimeAsync(Number(line.fields['delayMs']))
    await eventually(() => stage.find('top').state === 'ready')
    expect(stage.find('top').restarts).toBe(1)
    expect(await stage.workspace.lines('log')).toEqual([
      'base starts',
      'base starts',
      'base is listed',
      'top starts',
      'top is listed',
    ])
  })

  test('a server whose dependency is not ready is not retried', async () => {
    const stage = await HostStage.open({ startPolicy: 'best-effort', startRetries: 3 })
    await stage.host.initialize({
      servers: {
        base: brokenCommand(stage.workspace),
        top: { ...lives(stage.workspace, 'top'), dependencies: ['base'] },
      },
    })
    expect(stage.find('top')).toMatchObject({ state: 'unavailable', error: needsBase })
    expect(stage.lines('tried again')).toEqual([])
  })

  test('a server that is restarted by hand waits for its dependency', async () => {
    const stage = await open()
    stopTime()
    await stage.host.callTool('base.exit', { code: 1 }).catch(() => undefined)
    // A running server is not stopped with its dependency.
    expect(stage.find('base').state).toBe('unavailable')
    expect(stage.find('top').state).toBe('ready')
    await expect(stage.host.restart('top')).rejects.toMatchObject(needsBase)
    expect(stage.find('top')).toMatchObject({ state: 'unavailable', error: needsBase })
    await stage.host.restart('base')
    await eventually(() => stage.find('top').state === 'ready')
    expect(await stage.call('top.say')).toBe('top 2')
  })

  test('a restart of a dependency does not affect servers that run, or ended by themselves', async () => {
    const stage = await HostStage.start((workspace) => ({
      base: lives(workspace, 'base'),
      top: { ...lives(workspace, 'top'), dependencies: ['base'] },
      gone: { ...lives(workspace, 'gone'), dependencies: ['base'] },
    }))
    const { pid } = stage.find('top')
    await stage.host.callTool('gone.exit', { code: 1 }).catch(() => undefined)
    await stage.host.restart('base')
    expect(await stage.call('base.say')).toBe('base 2')
    expect(stage.find('top')).toMatchObject({ state: 'ready', restarts: 0, pid })
    expect(stage.find('gone')).toMatchObject({ state: 'unavailable', restarts: 0 })
  })

  test('a server starts once a reload adds its dependency, whether its own entry changes or not', async () => {
    const stage = await HostStage.open({ startPolicy: 'best-effort' })
    const { workspace, host } = stage
    const top = { ...lives(workspace, 'top'), dependencies: ['base'] }
    const other = { ...lives(workspace, 'other'), dependencies: ['base'] }
    await host.initialize({ servers: { base: brokenCommand(workspace), top, other } })
    await host.reload({
      servers: { base: lives(workspace, 'base'), top, other: { ...other, timeoutMs: 1000 } },
    })
    await eventually(() => host.getServers().every(({ state }) => state === 'ready'))
    expect(await stage.call('top.say')).toBe('top 1')
    expect(await stage.call('other.say')).toBe('other 1')
    // The replaced server does not start as well.
    const lines = await workspace.lines('log')
    expect(lines.filter((line) => line === 'other starts')).toHaveLength(1)
  })

  test('a shutdown does not wait for the start of a dependency', async () => {
    const stage = await HostStage.open()
    const { workspace, host } = stage
    const starting = host.initialize({
      servers: {
        base: workspace.fixture('silent'),
        top: { ...lives(workspace, 'top'), dependencies: ['base'] },
      },
    })
    const failed = expect(starting).rejects.toMatchObject({ code: 'server-startup' })
    await eventually(() => workspace.processes().length > 0)
    await host.shutdown()
    await failed
    expect(host.getServers().map(({ state }) => state)).toEqual(['shutdown', 'shutdown'])
    expect(await workspace.lines('log')).toEqual([])
  })
})

test('one failed start stops all servers under the policy "all-or-nothing", which is the default', async () => {
  const stage = await HostStage.open()
  const servers = {
    good: lives(stage.workspace, 'good'),
    bad: { ...lives(stage.workspace, 'bad', 1), dependencies: ['good'] },
  }
  await expect(stage.host.initialize({ servers })).rejects.toMatchObject({ server: 'bad' })
  expect(await stage.workspace.lines('log')).toEqual([
    'good starts',
    'good is listed',
    'bad starts',
    'good ends',
  ])
  await expect(stage.host.reload({ servers })).rejects.toThrow('shut')
})

test.each([0, 1, 2, 4, 8])(
  'a shutdown during a launch leaves no process to a shared guardian (after %i turns of the loop)',
  async (turns) => {
    await using guardian = new Guardian()
    const stage = await HostStage.open({ guardian })
    const { workspace, host } = stage
    const servers = { silent: workspace.fixture('silent') }
    const failed = host.initialize({ servers }).catch((error: unknown) => error)
    for (let turn = 0; turn < turns; turn += 1) await new Promise(setImmediate)
    await host.shutdown()
    expect(await failed).toMatchObject({ code: 'server-startup' })
    // Another process of the same guardian has started and ended, and so has every earlier launch.
    const other = new MCPHost({ env: { PATH: process.env['PATH'] }, guardian })
    await other.initialize({ servers: { named: workspace.fixture('named') } })
    await other.shutdown()
    expect(workspace.processes()).toEqual([])
  },
)

test('a shutdown does not stop a guardian of the caller', async () => {
  await using guardian = new Guardian()
  const options: Partial<MCPHostOptions> = { guardian }
  const first = await HostStage.start((workspace) => ({ it: lives(workspace, 'a') }), options)
  const second = await HostStage.start((workspace) => ({ it: lives(workspace, 'b') }), options)
  await first.host.shutdown()
  expect(await second.call('it.say')).toBe('b 1')
})

test('a host is disposed of with its scope, and shuts down once', async () => {
  const stage = await HostStage.open()
  {
    await using host = stage.host
    await host.initialize({ servers: { it: lives(stage.workspace, 'it') } })
  }
  expect(stage.find('it').state).toBe('shutdown')
  expect(stage.host.shutdown()).toBe(stage.host.shutdown())
})

test('a host whose configuration was faulty may be initialized again', async () => {
  const { host, workspace } = await HostStage.open()
  const faulty = { 'a.b': workspace.fixture('named') }
  await expect(host.initialize({ servers: faulty })).rejects.toMatchObject({
    code: 'configuration',
  })
  await host.initialize({ servers: { it: workspace.fixture('named', 'a') } })
  expect(host.getServers()).toMatchObject([{ name: 'it', state: 'ready' }])
  await expect(host.initialize({ servers: {} })).rejects.toThrow('initialized already')
})

test('an option that is undefined has its default', async () => {
  const stage = await HostStage.start((workspace) => ({ it: lives(workspace, 'it') }), {
    // Callers without exactOptionalPropertyTypes may pass undefined.
    ...({
      startTimeoutMs: undefined,
      startPolicy: undefined,
      defaultToolTimeoutMs: undefined,
      maxToolTimeoutMs: undefined,
      maxConcurrentCalls: undefined,
      clientInfo: undefined,
      cache: undefined,
      guardian: undefined,
    } as object),
  })
  expect(await stage.call('it.say')).toBe('it 1')
})

test.each([
  ['startTimeoutMs', 0, 1],
  ['startRetries', -1, 0],
  ['defaultToolTimeoutMs', 0, 1],
  ['maxToolTimeoutMs', Number.NaN, 1],
  ['stopGraceMs', -1, 0],
  ['maxConcurrentCalls', 0, 1],
])('the option %s cannot be %d', (name, value, least) => {
  const create = (): MCPHost => new MCPHost({ env: {}, [name]: value })
  expect(create).toThrow(RangeError)
  expect(create).toThrow(`${name} must be a number, at least ${least}`)
})

test('a request before the initialization is refused with the reason', async () => {
  const { host } = await HostStage.open()
  await expect(host.reload({ servers: {} })).rejects.toThrow('initialize the host before a reload')
  await expect(host.callTool('a.b')).rejects.toThrow('there is no tool "a.b"')
  await host.initialize({ servers: {} })
  await expect(host.reload()).rejects.toThrow('there is no file to read again')
  expect(() => host.registerCallback(() => undefined)).toThrow('before you initialize')
})
