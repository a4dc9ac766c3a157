import { describe, expect, test } from 'vitest'

import { eventually } from '../test/eventually.ts'
import { HostStage } from '../test/host-stage.ts'
import type { HostEvent, ServerSnapshot } from './index.ts'

describe('events', () => {
  test('tell of a server from its first state to its last', async () => {
    const stage = await HostStage.open()
    const { signal } = new AbortController()
    const all = stage.host.events({ signal })
    const told: string[] = []
    const listening = stage.host.on('server', ({ server }) => told.push(server.state))
    await stage.host.initialize({ servers: { it: stage.workspace.fixture('named', 'a') } })
    listening[Symbol.dispose]()
    await stage.host.shutdown()

    const events = (await Array.fromAsync(all)).map((event) =>
      event.type === 'server' ? event.server.state : event.type,
    )
    expect(events).toEqual(['starting', 'ready', 'stopping', 'shutdown'])
    expect(told).toEqual(['starting', 'ready'])
    // After the end there is nothing more to hear.
    expect(await Array.fromAsync(stage.host.events({ signal }))).toEqual([])
  })

  test('come by type, and end with the signal', async () => {
    const stage = await HostStage.open()
    const abort = new AbortController()
    const { signal } = abort
    const lists = Array.fromAsync(stage.host.events({ signal, types: ['list-changed'] }))
    const heard: HostEvent[] = []
    stage.host.on('list-changed', (event) => heard.push(event), { signal })
    await stage.host.initialize({ servers: { it: stage.workspace.fixture('changing') } })
    await stage.host.callTool('it.grow')
    await eventually(() => heard.length > 0)
    abort.abort()
    const before = heard.length
    await stage.host.callTool('it.grow')
    await eventually(() => stage.find('it').tools.length === 4)
    expect(heard).toHaveLength(before)
    const changed = { type: 'list-changed', server: 'it', list: 'tools' }
    expect(heard).toEqual(heard.map(() => changed))
    expect(await lists).toEqual(heard)
  })

  test('tell of a changed list once the server is seen to have it', async () => {
    const stage = await HostStage.start((workspace) => ({ it: workspace.fixture('changing') }))
    const told: string[] = []
    stage.host.on('server', ({ server }) => told.push(`server with ${server.tools.length}`))
    stage.host.on('list-changed', () => told.push('list-changed'))
    await stage.host.callTool('it.grow')
    await eventually(() => told.includes('list-changed'))
    expect(told.slice(0, 2)).toEqual(['server with 3', 'list-changed'])
  })

  test('a server that announces a list as changed is seen to have done so, and no other', async () => {
    const stage = await HostStage.start((workspace) => ({ it: workspace.fixture('changing') }))
    expect(stage.find('it').announcedAt).toBeUndefined()
    await stage.host.callTool('it.grow')
    await eventually(() => stage.find('it').announcedAt !== undefined)
    expect(stage.find('it').announcedAt).toEqual({ tools: expect.any(Number) })
  })

  test('a listener that throws, or rejects, is logged and costs nobody anything', async () => {
    const stage = await HostStage.open()
    const heard: string[] = []
    stage.host.on('server', () => {
      throw new Error('a fault of the listener')
    })
    stage.host.on('server', () => Promise.reject(new Error('another')))
    stage.host.on('server', ({ server }) => heard.push(server.state))
    await stage.host.initialize({ servers: { it: stage.workspace.fixture('named', 'a') } })
    expect(heard).toEqual(['starting', 'ready'])
    await eventually(() => stage.lines('a listener failed').length === 4)
  })
})

describe('the changes of servers', () => {
  test('begin with every server as it is, and show lists when they change', async () => {
    const stage = await HostStage.start((workspace) => ({
      one: workspace.fixture('named', 'a'),
      two: workspace.fixture('changing'),
    }))
    const seen: ServerSnapshot[] = []
    const { signal } = new AbortController()
    for await (const snapshot of stage.host.serverChanges({ signal })) {
      seen.push(snapshot)
      if (seen.length === 2) await stage.host.callTool('two.grow')
      if (snapshot.tools.length === 3 && snapshot.name === 'two') break
    }
    expect(seen.map(({ name }) => name)).toEqual(['one', 'two', 'two'])
    expect(stage.find('one').tools[0]).toEqual(seen[0]?.tools[0])
  })

  test('skip what is out of date for a slow reader', async () => {
    const stage = await HostStage.start((workspace) => ({ it: workspace.fixture('named', 'a') }))
    const { signal } = new AbortController()
    const changes = stage.host.serverChanges({ signal })
    expect((await changes.next()).value).toMatchObject({ state: 'ready', restarts: 0 })
    await stage.host.restart('it')
    await stage.host.restart('it')
    expect((await changes.next()).value).toMatchObject({ state: 'ready', restarts: 2 })
    await changes.return()
  })

  test('tell of servers that come and go with a reload', async () => {
    const stage = await HostStage.start((workspace) => ({ old: workspace.fixture('named', 'a') }))
    const last = new Map<string, string>()
    const watching = (async () => {
      const { signal } = new AbortController()
      for await (const { name, state } of stage.host.serverChanges({ signal }))
        last.set(name, state)
    })()
    await stage.host.reload({ servers: { fresh: stage.workspace.fixture('named', 'b') } })
    await eventually(() => last.get('old') === 'shutdown' && last.get('fresh') === 'ready')
    await stage.host.shutdown()
    await watching
    expect(last.get('fresh')).toBe('shutdown')
  })
})

test('metrics count calls by server and tool, however they end', async () => {
  const stage = await HostStage.start((workspace) => ({
    it: workspace.fixture('calls', workspace.path('log')),
    other: workspace.fixture('named', 'a'),
  }))
  const { host } = stage
  expect(host.getMetrics()).toEqual({ servers: {} })
  await host.callTool('it.say', { text: 'a' })
  await host.callTool('it.say', { text: 'b' })
  await host.callTool('it.fail')
  await host.callTool('it.refuse').catch(() => undefined)
  await host.callTool('it.say', { text: '\0' }).catch(() => undefined)
  await host.callTool('other.a')
  const abort = new AbortController()
  const held = host.callTool('it.hold', {}, { signal: abort.signal }).catch(() => undefined)
  expect(host.getMetrics().servers['it']?.tools['hold']?.inFlight).toBe(1)
  abort.abort()
  await held

  const { servers } = host.getMetrics()
  expect(servers['it']?.tools).toMatchObject({
    say: { count: 3, success: 2, error: 0, refused: 1 },
    fail: { count: 1, success: 1 },
    refuse: { count: 1, error: 1 },
    hold: { count: 1, cancelled: 1, inFlight: 0 },
  })
  expect(servers['it']?.calls).toMatchObject({
    count: 6,
    success: 3,
    error: 1,
    refused: 1,
    cancelled: 1,
  })
  expect(servers['it']?.tools['say']?.latencyMs.max).toBeGreaterThan(0)
  expect(servers['other']?.calls).toMatchObject({ count: 1, success: 1 })
})
