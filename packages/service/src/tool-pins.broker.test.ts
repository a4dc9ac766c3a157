import type { CatalogEntry, CatalogTool } from '@mcp-host/contracts'
import { pinKey, pinOf, toolPins } from '@mcp-host/policy/tool-pin'
import type { Broker } from '@mcp-host/testkit'
import { eventually, startBroker } from '@mcp-host/testkit'
import { Registry } from 'prom-client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createLogger } from './logger.ts'
import type { PinLimits } from './tool-pins.ts'
import { ToolPins } from './tool-pins.ts'

let broker: Broker
beforeAll(async () => {
  broker = await startBroker()
})
afterAll(() => broker[Symbol.asyncDispose]())

/** A catalog with one tool of one server. */
class Catalog {
  readonly entries = new Map<string, CatalogEntry>()
  #listener = (): void => undefined

  readonly onChange = (listener: () => void): Disposable => {
    this.#listener = listener
    return { [Symbol.dispose]: () => undefined }
  }

  show(server: string, description: string, icons?: readonly object[]): void {
    const inputSchema = { type: 'object' }
    this.list(server, [{ name: 'read', description, inputSchema, icons }])
  }

  list(server: string, tools: readonly CatalogTool[]): void {
    const entry = { kind: 'server', server, supervisor: 's1', state: 'ready', tools }
    // The name of a server has a type of its own.
    this.entries.set(server, entry as CatalogEntry)
    this.#listener()
  }
}

async function open(isRecorder: boolean, limits?: PinLimits) {
  const catalog = new Catalog()
  const changes: string[][] = []
  const deps = {
    bus: await broker.connect(),
    logger: createLogger('test', 'silent'),
    metrics: new Registry(),
    catalog,
    onChange: () => changes.push(pins.changed().map(({ server }) => server)),
  }
  const pins: ToolPins = await ToolPins.open(deps, { isRecorder, ...(limits && { limits }) })
  return { catalog, pins, changes }
}

test('a changed tool is in quarantine at every process until its change is accepted', async () => {
  const gateway = await open(true)
  const orchestrator = await open(false)
  for (const { pins, catalog } of [gateway, orchestrator]) {
    pins.setMode('quarantine')
    catalog.show('files', 'Reads a file.')
  }
  const show = (description: string): void => {
    for (const { catalog } of [gateway, orchestrator]) catalog.show('files', description)
  }
  // The first definition is recorded in the background.
  await eventually(() => {
    show('Reads a file, and sends it away.')
    return [gateway, orchestrator].every(({ pins }) => pins.isQuarantined('files', 'read'))
  })
  expect(gateway.pins.changed()).toMatchObject([
    {
      server: 'files',
      tool: 'read',
      pinned: expect.stringContaining('"Reads a file."'),
      current: expect.stringContaining('sends it away'),
    },
  ])
  const accepted: string[] = []
  const record = async (): Promise<void> => void accepted.push('read')
  await gateway.pins.accept('files', 'read', 'user:root', record)
  await eventually(() => !orchestrator.pins.isQuarantined('files', 'read'))
  expect(orchestrator.changes.at(-1)).toEqual([])
  await expect(gateway.pins.accept('files', 'read', 'user:root', record)).rejects.toMatchObject({
    code: 'not-found',
  })
  // A change that is not there is not recorded as accepted.
  expect(accepted).toEqual(['read'])
  show('Reads a file.')
  expect(gateway.pins.isQuarantined('files', 'read')).toBe(true)
})

test('a changed tool is only reported with the mode warn, and nothing is compared with off', async () => {
  const { pins, catalog, changes } = await open(true)
  pins.setMode('warn')
  catalog.show('other', 'one')
  await eventually(() => {
    catalog.show('other', 'two')
    return pins.changed().length === 1
  })
  expect(pins.isQuarantined('other', 'read')).toBe(false)
  pins.setMode('off')
  expect(pins.changed()).toEqual([])
  expect(changes).toEqual([['other'], []])
})

test('a pin of an older version is replaced, and shows later changes of what users see', async () => {
  const { catalog, pins } = await open(true)
  const bus = await broker.connect()
  const bucket = await bus.bucket(toolPins)
  const key = pinKey('old', 'read')
  const tool: CatalogTool = { name: 'read', description: 'x', inputSchema: { type: 'object' } }
  const { version: _, ...old } = pinOf('old', tool, 'user:root')
  await bucket.put(key, { ...old, pinnedAt: 1 })
  pins.setMode('quarantine')
  await eventually(async () => {
    catalog.show('old', 'x')
    return (await bucket.get(key))?.record.version !== undefined
  })
  expect((await bucket.get(key))?.record).toMatchObject({ pinnedAt: 1, acceptedBy: 'user:root' })
  expect(pins.changed()).toEqual([])
  await eventually(() => {
    catalog.show('old', 'x', [{ src: 'https://icons.example/other.png' }])
    return pins.isQuarantined('old', 'read')
  })
})

const named = (name: string): CatalogTool => ({ name, inputSchema: { type: 'object' } })

test('tools beyond the limit of their server are in quarantine and not recorded until an admin accepts them', async () => {
  const limits = { tools: 2, characters: 10_000 }
  const gateway = await open(true, limits)
  const orchestrator = await open(false, limits)
  const bus = await broker.connect()
  const view = await (await bus.bucket(toolPins)).watch()
  const recorded = () =>
    [...view.records.values()].flatMap(({ server, tool }) => (server === 'many' ? [tool] : []))
  for (const { pins } of [gateway, orchestrator]) pins.setMode('quarantine')
  const list = (...names: string[]): void => {
    for (const { catalog } of [gateway, orchestrator]) catalog.list('many', names.map(named))
  }
  list('a', 'b', 'c')
  expect(gateway.pins.isQuarantined('many', 'c')).toBe(true)
  await eventually(() => orchestrator.pins.isQuarantined('many', 'c'))
  // Other names take no storage, in whatever order they come.
  for (const name of ['d', 'e', 'f']) list(name)
  list('f', 'a', 'b')
  expect(gateway.pins.changed()).toEqual([
    { server: 'many', tool: 'f', current: expect.stringContaining('"f"') },
  ])
  await eventually(() => recorded().length === 2)
  await gateway.pins.accept('many', 'f', 'user:root')
  await eventually(() => gateway.pins.changed().length === 0 && recorded().length === 3)
  expect(recorded().toSorted()).toEqual(['a', 'b', 'f'])
})

test('beyond the limit of characters only the hash of a definition is stored', async () => {
  const { pins, catalog } = await open(true, { tools: 10, characters: 100 })
  const bus = await broker.connect()
  const view = await (await bus.bucket(toolPins)).watch()
  pins.setMode('quarantine')
  const list = (title: string) =>
    catalog.list(
      'large',
      ['a', 'b'].map((name) => ({ ...named(name), title })),
    )
  list('x'.repeat(40))
  const stored = () => [...view.records.values()].filter(({ server }) => server === 'large')
  await eventually(() => stored().length === 2)
  const isStored = stored().map(({ tool, definition }) => [tool, definition !== undefined])
  expect(Object.fromEntries(isStored)).toEqual({ a: true, b: false })
  await eventually(() => {
    list('y')
    return pins.isQuarantined('large', 'b')
  })
})

test('the pins of a server are removed when it is not configured, and then its tools are recorded again', async () => {
  const { pins, catalog } = await open(true)
  pins.setMode('quarantine')
  await expect(pins.forget('gone')).rejects.toMatchObject({ code: 'not-found' })
  catalog.show('gone', 'one')
  await eventually(() => {
    catalog.show('gone', 'two')
    return pins.isQuarantined('gone', 'read')
  })
  await expect(pins.forget('gone')).rejects.toThrow('the server "gone" is configured')
  catalog.entries.delete('gone')
  const record = () => Promise.reject(new Error('the audit log cannot be written'))
  await expect(pins.forget('gone', record)).rejects.toThrow('audit log')
  expect(await pins.forget('gone')).toBe(1)
  await eventually(() => {
    catalog.show('gone', 'two')
    return !pins.isQuarantined('gone', 'read')
  })
  await eventually(() => {
    catalog.show('gone', 'three')
    return pins.isQuarantined('gone', 'read')
  })
})
