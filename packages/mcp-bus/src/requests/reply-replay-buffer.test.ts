import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { McpReply } from './serve-request.ts'
import { ReplyReplayBuffer } from './reply-replay-buffer.ts'

let sinceOutageMs: number
let sent: unknown[]
let replies: ReplyReplayBuffer

beforeEach(() => {
  vi.useFakeTimers()
  sinceOutageMs = 0
  sent = []
  replies = new ReplyReplayBuffer({ sinceOutageMs: () => sinceOutageMs })
})
afterEach(() => void vi.useRealTimers())

const keep = (id: string, body: McpReply['body'] = '{}'): void =>
  replies.keep(id, { head: { type: 'result' }, body }, (...part) => sent.push(part))

test.each([
  ['while the broker is away', 0],
  ['just after an outage of the broker', 1_000],
])('a reply %s is replayed on request for ten seconds', (_, ms) => {
  sinceOutageMs = ms
  keep('a', '{"a":1}')
  replies.send('a')
  replies.send('b')
  expect(sent).toEqual([[{ type: 'result' }, '{"a":1}']])
  vi.advanceTimersByTime(10_000)
  replies.send('a')
  expect(sent).toHaveLength(1)
})

test('a reply is not kept while the broker is up', () => {
  sinceOutageMs = Infinity
  keep('a')
  replies.send('a')
  expect(sent).toEqual([])
})

test('replies beyond the memory limit are not kept until earlier ones expire', () => {
  const large = new Uint8Array(10_000_000)
  for (const id of ['a', 'b']) keep(id, large)
  for (const id of ['a', 'b']) replies.send(id)
  expect(sent).toHaveLength(1)
  vi.advanceTimersByTime(10_000)
  keep('c', large)
  replies.send('c')
  expect(sent).toHaveLength(2)
})
