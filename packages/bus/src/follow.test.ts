import type { LogEntry, TextDelta, ToolCallId, ToolProgress } from '@mcp-host/contracts'
import { generationId, newSessionId } from '@mcp-host/contracts'
import { expect, onTestFinished, test } from 'vitest'
import { envelope, userMessage } from '../test/facts.ts'
import type { FollowItem } from './bus.ts'
import { followSession } from './follow.ts'
import type { SessionSource } from './session-hub.ts'
import { SessionHub } from './session-hub.ts'

const session = newSessionId()
const entry = (seq: number, text = `${seq}`): LogEntry => ({
  ...userMessage(text),
  session,
  envelope,
  seq,
  time: 0,
})

/** A source that stores entries and repeats them to its listener. */
function fakeSource() {
  const log: LogEntry[] = []
  let onEntry: (entry: LogEntry, previous: number) => void = () => {}
  let onDelta: (delta: TextDelta) => void = () => {}
  let onProgress: (progress: ToolProgress) => void = () => {}
  const source: SessionSource = {
    listen: (...callbacks) => {
      ;[onEntry, onDelta, onProgress] = callbacks
      return { [Symbol.dispose]: () => {} }
    },
    read: async (after) => log.filter(({ seq }) => seq > after),
    last: async () => log.at(-1) ?? null,
    warn: () => {},
  }
  /** The sizes of the pages that were read. */
  const pages: number[] = []
  return {
    source,
    pages,
    read: async (after: number, { limit }: { limit: number }): Promise<LogEntry[]> => {
      const page = log.filter(({ seq }) => seq > after).slice(0, limit)
      pages.push(page.length)
      return page
    },
    purge: () => void log.splice(0),
    store: (seq: number, text?: string): void => {
      const previous = log.at(-1)?.seq ?? 0
      log.push(entry(seq, text))
      onEntry(entry(seq, text), previous)
    },
    report: (progress: number, message: string): void =>
      onProgress({ call: 'c' as ToolCallId, server: 's', tool: 't', progress, message }),
    write: (offset: number, text = 'x'): void =>
      onDelta({ generation: generationId(session, 0), offset, kind: 'text', text }),
  }
}

type Fake = Pick<ReturnType<typeof fakeSource>, 'write' | 'report' | 'store'>

/** Follows a session with an empty log, as far as its end. */
async function startFollowing() {
  const fake = fakeSource()
  const hub = new SessionHub(fake.source)
  onTestFinished(() => hub[Symbol.dispose]())
  const stop = new AbortController()
  const items = followSession(hub, fake.read, { after: 0, signal: stop.signal })
  expect((await items.next()).value).toEqual({ type: 'caught-up' })
  return { ...fake, hub, stop, items }
}

test('a reader that pauses uses a bounded queue and misses no entry', async () => {
  const { items, store, write } = await startFollowing()
  for (let index = 1; index <= 5_000; index++) {
    write(index)
    if (index % 100 === 0) store(index)
  }
  const received: FollowItem[] = []
  for await (const item of items) {
    received.push(item)
    if (item.type === 'entry' && item.entry.seq === 5_000) break
  }
  const seqs = received.flatMap((item) => (item.type === 'entry' ? [item.entry.seq] : []))
  expect(seqs).toEqual(Array.from({ length: 50 }, (_, index) => (index + 1) * 100))
  expect(received.filter(({ type }) => type === 'delta').length).toBeLessThanOrEqual(2_000)
})

const large = 'x'.repeat(100_000)
test.each<[string, (fake: Fake, index: number) => void]>([
  ['text', ({ write }, index) => write(index * large.length, large)],
  ['progress', ({ report }, index) => report(index, large)],
  ['entries', ({ store }, index) => store(index + 1, large)],
])('the queue of a reader that pauses is bounded in bytes: %s', async (_, put) => {
  const { items, ...fake } = await startFollowing()
  for (let index = 0; index < 100; index++) put(fake, index)
  fake.pages.length = 0
  fake.store(101)
  let length = 0
  for await (const item of items) {
    // Entries that are read from the log come in pages, which are no queue.
    if (item.type === 'entry' && item.entry.seq === 101) break
    if (fake.pages.length === 0) length += JSON.stringify(item).length
  }
  expect(length).toBeLessThan(1_200_000)
  expect(fake.pages.length).toBeGreaterThan(0)
})

test('a reader gets no more items once its signal is aborted', async () => {
  const { hub, items, stop, store } = await startFollowing()
  for (let seq = 1; seq <= 10; seq++) store(seq)
  await items.next()
  stop.abort()
  expect(await items.next()).toEqual({ done: true, value: undefined })
  expect(hub.isUnused).toBe(true)
})

test('a waiting reader ends as soon as its signal is aborted', async () => {
  const { items, stop } = await startFollowing()
  const waiting = items.next()
  stop.abort()
  expect(await waiting).toEqual({ done: true, value: undefined })
  // Without this limit, the next check of the log would wake the reader, too.
}, 1_000)

test('a reader that missed the deletion of its session gets a not-found error', async () => {
  const { hub, items, purge, store } = await startFollowing()
  store(1)
  await items.next()
  purge()
  hub.check()
  await expect(items.next()).rejects.toMatchObject({ code: 'not-found' })
  expect(hub.isUnused).toBe(true)
})

test('a long log is read page by page', async () => {
  const { source, read, store, pages } = fakeSource()
  for (let seq = 1; seq <= 250; seq++) store(seq)
  using hub = new SessionHub(source)
  const options = { after: 0, signal: new AbortController().signal }
  const seqs: number[] = []
  for await (const item of followSession(hub, read, options)) {
    if (item.type !== 'entry') break
    seqs.push(item.entry.seq)
  }
  expect(seqs).toEqual(Array.from({ length: 250 }, (_, index) => index + 1))
  expect(pages).toEqual([100, 100, 50])
})
