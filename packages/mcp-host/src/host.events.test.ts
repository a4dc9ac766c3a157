import { describe, expect, test } from 'vitest'

import { eventually } from '@mcp-host/mcp-testkit'
import { HostStage } from '../test/host-stage.ts'
import type { HostEvent, ServerSnapshot } from './index.ts'

describe('events', () => {
  test('events report the states of a server from the first to the last', async () => {
    const stage = await HostStage.open()
    const { signal } = new AbortController()
    const all = stage.host.events({ signal })
    const received: string[] = []
    const listening = stage.host.on('server', ({ server }) => received.push(server.state))
    await stage.host.initialize({ servers: { it: stage.workspace.fixture('named', 'a') } })
    listening[Symbol.dispose]()
    await stage.host.shutdown()

    const events = (await Array.fromAsync(all)).map((event) =>
      event.type === 'server' ? event.server.state : event.type,
    )
    expect(events).toEqual(['starting', 'ready', 'stopping', 'shutdown'])
    expect(received).toEqual(['starting', 'ready'])
    // After the shutdown, events end at once.
    expect(await Array.fromAsync(stage.host.events({ signal }))).toEqual([])
  })

  test('events are filtered by type, and end with the signal', async () => {
    const stage = await HostStage.open()
    const abort = new AbortController()
    const { signal } = abort
    const lists = Array.fromAsync(stage.host.events({ signal, types: ['list-changed'] }))
    const received: HostEvent[] = []
    stage.host.on('list-changed', (event) => received.push(event), { signal })
    await stage.host.initialize({ servers: { it: stage.workspace.fixture('changing') } })
    await stage.host.callTool('it.grow')
    await eventually(() => received.length > 0)
    abort.abort()
    const before = received.length
    await stage.host.callTool('it.grow')
    await eventually(() => stage.find('it').tools.length === 4)
    expect(received).toHaveLength(before)
    const changed = { type: 'list-changed', server: 'it', list: 'tools' }
    expect(received).toEqual(received.map(() => changed))
    expect(await lists).toEqual(received)
  })

  test('an event of a changed list follows the snapshot with the list', async () => {
    const stage = await HostStage.start((workspace) => ({ it: workspace.fixture('changing') }))
    const received: string[] = []
    stage.host.on('server', ({ server }) => received.push(`server with ${server.tools.length}`))
    stage.host.on('list-changed', () => received.push('list-changed'))
    await stage.host.callTool('it.grow')
    await eventually(() => received.includes('list-changed'))
    expect(received.slice(0, 2)).toEqual(['server with 3', 'list-changed'])
  })

  test('a server that announces a changed list has the time of the announcement, by the clock of the application, in its snapshot', async () => {
    const stage = await HostStage.start((workspace) => ({ it: workspace.fixture('changing') }), {
      now: () => 42,
    })
    expect(stage.find('it').announcedAt).toBeUndefined()
    await stage.host.callTool('it.grow')
    await eventually(() => stage.find('it').announcedAt !== undefined)
    expect(stage.find('it').announcedAt).toEqual({ tools: 42 })
  })

  test('a listener that throws or rejects is logged and affects nothing else', async () => {
    const stage = await HostStage.open()
    const received: string[] = []
    stage.host.on('server', () => {
      throw new Error('a fault of the listener')
    })
    stage.host.on('server', () => Promise.reject(new Error('another')))
    stage.host.on('server', ({ server }) => received.push(server.state))
    await stage.host.initialize({ servers: { it: stage.workspace.fixture('named', 'a') } })
    expect(received).toEqual(['starting', 'ready'])
    await eventually(() => stage.lines('a listener failed').length === 4)
  })
})

describe('the changes of servers', () => {
  test('server changes begin with a snapshot of every server, and include changed lists', async () => {
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

  test('server changes skip outdated snapshots for a slow reader', async () => {
    const stage = await HostStage.start((workspace) => ({ it: workspace.fixture('named', 'a') }))
    const { signal } = new AbortController()
    const changes = stage.host.serverChanges({ signal })
    expect((await changes.next()).value).toMatchObject({ state: 'ready', restarts: 0 })
    await stage.host.restart('it')
    await stage.host.restart('it')
    expect((await changes.next()).value).toMatchObject({ state: 'ready', restarts: 2 })
    await changes.return()
  })

  test('server changes include servers that a reload adds and removes', async () => {
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

test('metrics count calls by server and tool, and by outcome', async () => {
  const stage = await HostStage.start((workspace) => ({
    it: workspace.fixture('calls', workspace.path('log')),
    other: workspace.fixture('named', 'a'),
  }))
  const { host } = stage
  const before = Object.entries(host.getMetrics().servers)
  expect(before.map(([server, { calls }]) => [server, calls.count])).toEqual([
    ['it', 0],
    ['other', 0],
  ])
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
