import { describe, expect, test } from 'vitest'
import * as z from 'zod'

import { LEGACY, MemoryEndpoint, SILENCE } from '../../test/memory-endpoint.ts'
import { openConnection } from '../../test/open-connection.ts'
import { MESSAGE_LIMITS } from '../intake/message-limits.ts'
import { silentLogger } from '@mcp-host/process'
import { ListBudget } from './list-budget.ts'
import { listAll, type ListAllOptions, type Listing } from './list-all.ts'

const Item = z.looseObject({ name: z.string() })
type Item = z.infer<typeof Item>

/** Lists from a server with these answers; `warnings` gets the fields of each warning. */
async function listing(
  answer: (cursor: unknown) => unknown,
  options: Partial<ListAllOptions<Item>> = {},
  warnings: object[] = [],
): Promise<Listing<Item>> {
  const endpoint = new MemoryEndpoint({ ...LEGACY, 'items/list': ({ cursor }) => answer(cursor) })
  const connection = await openConnection(endpoint, { era: 'legacy' })
  const logger = { ...silentLogger, warn: (fields: object) => void warnings.push(fields) }
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

async function list(...args: Parameters<typeof listing>): Promise<string[]> {
  const { items } = await listing(...args)
  return [...items.keys()]
}

describe('a list', () => {
  test('a list has the items of all pages', async () => {
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

  test('a list skips faulty, duplicate and refused items, each with a warning', async () => {
    const warnings: object[] = []
    const items = [{ name: 'a' }, { name: 5 }, { name: 'a' }, { name: 'bad' }, null, { name: 'b' }]
    const refuse = ({ name }: Item): string | undefined =>
      name === 'bad' ? 'it is bad' : undefined
    expect(await list(() => ({ items }), { refuse }, warnings)).toEqual(['a', 'b'])
    expect(warnings).toMatchObject([
      { list: 'items', item: '#2', faults: [expect.stringMatching('^name: ')] },
      { list: 'items', item: 'a', reason: 'its name is taken' },
      { list: 'items', item: 'bad', reason: 'it is bad' },
      { list: 'items', item: '#5', faults: [expect.any(String)] },
    ])
  })

  test('a list is empty when the answer has no items, or the server does not know the method', async () => {
    expect(await list(() => ({}))).toEqual([])
    expect(await list(() => ({ items: 'none' }))).toEqual([])
    expect(await list(() => ({ error: { code: -32_601, message: 'no' } }))).toEqual([])
  })

  test('a list fails when the server refuses it or the answer is malformed', async () => {
    await expect(list(() => ({ error: { code: -32_603, message: 'broken' } }))).rejects.toThrow(
      'broken',
    )
    await expect(list(() => 5)).rejects.toThrow()
  })

  test.each(['', null])(
    'a list ends without a warning at the next cursor %j',
    async (nextCursor) => {
      const warnings: object[] = []
      expect(await list(() => ({ items: [{ name: 'a' }], nextCursor }), {}, warnings)).toEqual([
        'a',
      ])
      expect(warnings).toEqual([])
    },
  )

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
  ])(
    'a list whose cursor %s keeps the items so far, with a warning',
    async (_, next, pages, reason) => {
      const warnings: object[] = []
      let count = 0
      const names = await list(
        () => {
          count += 1
          return { items: [{ name: `${count}` }], nextCursor: next(count) }
        },
        {},
        warnings,
      )
      expect(names).toHaveLength(pages)
      expect(warnings).toEqual([{ list: 'items', reason }])
    },
  )

  test.each([
    [
      'the time of all its pages',
      { ttlMs: 9, cacheScope: 'public' },
      { ttlMs: 9, cacheScope: 'public' },
    ],
    [
      'the shortest time of its pages',
      { ttlMs: 3, cacheScope: 'private' },
      { ttlMs: 3, cacheScope: 'private' },
    ],
    ['no time when a page has none', {}, { ttlMs: 0, cacheScope: 'private' }],
    [
      'no time when a page has an invalid one',
      { ttlMs: 1.5, cacheScope: 7 },
      { ttlMs: 0, cacheScope: 'private' },
    ],
    [
      'no time when a page has a negative one',
      { ttlMs: -1, cacheScope: 'public' },
      { ttlMs: 0, cacheScope: 'public' },
    ],
  ])('the time to live of a list is %s', async (_, fields, expected) => {
    const before = Date.now()
    const { caching } = await listing((cursor) => {
      if (cursor === undefined)
        return { items: [], nextCursor: 'b', ttlMs: 9, cacheScope: 'public' }
      return { items: [], ...fields }
    })
    expect(caching).toEqual({ ...expected, listedAt: expect.any(Number) })
    expect(caching.listedAt).toBeGreaterThanOrEqual(before)
  })

  test('a list ends with its signal, or with the time limit for one page', async () => {
    const signal = AbortSignal.abort(new Error('enough'))
    await expect(list(() => SILENCE, { signal })).rejects.toThrow('enough')
    await expect(list(() => SILENCE, { timeoutMs: 20 })).rejects.toThrow('no answer within 20 ms')
  })
})

describe('a list beyond its limits', () => {
  const page = (cursor: unknown): object => ({
    items: [{ name: `first ${String(cursor)}` }, { name: `second ${String(cursor)}` }],
    nextCursor: `${String(cursor)}x`,
  })

  test.each([
    [{ listItems: 5, listBytes: 1e6 }, 5, 'it has more than 5 items'],
    [{ listItems: 1e6, listBytes: 100 }, 3, 'the lists have more than 100 bytes together'],
  ])('a list ends at its limit: %j', async (limits, count, reason) => {
    const warnings: object[] = []
    const names = await list(page, { budget: new ListBudget(limits) }, warnings)
    expect(names).toHaveLength(count)
    expect(warnings).toEqual([{ list: 'items', reason }])
  })

  test('the limit of a list counts the other lists of the server, and is reset for each listing', async () => {
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

  test('a list ends at a cursor that is too long', async () => {
    const warnings: object[] = []
    await list(() => ({ items: [], nextCursor: 'x'.repeat(65_537) }), {}, warnings)
    expect(warnings).toEqual([{ list: 'items', reason: 'its next cursor is too long' }])
  })

  test('a list logs single warnings for its first faulty items, and one for the rest', async () => {
    const warnings: object[] = []
    await list(() => ({ items: Array.from({ length: 100 }, () => 1) }), {}, warnings)
    expect(warnings).toHaveLength(21)
    expect(warnings.at(-1)).toEqual({ list: 'items', more: 80 })
  })

  test('a long list is read without blocking the event loop', async () => {
    let ticks = 0
    const tick = (): void => {
      ticks += 1
      next = setImmediate(tick)
    }
    let next = setImmediate(tick)
    await list(() => ({ items: Array.from({ length: 2_000 }, (_, at) => ({ name: `${at}` })) }))
    clearImmediate(next)
    expect(ticks).toBeGreaterThanOrEqual(10)
  })
})
