import type { Bus } from '@mcp-host/bus'
import type { HistoryMessage, SessionState } from '@mcp-host/contracts'
import { applyEntry, emptySession, sessionHistory, toSnapshot } from '@mcp-host/contracts'
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
  // Of the bus it uses no more than this.
  bus = { directory, sessions: log, snapshots } as unknown as Bus
})

const history = (request: Partial<HistoryRequest> = {}, principal = 'ann'): Promise<HistoryPage> =>
  historyPage(
    bus,
    new SessionViews(bus),
    { session: log.session, limit: 100, ...request },
    principal,
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

/** Makes a snapshot of all that is in the log. */
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

test('of a session that does not exist nothing is opened', async () => {
  const before = log.reads.length
  await expect(history()).rejects.toMatchObject({ code: 'not-found' })
  expect(log.reads).toHaveLength(before)
})

describe('the pages of a session', () => {
  test('are its newest turns, oldest first, and lead to the older ones', async () => {
    for (const id of ['a', 'b', 'c', 'd', 'e']) log.turn(id)
    const page = await history({ limit: 2 })
    expect(texts(page)).toEqual(['what d says', 'answer to d', 'what e says', 'answer to e'])
    expect(page.next).toBe('d')
    const older = await history({ limit: 2, before: 'd' })
    expect(users(older)).toEqual(['b', 'c'])
    const last = await history({ limit: 2, before: 'b' })
    expect(users(last)).toEqual(['a'])
    expect(last.next).toBeUndefined()
    const full = await history({ limit: 3, before: 'd' })
    expect(users(full)).toEqual(['a', 'b', 'c'])
    expect(full.next).toBeUndefined()
  })

  test('are together the whole session, also where the snapshot does not keep what was said', async () => {
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

  test('read no more of the log than they show of it', async () => {
    for (let turn = 0; turn < 300; turn++) log.turn(`m${turn}`, 'x'.repeat(10_000))
    takeSnapshot()
    log.reads.length = 0
    await history({ limit: 20, before: 'm100' })
    // The beginning, what is new since the snapshot, and twenty turns of four entries.
    expect(log.reads).toEqual([128, 0, 80])
    log.reads.length = 0
    await history({ limit: 20 })
    expect(log.reads).toEqual([128, 0])
  })

  test('have no turn in part: those that would not fit are on the next one', async () => {
    for (let turn = 0; turn < 10; turn++) log.turn(`m${turn}`, 'x'.repeat(200_000))
    const page = await history()
    expect(users(page)).toEqual(['m7', 'm8', 'm9'])
    expect(page.next).toBe('m7')
    expect(JSON.stringify(page).length).toBeLessThan(700_000)
    expect(users({ messages: await allPages(100) })).toEqual(
      Array.from(Array(10), (_, at) => `m${at}`),
    )
  })

  test('have a turn that is too large alone, without its results', async () => {
    log.turn('a')
    const turn = log.say('b')
    log.claim(turn)
    const calls = log.write({ tools: ['one', 'two'] })
    for (const call of calls) log.finish(call, 'one', 'x'.repeat(500_000))
    log.done(turn)
    const page = await history()
    expect(users(page)).toEqual(['a', 'b'])
    expect(JSON.stringify(page).length).toBeLessThan(700_000)
    expect(JSON.stringify(page)).toContain('too large to be shown')
  })

  test('are what the contract says', async () => {
    const turn = log.say('a')
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

  test('the newest is shown, with what else was said in the same place', async () => {
    const { messages } = await history()
    expect(users({ messages })).toEqual(['a', 'B', 'D'])
    const branches = messages.map(({ metadata }) => metadata.branches)
    expect(branches).toEqual([undefined, undefined, ['b', 'B'], undefined, undefined, undefined])
  })

  test('from a message of another one its own past is shown', async () => {
    expect(users(await history({ before: 'c' }))).toEqual(['a', 'b'])
  })

  test('a single turn is found on any', async () => {
    const page = await history({ only: 'b' })
    expect(texts(page)).toEqual(['what b says', 'answer to b'])
    expect(page.messages[0]?.metadata.branches).toEqual(['b', 'B'])
    expect(page.next).toBeUndefined()
  })

  test('the first message has others in its place, too', async () => {
    log.turn('A', 'anew', { replaces: 'a' })
    const page = await history()
    expect(users(page)).toEqual(['A'])
    expect(page.messages[0]?.metadata.branches).toEqual(['a', 'A'])
  })
})

describe('is not there', () => {
  const notFound = { code: 'not-found', field: 'session' }

  test('a session that nobody used', async () => {
    await expect(history()).rejects.toMatchObject(notFound)
  })

  test('a session of somebody else, whether it has a record or not', async () => {
    log.turn('a')
    await expect(history({}, 'bob')).rejects.toMatchObject(notFound)
    await directory.put(record({ id: log.session, owner: 'ann' }))
    await expect(history({}, 'bob')).rejects.toMatchObject(notFound)
    expect(users(await history())).toEqual(['a'])
  })

  test('a deleted session', async () => {
    log.turn('a')
    await directory.put(record({ id: log.session, state: 'deleted' }))
    await expect(history()).rejects.toMatchObject(notFound)
  })

  test.each(['before', 'only'])('an unknown message as "%s"', async (field) => {
    log.turn('a')
    await expect(history({ [field]: 'x' })).rejects.toMatchObject({ code: 'not-found', field })
  })
})

test('what the replica that is asked does not have yet is there too', async () => {
  log.turn('a')
  log.replicaSeq = log.entries.at(-1)?.seq ?? 0
  log.turn('b')
  expect(users(await history())).toEqual(['a', 'b'])
})

test('a session that has a title and no message yet has an empty history', async () => {
  await directory.put(record({ id: log.session, messages: 0 }))
  expect(await history()).toEqual({ messages: [] })
})
