import type { CatalogEntry, CatalogTool, ServerEntry, ToolCallBlock } from '@mcp-host/contracts'
import { expect, test, vi } from 'vitest'
import { call } from './__fixtures__/facts.ts'
import { catalogModel, catalogTools } from './catalog-tools.ts'

const supervisor: Extract<CatalogEntry, { kind: 'supervisor' }> = {
  kind: 'supervisor',
  id: 's1',
  startedAt: 0,
  servers: {},
}

function server(
  name: string,
  state: ServerEntry['state'],
  annotations: Record<string, CatalogTool['annotations']> = {},
): CatalogEntry {
  const tools = Object.entries(annotations).map(([tool, hints]) => ({
    name: tool,
    inputSchema: {},
    ...(hints === undefined ? {} : { annotations: hints }),
  }))
  return {
    kind: 'server',
    server: name as ServerEntry['server'],
    supervisor: 's1',
    state,
    tools,
  }
}

/** A catalog whose change event the test emits with `changed`. */
class View {
  readonly entries: Map<string, CatalogEntry>
  changed = (): void => undefined

  constructor(...entries: CatalogEntry[]) {
    this.entries = new Map(entries.map((entry, index) => [String(index), entry]))
  }

  readonly onChange = (listener: () => void): Disposable => {
    this.changed = listener
    return { [Symbol.dispose]: () => undefined }
  }
}

const view = (...entries: CatalogEntry[]): View => new View(...entries)

const toolsOf = (catalog: View, sinceOutageMs = Infinity) =>
  catalogTools(catalog, () => sinceOutageMs)

test('tools of servers that vanished in an outage of the broker are awaited', async () => {
  const ready = server('files', 'ready', { read: undefined })
  const catalog = view(supervisor, ready)
  const tools = toolsOf(catalog, 0)
  catalog.entries.delete('1')
  const offered = tools.offered()
  catalog.entries.set('1', ready)
  expect(await offered).toMatchObject([{ server: 'files', tool: 'read' }])
  const toolsWithoutOutage = toolsOf(catalog)
  catalog.entries.delete('1')
  expect(await toolsWithoutOutage.offered()).toEqual([])
})

test('the search index of tools is cached until a list of tools changes', async () => {
  const catalog = view(supervisor, server('files', 'ready', { read: undefined }))
  const tools = toolsOf(catalog)
  const index = await tools.index()
  catalog.entries.set('0', { ...supervisor, startedAt: 1 })
  catalog.changed()
  expect(await tools.index()).toBe(index)
  catalog.entries.set('1', server('files', 'ready', { write: undefined }))
  catalog.changed()
  const changed = await tools.index()
  expect(changed.search('read', 5)).toEqual([])
  expect(changed.search('write', 5)).toMatchObject([{ name: 'files__write' }])
})

test('a server whose supervisor has just died is awaited for a limited time', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  try {
    const ready = server('files', 'ready', { read: undefined })
    const catalog = view(supervisor, ready)
    const tools = toolsOf(catalog)
    const removeServer = (): void => {
      catalog.entries.delete('1')
      catalog.changed()
    }
    removeServer()
    const offered = tools.offered()
    catalog.entries.set('1', ready)
    catalog.changed()
    expect(await offered).toMatchObject([{ server: 'files', tool: 'read' }])
    removeServer()
    const offeredLater = tools.offered()
    vi.setSystemTime(Date.now() + 2_100)
    expect(await offeredLater).toEqual([])
  } finally {
    vi.useRealTimers()
  }
})

test('a server that has only failed so far is not awaited at its next start', async () => {
  const failed = { ...server('bad', 'starting'), error: 'was not ready within 30000 ms' }
  const catalog = view(supervisor, server('files', 'ready', { read: undefined }), failed)
  const tools = toolsOf(catalog)
  const offered = tools.offered()
  catalog.entries.set('2', server('bad', 'ready', { late: undefined }))
  expect(await offered).toMatchObject([{ server: 'files', tool: 'read' }])
})

test('a server that was ready and starts again after a failure is awaited for some seconds', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  try {
    const ready = server('files', 'ready', { read: undefined })
    const catalog = view(supervisor, ready)
    const tools = toolsOf(catalog)
    const again = { ...server('files', 'starting'), error: 'exited with code 1' }
    catalog.entries.set('1', again)
    catalog.changed()
    vi.setSystemTime(Date.now() + 5_000)
    const offered = tools.offered()
    catalog.entries.set('1', ready)
    expect(await offered).toMatchObject([{ server: 'files', tool: 'read' }])
    catalog.entries.set('1', again)
    vi.setSystemTime(Date.now() + 10_000)
    expect(await tools.offered()).toEqual([])
  } finally {
    vi.useRealTimers()
  }
})

test('configured servers that are not in the catalog yet are awaited', async () => {
  const ready = server('files', 'ready', { read: undefined })
  const catalog = view()
  const tools = toolsOf(catalog)
  const offered = tools.offered()
  // As after a restart of all processes, when supervisors publish one after another.
  setImmediate(() => catalog.entries.set('0', { ...supervisor, configured: ['files'] }))
  setTimeout(() => catalog.entries.set('1', ready), 100)
  expect(await offered).toMatchObject([{ server: 'files', tool: 'read' }])
})

test('a supervisor that stays absent is not awaited in each turn', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  try {
    const tools = toolsOf(view())
    vi.setSystemTime(Date.now() + 10_000)
    expect(await tools.offered()).toEqual([])
  } finally {
    vi.useRealTimers()
  }
})

test('a server that was removed from the configuration is not awaited', async () => {
  const catalog = view(supervisor, server('files', 'ready', { read: undefined }))
  const tools = toolsOf(catalog)
  catalog.entries.set('0', { ...supervisor, configured: [] })
  catalog.changed()
  // A wait would not end while time stands still.
  vi.useFakeTimers()
  try {
    expect(await tools.offered()).toEqual([])
  } finally {
    vi.useRealTimers()
  }
  expect(tools.isConfigured('files')).toBe(false)
})

test('missing servers are those that are unavailable or shut down, sorted by name', () => {
  const tools = toolsOf(
    view(
      supervisor,
      server('z', 'unavailable'),
      server('a', 'shutdown'),
      server('b', 'ready'),
      server('c', 'starting'),
      server('d', 'stopping'),
    ),
  )
  expect(tools.missing()).toEqual(['a', 'z'])
})

test('definitions are found by server and tool', () => {
  const tools = toolsOf(
    view(supervisor, server('files', 'ready', { read: { readOnlyHint: true }, write: undefined })),
  )
  expect(tools.definitionOf('files', 'read')?.annotations).toEqual({ readOnlyHint: true })
  expect(tools.definitionOf('files', 'write')?.annotations).toBeUndefined()
  expect(tools.definitionOf('other', 'read')).toBeUndefined()
})

test('a call is repeatable when its tool is read-only or idempotent', () => {
  const tools = toolsOf(
    view(
      supervisor,
      server('files', 'ready', {
        read: { readOnlyHint: true },
        put: { idempotentHint: true },
        append: { idempotentHint: false },
      }),
    ),
  )
  const callOf = (tool: string): ToolCallBlock => ({ ...call(0), server: 'files', tool })
  const repeatable = ['read', 'put', 'append', 'other'].filter((tool) =>
    tools.isRepeatable(callOf(tool)),
  )
  expect(repeatable).toEqual(['read', 'put'])
})

test('a call of a server that is moving to another supervisor is repeatable, but not of a removed one', () => {
  const catalog = view(
    { ...supervisor, id: 's2', configured: ['files'] },
    supervisor,
    server('files', 'ready', { read: { readOnlyHint: true } }),
  )
  const tools = toolsOf(catalog)
  const read: ToolCallBlock = { ...call(0), server: 'files', tool: 'read' }
  catalog.entries.delete('1')
  catalog.entries.delete('2')
  catalog.changed()
  expect(tools.isRepeatable(read)).toBe(true)
  catalog.entries.set('0', { ...supervisor, id: 's2', configured: [] })
  catalog.changed()
  expect(tools.isRepeatable(read)).toBe(false)
})

test('the default model is read from the catalog', () => {
  const entries = new Map<string, CatalogEntry>()
  const model = catalogModel({ entries })
  expect(model()).toBeUndefined()
  entries.set('model.default', {
    kind: 'model',
    provider: 'p',
    model: 'm',
    contextWindow: 8_000,
  })
  expect(model()).toMatchObject({ model: 'm', contextWindow: 8_000 })
})

test('the context window of a model is found by the alias of its provider', () => {
  const entries = new Map<string, CatalogEntry>()
  entries.set('provider.xai', {
    kind: 'provider',
    provider: 'xai',
    state: 'ready',
    models: [{ id: 'grok-4', contextWindow: 5_000 }],
  })
  expect(catalogModel({ entries })('grok/grok-4')).toMatchObject({ contextWindow: 5_000 })
})

test('the context window of a named model is read from the list of its provider', () => {
  const entries = new Map<string, CatalogEntry>()
  const model = catalogModel({ entries })
  entries.set('provider.p', {
    kind: 'provider',
    provider: 'p',
    state: 'ready',
    defaultModel: 'a/1',
    contextWindow: 8_000,
    models: [{ id: 'a/1', contextWindow: 1_000 }, { id: 'b' }],
  })
  const windowOf = (reference: string) => model(reference)?.contextWindow
  expect(windowOf('p/a/1')).toBe(1_000)
  expect(windowOf('p')).toBe(1_000)
  expect(windowOf('p/b')).toBe(8_000)
  expect(windowOf('p/unlisted')).toBe(8_000)
  expect(windowOf('q/b')).toBeUndefined()
  expect(model()).toBeUndefined()
  entries.set('model.default', { kind: 'model', provider: 'p', model: 'a/1', contextWindow: 9_000 })
  expect(model()?.contextWindow).toBe(1_000)
})
