import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { CatalogEntry } from '@mcp-host/contracts'
import { catalogKey, fileFaults } from '@mcp-host/contracts'
import type { Broker } from '@mcp-host/testkit'
import { eventually, startBroker, testFolder } from '@mcp-host/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { followDataFile } from './follow-data-file.ts'
import { createLogger } from './logger.ts'

let broker: Broker
beforeAll(async () => {
  broker = await startBroker()
})
afterAll(() => broker[Symbol.asyncDispose]())

const FORM = {
  defaultPath: 'policy.json',
  setting: 'POLICY_CONFIG',
  schema: z.strictObject({ effect: z.enum(['allow', 'deny']).optional() }),
  what: 'rules',
}

test('a followed file that becomes faulty or is removed is told in the catalog, and the contents before stay', async () => {
  await using folder = await testFolder()
  const path = join(folder.path, 'policy.json')
  await writeFile(path, '{ "effect": "deny" }')
  const bus = await broker.connect('gateway')
  const { entries } = await (await broker.connect('orchestrator')).catalog.watch()
  const told = (): string[] => fileFaults(entries.values()).map(({ faults }) => faults)
  const read: unknown[] = []
  const deps = { bus, logger: createLogger('test', 'silent') }
  await using _file = followDataFile({ ...FORM, path }, (contents) => read.push(contents), deps)

  await writeFile(path, '{\n  "effect": "never"\n}')
  await eventually(() => told()[0]?.startsWith(`${path}:2:13: effect: `) === true)
  await rm(path)
  await eventually(() => told()[0]?.startsWith(`${path}: does not exist; put it back`) === true)
  expect(read).toEqual([{ effect: 'deny' }])
  await writeFile(path, '{}')
  await eventually(() => told().length === 0)
  expect(read).toEqual([{ effect: 'deny' }, {}])
})

test('a followed file that is created is told in the catalog', async () => {
  await using folder = await testFolder()
  const path = join(folder.path, 'policy.json')
  const bus = await broker.connect('gateway')
  const { entries } = await bus.catalog.watch()
  const deps = { bus, logger: createLogger('test', 'silent') }
  const options = { ...FORM, path, defaultPath: path }
  await using _file = followDataFile(options, () => undefined, deps)
  await writeFile(path, '{}')
  await eventually(() => entries.get(`file.POLICY_CONFIG.${bus.id}`) !== undefined)
  expect(Array.from(entries.values())).toMatchObject([{ file: 'policy.json', faults: '' }])
  expect(fileFaults(entries.values())).toEqual([])
})

test('the fault of a file is out of the catalog once the process has stopped', async () => {
  await using folder = await testFolder()
  const path = join(folder.path, 'policy.json')
  await writeFile(path, '{}')
  const entries = new Set<string>()
  const catalog = {
    put: async (entry: CatalogEntry) => void entries.add(catalogKey(entry)),
    async remove(entry: CatalogEntry) {
      await nextTurn()
      entries.delete(catalogKey(entry))
    },
  }
  const deps = { bus: { id: 'g1', catalog }, logger: createLogger('test', 'silent') }
  const file = followDataFile({ ...FORM, path }, () => undefined, deps)
  await rm(path)
  await eventually(() => entries.size === 1)
  await file[Symbol.asyncDispose]()
  expect(entries).toEqual(new Set())
})
