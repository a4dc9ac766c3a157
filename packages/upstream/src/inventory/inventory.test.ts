import { describe, expect, test, vi } from 'vitest'

import {
  LEGACY,
  MemoryEndpoint,
  type MemoryEndpointOptions,
  MODERN,
  SILENCE,
} from '../../test/memory-endpoint.ts'
import { openConnection } from '../../test/open-connection.ts'
import type { ToolFilter } from '@mcp-host/mcp'
import { MESSAGE_LIMITS } from '../intake/message-limits.ts'
import { silentLogger } from '@mcp-host/process'
import { Inventory } from './inventory.ts'

interface TestInventory {
  readonly inventory: Inventory
  readonly endpoint: MemoryEndpoint
  readonly warnings: object[]
  readonly changes: string[]
}

async function create(
  handlers: ConstructorParameters<typeof MemoryEndpoint>[0],
  { filter = {}, ...options }: MemoryEndpointOptions & { filter?: ToolFilter } = {},
): Promise<TestInventory> {
  const endpoint = new MemoryEndpoint(handlers, options)
  const connection = await openConnection(endpoint)
  const warnings: object[] = []
  const changes: string[] = []
  const logger = { ...silentLogger, warn: (fields: object) => void warnings.push(fields) }
  const onChange = (list: string): void => void changes.push(list)
  const inventory = new Inventory(
    connection,
    { logger, onChange, now: Date.now },
    { filter, timeoutMs: 1000, limits: MESSAGE_LIMITS },
  )
  return { inventory, endpoint, warnings, changes }
}

const { signal } = new AbortController()
const tool = (name: string, properties = {}): object => ({
  name,
  inputSchema: { type: 'object', properties },
})

const ALL_LISTS = {
  'tools/list': () => ({ tools: [tool('a')] }),
  'prompts/list': () => ({ prompts: [{ name: 'p' }] }),
  'resources/list': () => ({ resources: [{ uri: 'r:', name: 'r' }] }),
  'resources/templates/list': () => ({ resourceTemplates: [{ uriTemplate: 't:', name: 't' }] }),
}

function expectAllLists(inventory: Inventory): void {
  expect([...inventory.tools.keys()]).toEqual(['a'])
  expect([...inventory.prompts.keys()]).toEqual(['p'])
  expect([...inventory.resources.keys()]).toEqual(['r:'])
  expect([...inventory.resourceTemplates.keys()]).toEqual(['t:'])
}

describe('the first listing', () => {
  test('the first listing has the lists that the server announces', async () => {
    const { inventory, changes } = await create({
      ...LEGACY,
      ...ALL_LISTS,
    })
    await inventory.load(signal)
    expectAllLists(inventory)
    expect(changes.toSorted()).toEqual(['prompts', 'resources', 'tools'])
  })

  const UNANNOUNCED = {
    initialize: () => ({
      protocolVersion: '2025-06-18',
      capabilities: {},
      serverInfo: { name: 'memory', version: '1.0.0' },
    }),
  }

  test('lists that the server does not announce are requested nevertheless', async () => {
    const { inventory, warnings } = await create({
      ...UNANNOUNCED,
      ...ALL_LISTS,
    })
    await inventory.load(signal)
    expectAllLists(inventory)
    expect(warnings).toEqual([])
  })

  test('lists that the server neither announces nor answers are empty without a warning', async () => {
    const { inventory, warnings, changes } = await create({
      ...UNANNOUNCED,
      'prompts/list': () => ({ error: { code: -32_603, message: 'what is that?' } }),
      'resources/list': () => ({ resources: [] }),
    })
    await inventory.load(signal)
    expect(inventory.caching).toEqual({})
    expect([warnings, changes]).toEqual([[], []])
  })

  test('lists that the server does not announce are awaited for a second', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const { inventory, warnings } = await create({ ...UNANNOUNCED, 'tools/list': () => SILENCE })
      const loading = inventory.load(signal)
      await vi.advanceTimersByTimeAsync(1000)
      await loading
      expect(warnings).toEqual([])
    } finally {
      vi.useRealTimers()
    }
  })

  test('the first listing fails without the tools', async () => {
    const { inventory } = await create({
      ...LEGACY,
      'tools/list': () => ({ error: { code: -32_603, message: 'broken' } }),
    })
    await expect(inventory.load(signal)).rejects.toThrow('broken')
  })

  test('the first listing succeeds without other lists, with a warning', async () => {
    const fail = (): object => ({ error: { code: -32_603, message: 'broken' } })
    const { inventory, warnings } = await create({
      ...LEGACY,
      'tools/list': () => ({ tools: [tool('a')] }),
      'prompts/list': fail,
      'resources/list': fail,
    })
    await inventory.load(signal)
    expect([...inventory.tools.keys()]).toEqual(['a'])
    expect(warnings).toMatchObject([{ list: 'prompts' }, { list: 'resources' }])
  })

  test('the first listing ends with its signal', async () => {
    const { inventory } = await create({ ...LEGACY, 'tools/list': () => SILENCE })
    await expect(inventory.load(AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough')
  })
})

describe('a repeated listing', () => {
  test('a repeated listing that fails keeps the earlier list', async () => {
    let count = 0
    const { inventory, warnings, changes } = await create({
      ...LEGACY,
      'tools/list': () => {
        count += 1
        if (count > 1) return { error: { code: -32_603, message: 'broken' } }
        return { tools: [tool('a')] }
      },
    })
    await inventory.load(signal)
    await inventory.changed('tools')
    expect([...inventory.tools.keys()]).toEqual(['a'])
    expect(warnings).toMatchObject([{ list: 'tools' }])
    expect(changes.filter((list) => list === 'tools')).toHaveLength(1)
  })

  test('a repeated listing replaces the time to live; a list that the server lacks has none', async () => {
    let ttlMs = 5
    const { inventory } = await create({
      ...MODERN,
      'tools/list': () => ({ resultType: 'complete', tools: [], ttlMs, cacheScope: 'public' }),
      'resources/list': () => ({ resultType: 'complete', resources: [] }),
    })
    await inventory.load(signal)
    const absent = { ttlMs: 0, cacheScope: 'private', listedAt: expect.any(Number) }
    const tools = { ttlMs: 5, cacheScope: 'public', listedAt: expect.any(Number) }
    expect(inventory.caching).toEqual({ tools, resources: absent, resourceTemplates: absent })
    ttlMs = 7
    await inventory.changed('tools')
    expect(inventory.caching.tools).toEqual({ ...tools, ttlMs: 7 })
  })

  test('a listing of a closed connection changes nothing and logs no warning', async () => {
    const { inventory, warnings } = await create({
      ...LEGACY,
      'tools/list': () => ({ tools: [] }),
      'prompts/list': () => SILENCE,
    })
    const loading = inventory.load(signal)
    inventory.close()
    // The load may fail or succeed; no warning may be logged.
    await loading.catch(() => undefined)
    await inventory.changed('prompts')
    expect(warnings).toEqual([])
  })
})

test('tools that are not allowed are left out and known as denied', async () => {
  const { inventory } = await create(
    { ...LEGACY, 'tools/list': () => ({ tools: [tool('read'), tool('write')] }) },
    { filter: { allow: ['read*'] } },
  )
  await inventory.load(signal)
  expect([...inventory.tools.keys()]).toEqual(['read'])
  expect([...inventory.deniedTools]).toEqual(['write'])
  expect([inventory.isDenied('read'), inventory.isDenied('write')]).toEqual([false, true])
})

describe('arguments in headers', () => {
  const handlers = {
    ...MODERN,
    'tools/list': () => ({
      tools: [
        tool('good', { region: { type: 'string', 'x-mcp-header': 'Region' } }),
        tool('bad', { region: { type: 'number', 'x-mcp-header': 'Region' } }),
      ],
    }),
    'resources/list': () => ({ resources: [] }),
  }

  test('arguments are sent in headers over HTTP, and tools with invalid declarations are left out', async () => {
    const { inventory, warnings } = await create(handlers, {
      isPipe: false,
      hasPerRequestStream: true,
    })
    await inventory.load(signal)
    expect([...inventory.tools.keys()]).toEqual(['good'])
    expect(warnings).toMatchObject([
      { item: 'bad', reason: expect.stringContaining('x-mcp-header') },
    ])
    const [good] = inventory.tools.values()
    expect(good && inventory.headersOf(good)).toEqual([{ path: ['region'], name: 'Region' }])
  })

  test('declarations of headers are ignored on a pipe', async () => {
    const { inventory } = await create(handlers)
    await inventory.load(signal)
    expect([...inventory.tools.keys()]).toEqual(['good', 'bad'])
    expect([...inventory.tools.values()].map((each) => inventory.headersOf(each))).toEqual([[], []])
  })
})
