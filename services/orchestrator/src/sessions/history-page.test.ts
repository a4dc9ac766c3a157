import type { Bus } from '@mcp-host/bus'
import type { HistoryMessage } from '@mcp-host/contracts'
import type { SessionState } from '@mcp-host/session-state'
import { sessionHistory } from '@mcp-host/contracts'
import { applyEntry, emptySession, toSnapshot } from '@mcp-host/session-state'
import { beforeEach, describe, expect, test } from 'vitest'
import { SessionViews } from '../turn/session-views.ts'
import { MemoryDirectory } from './__fixtures__/memory-directory.ts'
import { MemoryLog } from './__fixtures__/memory-log.ts'
import { record } from './__fixtures__/record.ts'
import type { HistoryPage, HistoryRequest } from './history-page.ts'
import { historyPage } from './history-page.ts'

let log: MemoryLog
let directory: MemoryDirectory
let snapshot: Uint8Array | undefined
let bus: Bus
beforeEach(() => {
  log = new MemoryLog()
  directory = new MemoryDirectory()
  snapshot = undefined
  const snapshots = { get: async () => snapshot }
  // historyPage uses only these members.
  bus = { directory, sessions: log, snapshots } as unknown as Bus
})

const history = (request: Partial<HistoryRequest> = {}, principal = 'ann'): Promise<HistoryPage> =>
  historyPage(
    bus,
    new SessionViews(bus),
    { session: log.session, limit: 100, ...request },
    { principal },
  )

const users = ({ messages }: { messages: readonly HistoryMessage[] }): string[] =>
  messages.filter(({ role }) => role === 'user').map(({ id }) => id)

const texts = ({ messages }: { messages: readonly HistoryMessage[] }): (string | undefined)[] =>
  messages.map(({ content }) => content)

function fold(): SessionState {
  const state = emptySession()
  for (const entry of log.entries) applyEntry(state, entry)
  return state
}

/** Stores a snapshot of the whole log. */
function takeSnapshot(): SessionState {
  const state = fold()
  snapshot = new TextEncoder().encode(toSnapshot(state))
  return state
}

async function allPages(limit: number): Promise<HistoryMessage[]> {
  const messages: HistoryMessage[] = []
  let next: string | undefined
  do {
    const page = await history({ limit, before: next })
    expect(page.messages.length).toBeGreaterThan(0)
    messages.unshift(...page.messages)
    next = page.next
  } while (next !== undefined)
  return messages
}

test('the history of a session that does not exist is refused without a read of the log', async () => {
  const before = log.reads.length
  await expect(history()).rejects.toMatchObject({ code: 'not-found' })
  expect(log.reads).toHaveLength(before)
})

describe('pages of a session', () => {
  test('a page has the newest turns, oldest first, and a cursor to the earlier ones', async () => {
    for (const id of ['a', 'b', 'c', 'd', 'e']) log.turn(id)
    const page = await history({ limit: 2 })
    expect(texts(page)).toEqual(['what d says', 'answer to d', 'what e says', 'answer to e'])
    expect(page.next).toBe('d')
    const earlier = await history({ limit: 2, before: 'd' })
    expect(users(earlier)).toEqual(['b', 'c'])
    const last = await history({ limit: 2, before: 'b' })
    expect(users(last)).toEqual(['a'])
    expect(last.next).toBeUndefined()
    const full = await history({ limit: 3, before: 'd' })
    expect(users(full)).toEqual(['a', 'b', 'c'])
    expect(full.next).toBeUndefined()
  })

  test('pages together have the whole session, also turns whose text the snapshot has pruned', async () => {
    for (let turn = 0; turn < 60; turn++) log.turn(`m${turn}`, `${turn} ${'x'.repeat(30_000)}`)
    const whole = await allPages(9)
    const { turns } = takeSnapshot()
    expect(turns.size).toBe(60)
    log.turn('after')
    const paged = await allPages(9)
    expect(paged.slice(0, -2)).toEqual(whole)
    expect(users({ messages: paged })).toEqual([
      ...Array.from(Array(60), (_, at) => `m${at}`),
      'after',
    ])
    expect(texts({ messages: paged }).every((text) => text !== '')).toBe(true)
  })

  test('a page reads only its own entries of the log', async () => {
    for (let turn = 0; turn < 300; turn++) log.turn(`m${turn}`, 'x'.repeat(10_000))
    takeSnapshot()
    log.reads.length = 0
    await history({ limit: 20, before: 'm100' })
    // The first entries, those since the snapshot, and twenty turns of four entries.
    expect(log.reads).toEqual([128, 0, 80])
    log.reads.length = 0
    await history({ limit: 20 })
    expect(log.reads).toEqual([128, 0])
  })

  test('a page has whole turns, as many as fit', async () => {
    for (let turn = 0; turn < 10; turn++) log.turn(`m${turn}`, 'x'.repeat(200_000))
    const page = await history()
    expect(users(page)).toEqual(['m7', 'm8', 'm9'])
    expect(page.next).toBe('m7')
    expect(JSON.stringify(page).length).toBeLessThan(700_000)
    expect(users({ messages: await allPages(100) })).toEqual(
      Array.from(Array(10), (_, at) => `m${at}`),
    )
  })

  test('a turn that is too large for any page is shown without its results', async () => {
    log.turn('a')
    const turn = log.addInput('b')
    log.claim(turn)
    const calls = log.write({ tools: ['one', 'two'] })
    for (const call of calls) log.finish(call, 'one', 'x'.repeat(500_000))
    log.done(turn)
    const page = await history()
    expect(users(page)).toEqual(['a', 'b'])
    expect(JSON.stringify(page).length).toBeLessThan(700_000)
    expect(JSON.stringify(page)).toContain('too large to be shown')
  })

  test('a page satisfies the contract', async () => {
    const turn = log.addInput('a')
    log.claim(turn)
    const [call] = log.write({ text: 't', reasoning: 'r', tools: ['one'] })
    if (call !== undefined) log.finish(call, 'one', 'x', 'a-blob')
    log.done(turn, 'cancelled')
    const page = await history()
    expect(sessionHistory.reply.parse(page)).toEqual(page)
  })
})

describe('branches', () => {
  beforeEach(() => {
    log.turn('a')
    log.turn('b')
    log.turn('c')
    log.turn('B', 'better', { replaces: 'b' })
    log.turn('D')
  })

  test('the newest branch is shown with the alternatives of its messages', async () => {
    const { messages } = await history()
    expect(users({ messages })).toEqual(['a', 'B', 'D'])
    const branches = messages.map(({ metadata }) => metadata.branches)
    expect(branches).toEqual([undefined, undefined, ['b', 'B'], undefined, undefined, undefined])
  })

  test('a page before a message of another branch has the turns of that branch', async () => {
    expect(users(await history({ before: 'c' }))).toEqual(['a', 'b'])
  })

  test('a branch is read to its end by any of its messages', async () => {
    log.turn('e', 'of the old branch', { follows: 'c' })
    log.turn('C', 'beside it', { replaces: 'c' })
    const on = async (branch: string): Promise<string[]> => users(await history({ branch }))
    expect(await on('b')).toEqual(['a', 'b', 'C'])
    expect(await on('c')).toEqual(['a', 'b', 'c', 'e'])
    expect(await on('D')).toEqual(['a', 'B', 'D'])
    const page = await history({ branch: 'c', limit: 2 })
    expect([users(page), page.next]).toEqual([['c', 'e'], 'c'])
  })

  test('a single turn is found on any branch', async () => {
    const page = await history({ only: 'b' })
    expect(texts(page)).toEqual(['what b says', 'answer to b'])
    expect(page.messages[0]?.metadata.branches).toEqual(['b', 'B'])
    expect(page.next).toBeUndefined()
  })

  test('the first message may have alternatives', async () => {
    log.turn('A', 'anew', { replaces: 'a' })
    const page = await history()
    expect(users(page)).toEqual(['A'])
    expect(page.messages[0]?.metadata.branches).toEqual(['a', 'A'])
  })
})

describe('sessions and messages that are not found', () => {
  const notFound = { code: 'not-found', field: 'session' }

  test('a session without entries is not found', async () => {
    await expect(history()).rejects.toMatchObject(notFound)
  })

  test('a session of another owner is not found, with and without a record', async () => {
    log.turn('a')
    await expect(history({}, 'bob')).rejects.toMatchObject(notFound)
    await directory.put(record({ id: log.session, owner: 'ann' }))
    await expect(history({}, 'bob')).rejects.toMatchObject(notFound)
    expect(users(await history())).toEqual(['a'])
  })

  test('a deleted session is not found', async () => {
    log.turn('a')
    await directory.put(record({ id: log.session, state: 'deleted' }))
    await expect(history()).rejects.toMatchObject(notFound)
  })

  test.each(['before', 'branch', 'only'])(
    'an unknown message in "%s" is not found',
    async (field) => {
      log.turn('a')
      await expect(history({ [field]: 'x' })).rejects.toMatchObject({ code: 'not-found', field })
    },
  )
})

test('a page has entries that a lagging replica does not have yet', async () => {
  log.turn('a')
  log.replicaSeq = log.entries.at(-1)?.seq ?? 0
  log.turn('b')
  expect(users(await history())).toEqual(['a', 'b'])
})

test('a session that has a title and no message yet has an empty history', async () => {
  await directory.put(record({ id: log.session, messages: 0 }))
  expect(await history()).toEqual({ messages: [] })
})
