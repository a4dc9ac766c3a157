import type { Session } from '@mcp-host/client'
import { expect, test } from 'vitest'
import type { KnownSessions } from './known-sessions.ts'
import {
  NOTHING_KNOWN,
  shownSessions,
  withFound,
  withNewest,
  withOlder,
  withPin,
} from './known-sessions.ts'

const session = (updatedAt: number, given: Partial<Session> = {}): Session =>
  ({ id: `s${updatedAt}`, title: `chat ${updatedAt}`, updatedAt, ...given }) as Session
const pin = { metadata: { pinned: true } }

function shown(known: KnownSessions, words = ''): string[] {
  return shownSessions(known, words).map(({ id }) => id)
}

const first = withNewest(NOTHING_KNOWN, { sessions: [session(9), session(8)], next: 'n8' }, [])

test('the newest page is shown, and leads to older ones', () => {
  expect(shown(first)).toEqual(['s9', 's8'])
  expect(first.next).toBe('n8')
  const older = withOlder(first, { sessions: [session(7), session(6)] })
  expect(shown(older)).toEqual(['s9', 's8', 's7', 's6'])
  expect(older.next).toBeUndefined()
})

test('a newer page keeps the older ones, and where they lead', () => {
  const older = withOlder(first, { sessions: [session(7), session(6)], next: 'n6' })
  const page = { sessions: [session(10, { id: 's6' }), session(9)], next: 'n9' }
  const newer = withNewest(older, page, [])
  expect(shown(newer)).toEqual(['s6', 's9', 's8', 's7'])
  expect(newer.next).toBe('n6')
})

test('a gap between the newest page and known sessions is read again', () => {
  const older = withOlder(first, { sessions: [session(7), session(6)] })
  const page = { sessions: [session(30), session(20)], next: 'n20' }
  const newer = withNewest(older, page, [])
  expect(shown(newer)).toEqual(['s30', 's20'])
  expect(newer.next).toBe('n20')
  expect(shown(withOlder(newer, { sessions: [session(15), session(9)] }))).toContain('s15')
})

test('a gap is read again, also when a search found a session that is newer than the gap', () => {
  const older = withOlder(first, { sessions: [session(7), session(6)] })
  const searched = withFound(older, [session(30)])
  const newer = withNewest(searched, { sessions: [session(30), session(20)], next: 'n20' }, [])
  expect(shown(newer)).toEqual(['s30', 's20'])
  expect(newer.next).toBe('n20')
})

test('a page that touches the pages that were read hides no gap', () => {
  const older = withOlder(first, { sessions: [session(7), session(6)], next: 'n6' })
  const touching = withNewest(older, { sessions: [session(30), session(9)], next: 'n9' }, [])
  expect(touching.next).toBe('n6')
  const again = withNewest(touching, { sessions: [session(40), session(30)], next: 'n30' }, [])
  expect(again.next).toBe('n6')
  expect(shown(again)).toEqual(['s40', 's30', 's9', 's8', 's7', 's6'])
})

test('of two records the newer one counts, and sessions of one time are told apart by id', () => {
  const moved = session(12, { id: 's9', title: 'new title' })
  const known = withFound(withNewest(first, { sessions: [moved], next: 'n12' }, []), [session(9)])
  expect(shownSessions(known, 'new title')).toEqual([moved])
  const page = { sessions: [session(8, { id: 'a' })], next: 'na' }
  expect(shown(withNewest(first, page, []))).toEqual(['a', 's8'])
  expect(shown(withNewest(first, { ...page, sessions: [session(8, { id: 'z' })] }, []))).toEqual([
    'z',
  ])
})

test('a session that is missing in the newest page was deleted', () => {
  expect(shown(withNewest(first, { sessions: [session(8)] }, []))).toEqual(['s8'])
  expect(withNewest(first, { sessions: [] }, [])).toMatchObject({ sessions: [], next: undefined })
})

test('a pinned session is shown, however old it is, until it is unpinned', () => {
  const page = { sessions: [session(9), session(8)], next: 'n8' }
  const known = withNewest(first, page, [session(9), session(2, pin)])
  expect(shown(known)).toEqual(['s9', 's8', 's2'])
  expect(known.next).toBe('n8')
  expect(shown(withNewest(known, page, []))).toEqual(['s9', 's8'])
  // It comes again with its page.
  const older = withOlder(known, { sessions: [session(7), session(2, pin)] })
  expect(shown(older)).toEqual(['s9', 's8', 's7', 's2'])
})

test('a search result is listed only while its search is active', () => {
  const known = withFound(first, [session(3, { title: 'Trip to PARIS' }), session(8)])
  expect(shown(known, 'paris')).toEqual(['s3'])
  expect(shown(known, 'chat')).toEqual(['s9', 's8'])
  expect(shown(known)).toEqual(['s9', 's8'])
  expect(known.next).toBe('n8')
})

test('pinning keeps other metadata', () => {
  const other = session(1, { metadata: { project: 7 } })
  expect(withPin(other, true).metadata).toEqual({ project: 7, pinned: true })
  expect(withPin(withPin(other, true), false).metadata).toEqual({ project: 7 })
})
