import type { ServerEntry } from '@mcp-host/contracts'
import { BusError, ServerName } from '@mcp-host/contracts'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { CatalogEntries } from './catalog-entries.ts'

/** The reads of stored lists in flight, by key. */
let reads: { readonly key: string; readonly read: PromiseWithResolvers<Uint8Array<ArrayBuffer>> }[]
let warnings: number
let view: CatalogEntries
/** The state and tools that readers see at each change. */
let seen: string[]
beforeEach(() => {
  vi.useFakeTimers()
  reads = []
  warnings = 0
  seen = []
  view = new CatalogEntries({
    blobs: {
      get(key) {
        const read = Promise.withResolvers<Uint8Array<ArrayBuffer>>()
        reads.push({ key, read })
        return read.promise
      },
    },
    withLists: true,
    isClosed: () => false,
    warn: () => void warnings++,
  })
  view.onChange(() => seen.push(summary()))
})
afterEach(() => void vi.useRealTimers())

function summary(): string {
  const entry = view.entries.get('a')
  if (entry?.kind !== 'server') return 'nothing'
  return `${entry.state} ${entry.tools.map(({ name }) => name).join(' ')}`
}

const small = (...tools: string[]): ServerEntry => ({
  kind: 'server',
  server: ServerName.parse('a'),
  supervisor: 's',
  state: 'ready',
  tools: tools.map((name) => ({ name, inputSchema: {} })),
})
const large = (digest: string): ServerEntry => ({
  ...small(),
  stored: { key: `key of ${digest}`, bytes: 1, digest },
})

/** Completes a read in flight. */
async function answer(index: number, ...tools: string[]): Promise<void> {
  reads[index]?.read.resolve(
    new Uint8Array(Buffer.from(JSON.stringify({ tools: small(...tools).tools }))),
  )
  await vi.advanceTimersByTimeAsync(0)
}
async function fail(index: number): Promise<void> {
  reads[index]?.read.reject(new BusError('unavailable', 'the store is away'))
  await vi.advanceTimersByTimeAsync(0)
}

test('an entry is visible once its stored lists are read', async () => {
  view.put('a', large('1'))
  expect(view.entries.size).toBe(0)
  await answer(0, 'x', 'y')
  expect(seen).toEqual(['ready x y'])
})

test('the earlier version of an entry is visible until the lists of the next are read', async () => {
  view.put('a', small('old'))
  view.put('a', large('1'))
  await answer(0, 'new')
  expect(seen).toEqual(['ready old', 'ready new'])
})

test('lists that arrive late do not replace a later version', async () => {
  view.put('a', large('1'))
  view.put('a', small('latest'))
  await answer(0, 'late')
  view.put('a', large('2'))
  view.put('a', large('3'))
  await answer(2, 'third')
  await answer(1, 'second')
  view.put('a', large('4'))
  view.end('a')
  await answer(3, 'fourth')
  expect(seen).toEqual(['ready latest', 'ready third', 'nothing'])
})

test('equal lists of several supervisors are read once', async () => {
  view.put('a', large('1'))
  view.put('b', large('1'))
  await answer(0, 'x')
  view.put('a', { ...large('1'), restarts: 1 })
  expect(reads).toHaveLength(1)
  expect(seen).toEqual(['ready x', 'ready x', 'ready x'])
  expect(view.entries.get('b')).toMatchObject({ tools: [{ name: 'x' }] })
})

test('lists that cannot be read leave the earlier version visible, and are read again', async () => {
  view.put('a', small('old'))
  view.put('a', large('1'))
  await fail(0)
  expect([summary(), warnings]).toEqual(['ready old', 1])
  await vi.advanceTimersByTimeAsync(2_000)
  await answer(1, 'new')
  expect(summary()).toBe('ready new')
})

test('a server whose lists could never be read is visible with the reason, until they can be read', async () => {
  view.put('a', large('1'))
  const settled = view.settled()
  await fail(0)
  await settled
  expect(view.entries.get('a')).toMatchObject({
    state: 'unavailable',
    error: 'its lists cannot be read right now: the store is away',
  })
  await vi.advanceTimersByTimeAsync(2_000)
  await answer(1, 'x')
  expect(summary()).toBe('ready x')
})

test('a reader that asks for no lists sees an entry at once, and reads none', async () => {
  const deps = {
    blobs: { get: async () => new Uint8Array() },
    withLists: false,
    isClosed: () => false,
    warn: () => undefined,
  }
  const get = vi.spyOn(deps.blobs, 'get')
  const without = new CatalogEntries(deps)
  without.put('a', large('one'))
  await without.settled()
  expect(without.entries.get('a')).toMatchObject({ state: 'ready', tools: [] })
  expect(get).not.toHaveBeenCalled()
})
