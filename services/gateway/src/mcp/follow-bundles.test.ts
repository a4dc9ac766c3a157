import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from '@mcp-host/service'
import { eventually, testFolder } from '@mcp-host/testkit'
import type { Bundle } from '@mcp-host/mcp-endpoint'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { followBundles } from './follow-bundles.ts'

let path: string
let read: Readonly<Record<string, Bundle>>[]
let faults: string[]
beforeEach(async () => {
  const folder = await testFolder()
  onTestFinished(() => folder[Symbol.asyncDispose]())
  path = join(folder.path, 'bundles.json')
  read = []
  faults = []
})

// followBundles logs with these methods only.
const logger = {
  info: () => undefined,
  warn: () => undefined,
  error: ({ err }: { err: Error }) => void faults.push(err.message),
} as unknown as Logger
const bus = { id: 'g1', catalog: { put: async () => undefined, remove: async () => undefined } }

function follow(file = path): void {
  const following = followBundles(file, (bundles) => void read.push(bundles), {
    bus,
    logger,
  })
  onTestFinished(() => following[Symbol.asyncDispose]())
}

test('bundles are read at the start and at each valid change', async () => {
  await writeFile(path, '{ "bundles": { "a": { "names": "never" }, } } // mine')
  follow()
  expect(read).toEqual([{ a: { names: 'never' } }])
  await writeFile(path, '{ "bundles": { "a": { "names": "sometimes" } } }')
  await eventually(() => faults.length === 1)
  expect(faults[0]).toContain('bundles.a.names')
  await writeFile(path, '{ "bundles": { "b": {} } }')
  await eventually(() => read.length === 2)
  expect(read[1]).toEqual({ b: {} })
})

test('a configured file of bundles must exist', () => {
  expect(() => follow()).toThrow(/BUNDLES_CONFIG: there is no file/)
  follow('none')
  expect(read).toEqual([])
})

test.each<[string, string]>([
  ['{ "bundles": { "a b": {} } }', 'bundles.a b: must be 1 to 64'],
  ['{ "bundles": { "a": { "server": {} } } }', 'bundles.a: Unrecognized key'],
  [
    '{ "bundles": { "a": { "servers": { "s": { "rename": { "x": "y z" } } } } } }',
    'rename.x: must',
  ],
  ['{ "bundles": ', ':1:14: is not valid JSON'],
])('the bundles %s are refused', async (text, reason) => {
  await writeFile(path, text)
  expect(() => follow()).toThrow(reason)
})
