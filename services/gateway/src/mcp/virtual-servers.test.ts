import type { CatalogEntry, ServerEntry, ServerName } from '@mcp-host/contracts'
import { catalogKey } from '@mcp-host/contracts'
import { mayBeListedLater, retryUntilListed, routeRequest } from '@mcp-host/mcp-endpoint'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { VirtualServers } from './virtual-servers.ts'

let entries: Map<string, CatalogEntry>
let changed: () => void
let now: number
let virtualServers: VirtualServers
beforeEach(() => {
  entries = new Map()
  now = 0
  const onChange = (listener: () => void): Disposable => {
    changed = listener
    return { [Symbol.dispose]: () => undefined }
  }
  virtualServers = new VirtualServers({ entries, onChange }, () => now)
  put({ kind: 'supervisor', id: 'one', startedAt: 0, servers: {} })
})

function put(entry: CatalogEntry): void {
  entries.set(catalogKey(entry), entry)
  changed()
}

let revision = 0
function server(
  name: string,
  tools: readonly string[],
  more: Partial<ServerEntry> = {},
): ServerEntry {
  return {
    kind: 'server',
    server: name as ServerName,
    supervisor: 'one',
    state: 'ready',
    tools: tools.map((each) => ({ name: each, inputSchema: { type: 'object' } })),
    revision: ++revision,
    ...more,
  }
}

const listed = (): string[] =>
  JSON.parse(`{${virtualServers.all().listing.page('tools', undefined)}}`).tools.map(
    ({ name }: { name: string }) => name,
  )

test('servers are merged in order of their names, and each is available alone', () => {
  put(server('b', ['x']))
  put(server('a', ['x', 'y']))
  expect(listed()).toEqual(['a__x', 'a__y', 'b__x'])
  expect(virtualServers.server('a')?.listing.tool('y')).toEqual({ server: 'a', name: 'y' })
  expect(virtualServers.server('a')?.listing.tool('a__y')).toBeUndefined()
  expect(virtualServers.server('c')).toBeUndefined()
})

test.each(['constructor', '__proto__', 'toString', 'valueOf', 'none'])(
  'the bundle %s exists only if it is configured',
  (name) => {
    expect(virtualServers.bundle(name)).toBeUndefined()
    virtualServers.setBundles({ own: {} })
    expect(virtualServers.bundle(name)).toBeUndefined()
    expect(virtualServers.bundle('own')).toBeDefined()
  },
)

test('a merged listing is cached until a list of a server changes', () => {
  put(server('a', ['x']))
  const { listing } = virtualServers.all()
  put({
    kind: 'supervisor',
    id: 'one',
    startedAt: 0,
    servers: { a: { calls: 1, errors: 0, inFlight: 0 } },
  })
  expect(virtualServers.all().listing).toBe(listing)
  put(server('a', ['x', 'z']))
  expect(virtualServers.all().listing).not.toBe(listing)
  expect(listed()).toEqual(['a__x', 'a__z'])
})

test('the lists of an absent server are kept for a minute', () => {
  put(server('a', ['x']))
  expect(listed()).toEqual(['a__x'])
  put(server('a', [], { state: 'starting' }))
  expect(listed()).toEqual(['a__x'])
  now = 59_000
  expect(listed()).toEqual(['a__x'])
  now = 61_000
  expect(listed()).toEqual([])
  expect(virtualServers.server('a')?.listing.tool('x')).toBeUndefined()
  put(server('a', ['y']))
  expect(listed()).toEqual(['a__y'])
})

test('a server that is removed from the configuration is removed at once', () => {
  const configured = (...names: string[]): void =>
    put({ kind: 'supervisor', id: 'one', startedAt: 0, servers: {}, configured: names })
  configured('a', 'b')
  put(server('a', ['x']))
  put(server('b', ['x']))
  put(server('a', [], { state: 'starting' }))
  expect(listed()).toEqual(['a__x', 'b__x'])
  configured('b')
  expect(listed()).toEqual(['b__x'])
  expect(virtualServers.server('a')).toBeUndefined()
})

test('names of servers that may come are kept in memory up to a limit', () => {
  entries.clear()
  for (let count = 0; count < 10_000; count++) {
    expect(virtualServers.server(`x${count}`)).toBeDefined()
  }
  expect(virtualServers.server('one-more')).toBeUndefined()
  put({ kind: 'supervisor', id: 'one', startedAt: 0, servers: {} })
  put(server('a', ['x']))
  expect(virtualServers.server('a')?.listing.tool('x')).toBeDefined()
})

test('a server that returns within a minute is kept', () => {
  put(server('a', ['x']))
  expect(listed()).toEqual(['a__x'])
  entries.clear()
  changed()
  expect(listed()).toEqual(['a__x'])
  now = 30_000
  put({ kind: 'supervisor', id: 'one', startedAt: 0, servers: {} })
  put(server('a', ['x']))
  expect(listed()).toEqual(['a__x'])
  now = 300_000
  expect(listed()).toEqual(['a__x'])
})

test('equal joined names of two servers are made distinct, also while one is absent', () => {
  const configured = ['a', 'a__b']
  put({ kind: 'supervisor', id: 'one', startedAt: 0, servers: {}, configured })
  put(server('a__b', ['c']))
  const [alone = ''] = listed()
  expect(alone).toMatch(/^a__b__c_[a-z0-9]{6}$/)
  put(server('a', ['b__c']))
  expect(listed()).toEqual(['a__b__c', alone])
  const { listing } = virtualServers.all()
  expect(listing.tool('a__b__c')).toEqual({ server: 'a', name: 'b__c' })
  expect(listing.tool(alone)).toEqual({ server: 'a__b', name: 'c' })
  expect(listing.tool('a__b.c')).toEqual({ server: 'a__b', name: 'c' })
})

test('a built-in server with its own name lists its tools under theirs', () => {
  put(server('llm', ['llm_chat'], { type: 'built-in' }))
  put(server('models', ['llm_chat'], { type: 'built-in' }))
  put(server('a', ['llm_chat']))
  expect(listed()).toEqual(['a__llm_chat', 'llm_chat', 'models__llm_chat'])
  const { listing } = virtualServers.all()
  expect(listing.tool('llm_chat')).toEqual({ server: 'llm', name: 'llm_chat' })
  put(server('llm', [], { type: 'built-in', state: 'unavailable', error: 'it is away' }))
  now = 300_000
  expect(virtualServers.all().listing.absent('llm_chat')?.why).toContain('it is away')
  put(server('files', [], { type: 'built-in', state: 'starting' }))
  expect(virtualServers.all().listing.absent('fs_read')?.isComing).toBe(true)
})

test('a read-only tool is recognized by both forms of its name', () => {
  const [tool] = server('a', ['x']).tools
  put({ ...server('a', []), tools: [{ ...tool!, annotations: { readOnlyHint: true } }] })
  expect(['a__x', 'a.x', 'x'].map((name) => virtualServers.all().listing.isReadOnly(name))).toEqual(
    [true, true, false],
  )
})

test('one announced change at two supervisors counts once', () => {
  put({ kind: 'supervisor', id: 'two', startedAt: 0, servers: {} })
  put(server('a', ['x'], { announcedAt: { tools: 5 } }))
  const first = virtualServers.all().listing
  put(server('a', ['x'], { supervisor: 'two', announcedAt: { tools: 4, prompts: 1 } }))
  const { listing } = virtualServers.all()
  expect(listing.isAnnounced('tools', first)).toBe(false)
  expect(listing.isAnnounced('prompts', first)).toBe(true)
  entries.delete('server.a.two')
  put(server('a', ['x'], { announcedAt: { tools: 5 } }))
  expect(virtualServers.all().listing.isAnnounced('tools', listing)).toBe(false)
})

test('a server with dedicated processes is marked as own', () => {
  put(server('a', ['x'], { scope: 'session' }))
  put(server('b', ['x']))
  expect(['a', 'b'].map((each) => virtualServers.all().listing.isOwn(each))).toEqual([true, false])
})

test('bundles follow the configuration', () => {
  put(server('a', ['x', 'y']))
  virtualServers.setBundles({ some: { names: 'never', servers: { a: { deny: ['y'] } } } })
  const some = virtualServers.bundle('some')
  expect(some?.listing.tool('x')).toEqual({ server: 'a', name: 'x' })
  expect(some?.listing.tool('y')).toBeUndefined()
  expect(virtualServers.bundle('a')).toBeUndefined()
  let changes = 0
  some?.onChange(() => void changes++)
  virtualServers.setBundles({ some: { names: 'never' } })
  expect(changes).toBe(1)
  expect(virtualServers.bundle('some')?.listing.tool('y')).toBeDefined()
  virtualServers.setBundles({})
  expect(virtualServers.bundle('some')).toBeUndefined()
})

test('listeners are called only when a listing changes', () => {
  let changes = 0
  const listening = virtualServers.all().onChange(() => void changes++)
  put(server('a', ['x']))
  put({ kind: 'supervisor', id: 'one', startedAt: 0, servers: {} })
  expect(changes).toBe(1)
  listening[Symbol.dispose]()
  put(server('a', ['y']))
  expect(changes).toBe(1)
})

test('500 tools of 50 servers are one cached page', () => {
  for (let index = 0; index < 50; index++) {
    put(
      server(
        `s${index}`,
        Array.from({ length: 10 }, (_, tool) => `t${tool}`),
      ),
    )
  }
  expect(listed()).toHaveLength(500)
  expect(virtualServers.all().listing.page('tools', undefined)).toBe(
    virtualServers.all().listing.page('tools', undefined),
  )
})

test.each<[string, Partial<ServerEntry>, number, string]>([
  [
    'whose changes are announced keeps its full time',
    { capabilities: { tools: { listChanged: true } } },
    60_000,
    'public',
  ],
  ['without announcements has its remaining time', {}, 20_000, 'public'],
  [
    'of dedicated processes has its remaining time, and is for one client alone',
    { capabilities: { tools: { listChanged: true } }, scope: 'session' },
    20_000,
    'private',
  ],
])('a list %s', (_, more, ttlMs, cacheScope) => {
  vi.useFakeTimers({ toFake: ['Date'], now: 100_000 })
  const caching = { tools: { ttlMs: 60_000, cacheScope: 'public', listedAt: 60_000 } } as const
  put(server('a', ['x'], { caching, ...more }))
  expect(virtualServers.all().listing.caching('tools')).toEqual({ ttlMs, cacheScope })
  vi.useRealTimers()
})

test('a call of a tool of an unavailable server fails with its error and last output', () => {
  const error = 'it ended'
  put(server('a', [], { state: 'unavailable', error, output: ['no key', 'bye'] }))
  put(server('a__b', ['x']))
  const call = (name: string): unknown =>
    routeRequest(
      { kind: 'request', era: 'legacy', id: 0, method: 'tools/call', params: { name } },
      virtualServers.all().listing,
    )
  const reason = 'the server "a" is unavailable: it ended. Its last output:\n  no key\n  bye'
  for (const name of ['a__x', 'a.x']) {
    expect(() => call(name)).toThrow(`there is no tool "${name}" now: ${reason}`)
  }
  expect(() => call('a__b__y')).toThrow(/^there is no tool "a__b__y"$/)
  expect(() => call('c__x')).toThrow(/^there is no tool "c__x"$/)
})

describe('starting gateways', () => {
  const configured = (...names: string[]): CatalogEntry => ({
    kind: 'supervisor',
    id: 'one',
    startedAt: 0,
    servers: {},
    configured: names,
  })
  beforeEach(() => {
    vi.useFakeTimers()
    entries = new Map()
    const onChange = (listener: () => void): Disposable => {
      changed = listener
      return { [Symbol.dispose]: () => undefined }
    }
    virtualServers = new VirtualServers({ entries, onChange }, () => now)
  })
  afterEach(() => void vi.useRealTimers())

  test('a starting gateway waits until every configured server is ready or unavailable', async () => {
    const settled = vi.fn<() => void>()
    void virtualServers.settling?.then(settled)
    put(configured('a', 'b'))
    put(server('a', ['x']))
    put(server('b', [], { state: 'starting' }))
    await vi.advanceTimersByTimeAsync(1_000)
    expect(settled).not.toHaveBeenCalled()
    put(server('b', [], { state: 'unavailable' }))
    await vi.advanceTimersByTimeAsync(0)
    expect(settled).toHaveBeenCalled()
    expect(virtualServers.settling).toBeUndefined()
  })

  test('a starting gateway waits for at most 5 s', async () => {
    const { settling } = virtualServers
    await vi.advanceTimersByTimeAsync(5_000)
    await settling
    expect(virtualServers.settling).toBeUndefined()
  })

  test('a starting gateway has a virtual server for each configured server', () => {
    // Before any supervisor is known, every name may be configured.
    expect(virtualServers.server('b')).toBeDefined()
    put(configured('a'))
    expect(virtualServers.server('a')).toBeDefined()
    expect(virtualServers.server('b')).toBeUndefined()
  })

  test('a starting gateway delays a call until its server is listed', async () => {
    put(configured('a'))
    const all = virtualServers.all()
    const params = { name: 'a__x', arguments: {} }
    const request = { kind: 'request', era: 'legacy', id: 1, method: 'tools/call', params } as const
    const find = () => routeRequest(request, all.listing)
    expect(find).toThrow('there is no tool "a__x" now: the server "a" is starting')
    const found = retryUntilListed(all, find, {
      failure: thrown(find),
      isWorthIt: mayBeListedLater,
    })
    await vi.advanceTimersByTimeAsync(4_000)
    put(server('a', ['x']))
    expect(await found).toMatchObject({ place: { server: 'a', name: 'x' } })
    const findUnknown = () => routeRequest({ ...request, params: { name: 'c__x' } }, all.listing)
    entries.clear()
    changed()
    const lost = retryUntilListed(all, findUnknown, {
      failure: thrown(findUnknown),
      isWorthIt: mayBeListedLater,
    })
    const failed = expect(lost).rejects.toThrow('no supervisor of MCP servers is there')
    await vi.advanceTimersByTimeAsync(5_000)
    await failed
  })
})

function thrown(run: () => unknown): unknown {
  try {
    return run()
  } catch (error) {
    return error
  }
}
