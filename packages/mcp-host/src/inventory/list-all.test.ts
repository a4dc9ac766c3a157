import { describe, expect, test } from 'vitest'
import * as z from 'zod'

import { LEGACY, MemoryEndpoint, SILENCE } from '../../test/fixtures/memory-endpoint.ts'
import { Connection } from '../connection/connection.ts'
import { MESSAGE_LIMITS } from '../intake/message-limits.ts'
import { silentLogger } from '../logger.ts'
import { ListBudget } from './list-budget.ts'
import { listAll, type ListAllOptions, type Listing } from './list-all.ts'

const Item = z.looseObject({ name: z.string() })
type Item = z.infer<typeof Item>

/** Lists from a server that answers so; `warned` gets what was left out. */
async function listing(
  answer: (cursor: unknown) => unknown,
  options: Partial<ListAllOptions<Item>> = {},
  warned: object[] = [],
): Promise<Listing<Item>> {
  const endpoint = new MemoryEndpoint({ ...LEGACY, 'items/list': ({ cursor }) => answer(cursor) })
  const connection = await Connection.open(endpoint, {
    clientInfo: { name: 'test', version: '1.0.0' },
    capabilities: {},
    era: 'legacy',
    signal: new AbortController().signal,
    onClose: () => undefined,
    onError: () => undefined,
    prepare: () => undefined,
  })
  const logger = { ...silentLogger, warn: (fields: object) => void warned.push(fields) }
  return listAll(connection, logger, {
    method: 'items/list',
    field: 'items',
    schema: Item,
    keyOf: ({ name }) => name,
    budget: new ListBudget(MESSAGE_LIMITS),
    signal: new AbortController().signal,
    timeoutMs: 1000,
    ...options,
  })
}

async function list(...how: Parameters<typeof listing>): Promise<string[]> {
  const { items } = await listing(...how)
  return [...items.keys()]
}

describe('a list', () => {
  test('is that of all pages', async () => {
    const pages: Record<string, object> = {
      start: { items: [{ name: 'a' }], nextCursor: 'b' },
      b: { items: [{ name: 'b' }, { name: 'c' }], nextCursor: 'c' },
      c: { items: [{ name: 'd' }] },
    }
    const cursors: unknown[] = []
    const names = await list((cursor) => {
      cursors.push(cursor)
      return pages[typeof cursor === 'string' ? cursor : 'start']
    })
    expect(names).toEqual(['a', 'b', 'c', 'd'])
    expect(cursors).toEqual([undefined, 'b', 'c'])
  })

  test('leaves out what is faulty, taken or refused, each with a warning', async () => {
    const warned: object[] = []
    const items = [{ name: 'a' }, { name: 5 }, { name: 'a' }, { name: 'bad' }, null, { name: 'b' }]
    const refuse = ({ name }: Item): string | undefined =>
      name === 'bad' ? 'it is bad' : undefined
    expect(await list(() => ({ items }), { refuse }, warned)).toEqual(['a', 'b'])
    expect(warned).toMatchObject([
      { list: 'items', item: '#2', faults: [expect.stringMatching('^name: ')] },
      { list: 'items', item: 'a', reason: 'its name is taken' },
      { list: 'items', item: 'bad', reason: 'it is bad' },
      { list: 'items', item: '#5', faults: [expect.any(String)] },
    ])
  })

  test('is empty when the answer has none, or the server does not know the method', async () => {
    expect(await list(() => ({}))).toEqual([])
    expect(await list(() => ({ items: 'none' }))).toEqual([])
    expect(await list(() => ({ error: { code: -32_601, message: 'no' } }))).toEqual([])
  })

  test('fails when the server refuses it or answers nonsense', async () => {
    await expect(list(() => ({ error: { code: -32_603, message: 'ill' } }))).rejects.toThrow('ill')
    await expect(list(() => 5)).rejects.toThrow()
  })

  test.each(['', null])('ends without a warning at the next cursor %j', async (nextCursor) => {
    const warned: object[] = []
    expect(await list(() => ({ items: [{ name: 'a' }], nextCursor }), {}, warned)).toEqual(['a'])
    expect(warned).toEqual([])
  })

  test.each([
    ['repeats', () => 'again', 2, 'its next cursor was there before'],
    [
      'leads back to an earlier page',
      (n: number) => 'bcb'[n - 1],
      3,
      'its next cursor was there before',
    ],
    ['is not a string', () => 5, 1, 'its next cursor is not a string'],
    ['never ends', String, 1000, 'it has more than 1000 pages'],
  ])('whose cursor %s keeps what was listed, with a warning', async (_, next, pages, reason) => {
    const warned: object[] = []
    let count = 0
    const names = await list(
      () => {
        count += 1
        return { items: [{ name: `${count}` }], nextCursor: next(count) }
      },
      {},
      warned,
    )
    expect(names).toHaveLength(pages)
    expect(warned).toEqual([{ list: 'items', reason }])
  })

  test.each([
    [
      'what all its pages say',
      { ttlMs: 9, cacheScope: 'public' },
      { ttlMs: 9, cacheScope: 'public' },
    ],
    [
      'the least that they say',
      { ttlMs: 3, cacheScope: 'private' },
      { ttlMs: 3, cacheScope: 'private' },
    ],
    ['nothing when one says nothing', {}, { ttlMs: 0, cacheScope: 'private' }],
    ['nothing for nonsense', { ttlMs: 1.5, cacheScope: 7 }, { ttlMs: 0, cacheScope: 'private' }],
    [
      'nothing for less than that',
      { ttlMs: -1, cacheScope: 'public' },
      { ttlMs: 0, cacheScope: 'public' },
    ],
  ])('is good for %s', async (_, said, expected) => {
    const before = Date.now()
    const { caching } = await listing((cursor) => {
      if (cursor === undefined)
        return { items: [], nextCursor: 'b', ttlMs: 9, cacheScope: 'public' }
      return { items: [], ...said }
    })
    expect(caching).toEqual({ ...expected, listedAt: expect.any(Number) })
    expect(caching.listedAt).toBeGreaterThanOrEqual(before)
  })

  test('ends with the signal, or with the time for one page', async () => {
    const signal = AbortSignal.abort(new Error('enough'))
    await expect(list(() => SILENCE, { signal })).rejects.toThrow('enough')
    await expect(list(() => SILENCE, { timeoutMs: 20 })).rejects.toThrow('no answer within 20 ms')
  })
})

describe('a list that is too much', () => {
  const page = (cursor: unknown): object => ({
    items: [{ name: `first ${String(cursor)}` }, { name: `second ${String(cursor)}` }],
    nextCursor: `${String(cursor)}x`,
  })

  test.each([
    [{ listItems: 5, listBytes: 1e6 }, 5, 'it has more than 5 items'],
    [{ listItems: 1e6, listBytes: 100 }, 3, 'the lists have more than 100 bytes together'],
  ])('ends at its limit: %j', async (limits, count, reason) => {
    const warned: object[] = []
    const names = await list(page, { budget: new ListBudget(limits) }, warned)
    expect(names).toHaveLength(count)
    expect(warned).toEqual([{ list: 'items', reason }])
  })

  test('has what the other lists of the server leave of the limit, and it is counted anew each time', async () => {
    const budget = new ListBudget({ listItems: 1e6, listBytes: 1_000 })
    budget.begin('others')
    budget.add('others', 900)
    const last = (): object => ({
      items: ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => ({ name })),
    })
    expect(await list(last, { budget })).toHaveLength(5)
    budget.begin('others')
    expect(await list(last, { budget })).toHaveLength(7)
    expect(await list(last, { budget })).toHaveLength(7)
  })

  test('ends at a cursor that is too long', async () => {
    const warned: object[] = []
    await list(() => ({ items: [], nextCursor: 'x'.repeat(65_537) }), {}, warned)
    expect(warned).toEqual([{ list: 'items', reason: 'its next cursor is too long' }])
  })

  test('is warned about item by item only in its beginning', async () => {
    const warned: object[] = []
    await list(() => ({ items: Array.from({ length: 100 }, () => 1) }), {}, warned)
    expect(warned).toHaveLength(21)
    expect(warned.at(-1)).toEqual({ list: 'items', more: 80 })
  })

  test('lets others have their turn while its items are read', async () => {
    let turns = 0
    const tick = (): void => {
      turns += 1
      next = setImmediate(tick)
    }
    let next = setImmediate(tick)
    await list(() => ({ items: Array.from({ length: 2_000 }, (_, at) => ({ name: `${at}` })) }))
    clearImmediate(next)
    expect(turns).toBeGreaterThanOrEqual(10)
  })
})
