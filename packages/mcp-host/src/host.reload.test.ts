import { describe, expect, test } from 'vitest'

import { eventually, textOf } from '@mcp-host/mcp-testkit'
import { HostStage } from '../test/host-stage.ts'
import type { HostEvent, ServerConfig, StdioServerConfig } from './index.ts'

type Servers = Record<string, ServerConfig>

const calls = (stage: Pick<HostStage, 'workspace'>, env = {}): StdioServerConfig => ({
  ...stage.workspace.fixture('calls', stage.workspace.path('log')),
  env,
})
const named = (stage: Pick<HostStage, 'workspace'>, ...tools: string[]): StdioServerConfig =>
  stage.workspace.fixture('named', ...tools)

async function open(servers: (stage: HostStage) => Servers): Promise<HostStage> {
  const stage = await HostStage.open()
  await stage.host.initialize({ servers: servers(stage) })
  return stage
}

/** A call that the server "it" answers on SIGUSR2. */
const hold = (stage: HostStage): Promise<string> => stage.host.callTool('it.hold').then(textOf)

describe('a reload', () => {
  test('a reload adds, removes and changes servers, and does not affect the others', async () => {
    const stage = await open((on) => ({
      same: named(on, 'a'),
      gone: named(on, 'b'),
      other: named(on, 'c'),
    }))
    const before = { same: stage.find('same').pid, other: stage.find('other').pid }
    const report = await stage.host.reload({
      servers: { other: named(stage, 'd'), fresh: named(stage, 'e'), same: named(stage, 'a') },
    })
    expect(report).toEqual({
      added: ['fresh'],
      removed: ['gone'],
      changed: ['other'],
      unchanged: ['same'],
    })
    expect(stage.host.getServers().map(({ name, state }) => [name, state])).toEqual([
      ['other', 'ready'],
      ['fresh', 'ready'],
      ['same', 'ready'],
    ])
    expect(stage.find('same').pid).toBe(before.same)
    expect(stage.find('other').pid).not.toBe(before.other)
    expect(await stage.call('other.d')).toBe('d')
    expect(await stage.call('fresh.e')).toBe('e')
    await expect(stage.host.callTool('other.c')).rejects.toThrow('there is no tool "other.c"')
    await expect(stage.host.callTool('gone.b')).rejects.toThrow('there is no ')
    await eventually(() => stage.workspace.processes().length === 3)
  })

  test('a reload of an unchanged configuration changes nothing', async () => {
    const stage = await open((on) => ({ a: named(on, 'a') }))
    const events: string[] = []
    stage.host.on('server', ({ server }) => events.push(server.state))
    const report = await stage.host.reload({ servers: { a: named(stage, 'a') } })
    expect(report).toEqual({ added: [], removed: [], changed: [], unchanged: ['a'] })
    expect(events).toEqual([])
  })

  test('a reload detects changes in the object that was passed before', async () => {
    const stage = await HostStage.open()
    const servers: Servers = { it: named(stage, 'a'), gone: named(stage, 'b') }
    await stage.host.initialize({ servers })
    servers['it'] = named(stage, 'c')
    delete servers['gone']
    expect(await stage.host.reload({ servers })).toMatchObject({
      changed: ['it'],
      removed: ['gone'],
    })
    const { env } = servers['it'] as { env: Record<string, string> }
    env['NEW'] = '1'
    expect(await stage.host.reload({ servers })).toMatchObject({ changed: ['it'] })
    expect(await stage.host.reload({ servers })).toMatchObject({ unchanged: ['it'] })
  })

  test('a reload of a faulty configuration changes nothing and reports all faults', async () => {
    const stage = await open((on) => ({ a: named(on, 'a') }))
    const { pid } = stage.find('a')
    const bad = {
      'b.c': named(stage, 'x'),
      d: { ...named(stage, 'x'), dependencies: ['nobody'] },
    }
    await expect(stage.host.reload({ servers: bad })).rejects.toMatchObject({
      code: 'configuration',
      faults: [{ path: 'servers.b.c' }, { path: 'servers.d.dependencies[0]' }],
    })
    const file = await stage.workspace.write('bad.json', '{ "servers": { "a": {')
    await expect(stage.host.reload(file)).rejects.toMatchObject({ code: 'configuration' })
    expect(stage.host.getServers()).toMatchObject([{ name: 'a', pid, state: 'ready' }])
    expect(await stage.call('a.a')).toBe('a')
  })

  test('a reload reads the file of the start again, or another from then on', async () => {
    const stage = await HostStage.open()
    const write = (file: string, ...tools: string[]): Promise<string> => {
      const { command, args } = named(stage, ...tools)
      return stage.workspace.write(file, { servers: { it: { command, args } } })
    }
    await stage.host.initialize(await write('mcp.json', 'one'))
    await write('mcp.json', 'two')
    expect(await stage.host.reload()).toMatchObject({ changed: ['it'] })
    expect(stage.toolsOf('it')).toContain('two')

    const other = await write('other.json', 'three')
    await stage.host.reload(other)
    expect(stage.toolsOf('it')).toContain('three')
    await write('other.json', 'four')
    await stage.host.reload()
    expect(stage.toolsOf('it')).toContain('four')

    // A faulty file does not become the file to read again.
    const bad = await stage.workspace.write('bad.json', '[]')
    await expect(stage.host.reload(bad)).rejects.toMatchObject({ code: 'configuration' })
    expect(await stage.host.reload()).toMatchObject({ unchanged: ['it'] })
  })

  test('a reload lets a call in flight on a changed server finish there', async () => {
    const stage = await open((on) => ({ it: calls(on) }))
    const { pid } = stage.find('it')
    const held = hold(stage)
    await eventually(async () => (await stage.workspace.lines('log')).includes('hold'))
    await stage.host.reload({ servers: { it: calls(stage, { NEW: '1' }) } })
    expect(stage.find('it').pid).not.toBe(pid)
    expect(stage.workspace.processes()).toContain(pid)
    // The replacement answers; the replaced server gets no further calls.
    expect(await stage.call('it.say', { text: 'new' })).toBe('new')
    process.kill(pid ?? 0, 'SIGUSR2')
    expect(await held).toBe('released')
    await eventually(() => !stage.workspace.processes().includes(pid ?? 0))
  })

  test('a reload lets a call in flight on a removed server finish', async () => {
    const stage = await open((on) => ({ it: calls(on) }))
    const { pid = 0 } = stage.find('it')
    const states: string[] = []
    stage.host.on('server', ({ server }) => states.push(`${server.name} ${server.state}`))
    const held = hold(stage)
    await eventually(async () => (await stage.workspace.lines('log')).includes('hold'))
    expect(await stage.host.reload({ servers: {} })).toMatchObject({ removed: ['it'] })
    expect(stage.host.getServers()).toEqual([])
    await expect(stage.host.callTool({ server: 'it', tool: 'say' })).rejects.toThrow(
      'no server "it"',
    )
    process.kill(pid, 'SIGUSR2')
    expect(await held).toBe('released')
    await eventually(() => stage.workspace.processes().length === 0)
    await eventually(() => states.length === 2)
    expect(states).toEqual(['it stopping', 'it shutdown'])
  })

  test('a reload gives calls in flight the time limit of their removed or changed server', async () => {
    const stage = await HostStage.open({ maxToolTimeoutMs: 50 })
    const { host, workspace } = stage
    const at = (log: string, more: object = {}): StdioServerConfig => ({
      ...workspace.fixture('calls', workspace.path(log)),
      ...more,
    })
    const patient = { timeoutMs: 60_000, maxTimeoutMs: 60_000 }
    await host.initialize({
      servers: {
        removed: at('removed', patient),
        changed: at('changed', patient),
        hasty: at('hasty'),
      },
    })
    const pids = ['removed', 'changed'].map((name) => stage.find(name).pid ?? 0)
    const held = ['removed.hold', 'changed.hold'].map((tool) => host.callTool(tool).then(textOf))
    const hasty = host
      .callTool('hasty.hold', {}, { timeoutMs: 60_000 })
      .catch((error: unknown) => error)
    for (const log of ['removed', 'changed', 'hasty']) {
      await eventually(async () => (await workspace.lines(log)).includes('hold'))
    }
    await host.reload({ servers: { changed: at('changed', { ...patient, env: { NEW: '1' } }) } })
    // The call with the limit of the host ends first, when the others would have ended under that limit, too.
    expect(await hasty).toMatchObject({ code: 'server-unavailable' })
    for (const pid of pids) process.kill(pid, 'SIGUSR2')
    expect(await Promise.all(held)).toEqual(['released', 'released'])
  })

  test('a reload ends once the servers are ready, in the order of their dependencies', async () => {
    const stage = await open(() => ({}))
    const lives = (name: string): StdioServerConfig =>
      stage.workspace.fixture('lives', stage.workspace.path('log'), name)
    await stage.host.reload({
      servers: { top: { ...lives('top'), dependencies: ['base'] }, base: lives('base') },
    })
    const lines = await stage.workspace.lines('log')
    expect(lines.indexOf('top starts')).toBeGreaterThan(lines.indexOf('base is listed'))
    expect(stage.host.getServers().map(({ state }) => state)).toEqual(['ready', 'ready'])
  })

  test('a reload with a server that cannot start succeeds, and that server is unavailable', async () => {
    const stage = await open((on) => ({ it: named(on, 'a'), other: named(on, 'b') }))
    const { pid } = stage.find('other')
    const broken = { ...named(stage, 'a'), command: 'no-such-command' }
    const report = await stage.host.reload({ servers: { it: broken, other: named(stage, 'b') } })
    expect(report).toMatchObject({ changed: ['it'], unchanged: ['other'] })
    expect(stage.find('it')).toMatchObject({
      state: 'unavailable',
      error: { code: 'server-startup', message: expect.stringContaining('not found on PATH') },
    })
    expect(stage.find('other')).toMatchObject({ state: 'ready', pid })
    await expect(stage.host.callTool({ server: 'it', tool: 'a' })).rejects.toMatchObject({
      code: 'server-unavailable',
    })
    await eventually(() => stage.workspace.processes().length === 1)
    await stage.host.reload({ servers: { it: named(stage, 'a'), other: named(stage, 'b') } })
    expect(await stage.call('it.a')).toBe('a')
  })

  test('a reload during another runs after it', async () => {
    const stage = await open(() => ({}))
    const config = (...tools: string[]): { servers: Servers } => ({
      servers: Object.fromEntries(tools.map((tool) => [tool, named(stage, tool)])),
    })
    const reports = await Promise.all([
      stage.host.reload(config('a', 'b')),
      stage.host.reload(config('b', 'c')),
      stage.host.reload(config('c')),
    ])
    expect(reports).toMatchObject([
      { added: ['a', 'b'], removed: [] },
      { added: ['c'], removed: ['a'], unchanged: ['b'] },
      { removed: ['b'], unchanged: ['c'] },
    ])
    expect(stage.host.getServers().map(({ name }) => name)).toEqual(['c'])
    await eventually(() => stage.workspace.processes().length === 1)
  })

  test('concurrent reloads of one server leave the last one and no other process', async () => {
    const stage = await open((on) => ({ it: named(on, 'a') }))
    const [second, third] = await Promise.all([
      stage.host.reload({ servers: { it: named(stage, 'b') } }),
      stage.host.reload({ servers: { it: named(stage, 'c') } }),
    ])
    expect([second.changed, third.changed]).toEqual([['it'], ['it']])
    expect(await stage.call('it.c')).toBe('c')
    await eventually(() => stage.workspace.processes().length === 1)
  })

  test('a reload during the start runs after it', async () => {
    const stage = await HostStage.open()
    const starting = stage.host.initialize({ servers: { it: named(stage, 'a') } })
    const report = await stage.host.reload({ servers: { it: named(stage, 'b') } })
    await starting
    expect(report).toMatchObject({ changed: ['it'] })
    expect(await stage.call('it.b')).toBe('b')
  })

  test('a reload is interrupted by a shutdown', async () => {
    const stage = await open((on) => ({ it: named(on, 'a') }))
    const silent = stage.workspace.fixture('silent')
    const reloading = stage.host.reload({ servers: { it: silent, added: silent } })
    await eventually(() => stage.workspace.processes().length === 3)
    await stage.host.shutdown()
    expect(await reloading).toMatchObject({ added: ['added'], changed: ['it'] })
    expect(stage.workspace.processes()).toEqual([])
    expect(stage.host.getServers().map(({ state }) => state)).toEqual(['shutdown', 'shutdown'])
    await expect(stage.host.reload({ servers: {} })).rejects.toThrow('the host is shut down')
  })

  test('a reload drops the metrics of removed servers', async () => {
    const stage = await open((on) => ({ it: named(on, 'a') }))
    await stage.host.callTool('it.a')
    expect(Object.keys(stage.host.getMetrics().servers)).toEqual(['it'])
    await stage.host.reload({ servers: {} })
    expect(stage.host.getMetrics().servers).toEqual({})
  })
})

describe('a watched file', () => {
  const write = (stage: HostStage, ...tools: string[]): Promise<string> =>
    stage.workspace.write('mcp.json', { servers: { it: named(stage, ...tools) } })

  test('a watched file is reloaded when it changes, and an event reports the changed servers', async () => {
    const stage = await HostStage.open({ watch: true })
    const events: HostEvent[] = []
    stage.host.on('reload', (event) => events.push(event))
    stage.host.on('reload-failed', (event) => events.push(event))
    await stage.host.initialize(await write(stage, 'a'))
    await write(stage, 'b')
    await eventually(() => events.length === 1)
    expect(events[0]).toEqual({
      type: 'reload',
      report: { added: [], removed: [], changed: ['it'], unchanged: [] },
    })
    expect(await stage.call('it.b')).toBe('b')

    await stage.workspace.write('mcp.json', '{')
    await eventually(() => events.length === 2)
    expect(events[1]).toMatchObject({ type: 'reload-failed', error: { code: 'configuration' } })
    expect(await stage.call('it.b')).toBe('b')

    await stage.host.reload(await stage.workspace.write('other.json', { servers: {} }))
    await stage.workspace.write('other.json', { servers: { it: named(stage, 'c') } })
    await eventually(() => events.length === 3)
    expect(await stage.call('it.c')).toBe('c')
  })
})
