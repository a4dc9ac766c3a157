import type { SessionId } from '@mcp-host/contracts'
import { expect, test } from 'vitest'
import { record } from './__fixtures__/record.ts'
import { listRecords } from './list-records.ts'

const id = (letter: string): SessionId => letter.repeat(16) as SessionId

test('active sessions of the owner are listed by time of last use, then by id', () => {
  const records = [
    record({ id: id('b'), updatedAt: 5 }),
    record({ id: id('c'), updatedAt: 9 }),
    record({ id: id('a'), updatedAt: 5 }),
    record({ id: id('x'), updatedAt: 9, owner: 'bob' }),
    record({ id: id('y'), updatedAt: 9, state: 'deleted' }),
  ]
  const { sessions, next } = listRecords(records, 'ann', { limit: 10 })
  expect(sessions.map((each) => each.id)).toEqual([id('c'), id('a'), id('b')])
  expect(next).toBeUndefined()
})

test('sessions of the local principal are listed for the first admin alone', () => {
  const records = [record({ id: id('a') }), record({ id: id('b'), owner: 'local', updatedAt: 0 })]
  records.push(record({ id: id('c'), owner: 'bob' }))
  const ids = (query: object) =>
    listRecords(records, 'ann', { limit: 10, ...query }).sessions.map((each) => each.id)
  expect(ids({ withLocal: true })).toEqual([id('a'), id('b')])
  expect(ids({})).toEqual([id('a')])
})

test('pages of sessions together have each session once', () => {
  const records = Array.from({ length: 23 }, (_, index) => record({ updatedAt: index % 4 }))
  const whole = listRecords(records, 'ann', { limit: 100 }).sessions
  const paged: typeof records = []
  let before: string | undefined
  do {
    const page = listRecords(records, 'ann', { limit: 5, before })
    expect(page.sessions.length).toBeGreaterThan(0)
    paged.push(...page.sessions)
    before = page.next
  } while (before !== undefined)
  expect(paged).toEqual(whole)
})

test.each([
  { query: { title: 'paris' }, found: ['Trip to PARIS', 'paris'] },
  { query: { title: 'TO P' }, found: ['Trip to PARIS'] },
  { query: { title: '' }, found: ['Trip to PARIS', 'paris', 'Rome'] },
  { query: { title: '.*' }, found: [] },
  { query: { metadataKey: 'pinned' }, found: ['paris', 'Rome'] },
  { query: { metadataKey: 'toString' }, found: [] },
  { query: { title: 'rome', metadataKey: 'pinned' }, found: ['Rome'] },
])('a list with $query has $found', ({ query, found }) => {
  const records = [
    record({ title: 'Trip to PARIS', updatedAt: 3, metadata: { project: 1 } }),
    record({ title: 'paris', updatedAt: 2, metadata: { pinned: true } }),
    record({ title: 'Rome', updatedAt: 1, metadata: { pinned: false } }),
  ]
  const { sessions } = listRecords(records, 'ann', { limit: 10, ...query })
  expect(sessions.map(({ title }) => title)).toEqual(found)
})

test('pages of a search together have each found session once', () => {
  const titles = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? 'even' : 'odd'))
  const records = titles.map((title, index) => record({ title, updatedAt: index }))
  const first = listRecords(records, 'ann', { limit: 6, title: 'even' })
  const second = listRecords(records, 'ann', { limit: 6, title: 'even', before: first.next })
  const found = [...first.sessions, ...second.sessions]
  expect(found.map(({ updatedAt }) => updatedAt)).toEqual([18, 16, 14, 12, 10, 8, 6, 4, 2, 0])
  expect(second.next).toBeUndefined()
})

test('a page that ends with the last session has no cursor', () => {
  const records = [record({ updatedAt: 1 }), record({ updatedAt: 2 })]
  expect(listRecords(records, 'ann', { limit: 2 }).next).toBeUndefined()
})

test('a session that is used during paging hides no other', () => {
  const records = Array.from({ length: 6 }, (_, index) => record({ updatedAt: index }))
  const { next } = listRecords(records, 'ann', { limit: 3 })
  const used = records.map((each) => (each.updatedAt === 3 ? { ...each, updatedAt: 99 } : each))
  const page = listRecords(used, 'ann', { limit: 3, before: next })
  expect(page.sessions.map(({ updatedAt }) => updatedAt)).toEqual([2, 1, 0])
})

test.each(['', 'rubbish', Buffer.from('x y').toString('base64url')])(
  'the cursor "%s" is refused by its field',
  (before) => {
    expect(() => listRecords([], 'ann', { limit: 3, before })).toThrow(
      expect.objectContaining({ code: 'invalid', field: 'before' }),
    )
  },
)
