import { describe, expect, test, vi } from 'vitest'

import {
  LEGACY,
  MemoryEndpoint,
  type MemoryEndpointOptions,
  MODERN,
  SILENCE,
} from '../../test/fixtures/memory-endpoint.ts'
import type { ToolFilter } from '../config/mcp-config.ts'
import { Connection } from '../connection/connection.ts'
import { MESSAGE_LIMITS } from '../intake/message-limits.ts'
import { silentLogger } from '../logger.ts'
import { Inventory } from './inventory.ts'

interface Shop {
  readonly inventory: Inventory
  readonly endpoint: MemoryEndpoint
  readonly warned: object[]
  readonly changes: string[]
}

async function create(
  handlers: ConstructorParameters<typeof MemoryEndpoint>[0],
  { filter = {}, ...options }: MemoryEndpointOptions & { filter?: ToolFilter } = {},
): Promise<Shop> {
  const endpoint = new MemoryEndpoint(handlers, options)
  const connection = await Connection.open(endpoint, {
    clientInfo: { name: 'test', version: '1.0.0' },
    capabilities: {},
    era: 'auto',
    signal: new AbortController().signal,
    onClose: () => undefined,
    onError: () => undefined,
    prepare: () => undefined,
  })
  const warned: object[] = []
  const changes: string[] = []
  const logger = { ...silentLogger, warn: (fields: object) => void warned.push(fields) }
  const onChange = (list: string): void => void changes.push(list)
  const inventory = new Inventory(
    connection,
    { logger, onChange },
    { filter, timeoutMs: 1000, limits: MESSAGE_LIMITS },
  )
  return { inventory, endpoint, warned, changes }
}

const { signal } = new AbortController()
const tool = (name: string, properties = {}): object => ({
  name,
  inputSchema: { type: 'object', properties },
})

describe('the first lists', () => {
  test('are those that the server says it has', async () => {
    const { inventory, changes } = await create({
      ...LEGACY,
      'tools/list': () => ({ tools: [tool('a')] }),
      'prompts/list': () => ({ prompts: [{ name: 'p' }] }),
      'resources/list': () => ({ resources: [{ uri: 'r:', name: 'r' }] }),
      'resources/templates/list': () => ({ resourceTemplates: [{ uriTemplate: 't:', name: 't' }] }),
    })
    await inventory.load(signal)
    expect([...inventory.tools.keys()]).toEqual(['a'])
    expect([...inventory.prompts.keys()]).toEqual(['p'])
    expect([...inventory.resources.keys()]).toEqual(['r:'])
    expect([...inventory.resourceTemplates.keys()]).toEqual(['t:'])
    expect(changes.toSorted()).toEqual(['prompts', 'resources', 'tools'])
  })

  const SILENT = {
    initialize: () => ({
      protocolVersion: '2025-06-18',
      capabilities: {},
      serverInfo: { name: 'memory', version: '1.0.0' },
    }),
  }

  test('are asked for although the server announces none', async () => {
    const { inventory, warned } = await create({
      ...SILENT,
      'tools/list': () => ({ tools: [tool('a')] }),
      'prompts/list': () => ({ prompts: [{ name: 'p' }] }),
      'resources/list': () => ({ resources: [{ uri: 'r:', name: 'r' }] }),
      'resources/templates/list': () => ({ resourceTemplates: [{ uriTemplate: 't:', name: 't' }] }),
    })
    await inventory.load(signal)
    expect([...inventory.tools.keys()]).toEqual(['a'])
    expect([...inventory.prompts.keys()]).toEqual(['p'])
    expect([...inventory.resources.keys()]).toEqual(['r:'])
    expect([...inventory.resourceTemplates.keys()]).toEqual(['t:'])
    expect(warned).toEqual([])
  })

  test('are not there, without a warning, when a server that announces none refuses them', async () => {
    const { inventory, warned, changes } = await create({
      ...SILENT,
      'prompts/list': () => ({ error: { code: -32_603, message: 'what is that?' } }),
      'resources/list': () => ({ resources: [] }),
    })
    await inventory.load(signal)
    expect(inventory.caching).toEqual({})
    expect([warned, changes]).toEqual([[], []])
  })

  test('are waited for a second when a server that announces none is silent', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const { inventory, warned } = await create({ ...SILENT, 'tools/list': () => SILENCE })
      const loading = inventory.load(signal)
      await vi.advanceTimersByTimeAsync(1000)
      await loading
      expect(warned).toEqual([])
    } finally {
      vi.useRealTimers()
    }
  })

  test('cannot do without the tools', async () => {
    const { inventory } = await create({
      ...LEGACY,
      'tools/list': () => ({ error: { code: -32_603, message: 'ill' } }),
    })
    await expect(inventory.load(signal)).rejects.toThrow('ill')
  })

  test('can do without the others, with a warning', async () => {
    const fail = (): object => ({ error: { code: -32_603, message: 'ill' } })
    const { inventory, warned } = await create({
      ...LEGACY,
      'tools/list': () => ({ tools: [tool('a')] }),
      'prompts/list': fail,
      'resources/list': fail,
    })
    await inventory.load(signal)
    expect([...inventory.tools.keys()]).toEqual(['a'])
    expect(warned).toMatchObject([{ list: 'prompts' }, { list: 'resources' }])
  })

  test('end with the signal', async () => {
    const { inventory } = await create({ ...LEGACY, 'tools/list': () => SILENCE })
    await expect(inventory.load(AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough')
  })
})

describe('a list that is read again', () => {
  test('stays as it was when that fails', async () => {
    let count = 0
    const { inventory, warned, changes } = await create({
      ...LEGACY,
      'tools/list': () => {
        count += 1
        if (count > 1) return { error: { code: -32_603, message: 'ill' } }
        return { tools: [tool('a')] }
      },
    })
    await inventory.load(signal)
    await inventory.changed('tools')
    expect([...inventory.tools.keys()]).toEqual(['a'])
    expect(warned).toMatchObject([{ list: 'tools' }])
    expect(changes.filter((list) => list === 'tools')).toHaveLength(1)
  })

  test('is good for as long as it says then; a list that the server does not have is not', async () => {
    let ttlMs = 5
    const { inventory } = await create({
      ...MODERN,
      'tools/list': () => ({ resultType: 'complete', tools: [], ttlMs, cacheScope: 'public' }),
      'resources/list': () => ({ resultType: 'complete', resources: [] }),
    })
    await inventory.load(signal)
    const unsaid = { ttlMs: 0, cacheScope: 'private', listedAt: expect.any(Number) }
    const tools = { ttlMs: 5, cacheScope: 'public', listedAt: expect.any(Number) }
    expect(inventory.caching).toEqual({ tools, resources: unsaid, resourceTemplates: unsaid })
    ttlMs = 7
    await inventory.changed('tools')
    expect(inventory.caching.tools).toEqual({ ...tools, ttlMs: 7 })
  })

  test('of a closed connection is of no interest', async () => {
    const { inventory, warned } = await create({
      ...LEGACY,
      'tools/list': () => ({ tools: [] }),
      'prompts/list': () => SILENCE,
    })
    const loading = inventory.load(signal)
    inventory.close()
    // What the connection still answered is kept; nothing is complained about.
    await loading.catch(() => undefined)
    await inventory.changed('prompts')
    expect(warned).toEqual([])
  })
})

test('tools that are not allowed are left out and known as such', async () => {
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

  test('are there where there are headers, and tools that declare them wrongly are left out', async () => {
    const { inventory, warned } = await create(handlers, {
      isPipe: false,
      hasPerRequestStream: true,
    })
    await inventory.load(signal)
    expect([...inventory.tools.keys()]).toEqual(['good'])
    expect(warned).toMatchObject([{ item: 'bad', reason: expect.stringContaining('x-mcp-header') }])
    const [good] = inventory.tools.values()
    expect(good && inventory.headersOf(good)).toEqual([{ path: ['region'], name: 'Region' }])
  })

  test('mean nothing on a pipe', async () => {
    const { inventory } = await create(handlers)
    await inventory.load(signal)
    expect([...inventory.tools.keys()]).toEqual(['good', 'bad'])
    expect([...inventory.tools.values()].map((each) => inventory.headersOf(each))).toEqual([[], []])
  })
})
