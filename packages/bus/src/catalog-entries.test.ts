import type { ServerEntry } from '@mcp-host/contracts'
import { BusError, ServerName } from '@mcp-host/contracts'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { CatalogEntries } from './catalog-entries.ts'

/** The reads of stored lists that are under way, by key. */
let reads: { readonly key: string; readonly read: PromiseWithResolvers<Uint8Array<ArrayBuffer>> }[]
let warnings: number
let view: CatalogEntries
/** What readers have seen at each change: the state and the tools. */
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
    isClosed: () => false,
    warn: () => void warnings++,
  })
  view.onChange(() => seen.push(shown()))
})
afterEach(() => void vi.useRealTimers())

function shown(): string {
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

/** Lets a read under way end. */
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

test('an entry shows only with the lists that are stored for it', async () => {
  view.put('a', large('1'))
  expect(view.entries.size).toBe(0)
  await answer(0, 'x', 'y')
  expect(seen).toEqual(['ready x y'])
})

test('the version before shows until the lists of the next are read', async () => {
  view.put('a', small('old'))
  view.put('a', large('1'))
  await answer(0, 'new')
  expect(seen).toEqual(['ready old', 'ready new'])
})

test('lists that come late do not replace a later version', async () => {
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

test('the same lists are read once, by whichever supervisors they are told', async () => {
  view.put('a', large('1'))
  view.put('b', large('1'))
  await answer(0, 'x')
  view.put('a', { ...large('1'), restarts: 1 })
  expect(reads).toHaveLength(1)
  expect(seen).toEqual(['ready x', 'ready x', 'ready x'])
  expect(view.entries.get('b')).toMatchObject({ tools: [{ name: 'x' }] })
})

test('lists that cannot be read leave the version before, and are read again', async () => {
  view.put('a', small('old'))
  view.put('a', large('1'))
  await fail(0)
  expect([shown(), warnings]).toEqual(['ready old', 1])
  await vi.advanceTimersByTimeAsync(2_000)
  await answer(1, 'new')
  expect(shown()).toBe('ready new')
})

test('a server whose lists could never be read is shown with the reason, until they can', async () => {
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
  expect(shown()).toBe('ready x')
})
