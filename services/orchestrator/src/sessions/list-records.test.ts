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
