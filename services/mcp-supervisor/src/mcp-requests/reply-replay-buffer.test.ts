import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { McpReply } from './forward-request.ts'
import { ReplyReplayBuffer } from './reply-replay-buffer.ts'

let sinceOutageMs: number
let sent: unknown[]
let answers: ReplyReplayBuffer

beforeEach(() => {
  vi.useFakeTimers()
  sinceOutageMs = 0
  sent = []
  answers = new ReplyReplayBuffer({ sinceOutageMs: () => sinceOutageMs })
})
afterEach(() => void vi.useRealTimers())

const keep = (id: string, body: McpReply['body'] = '{}'): void =>
  answers.keep(id, { head: { type: 'result' }, body }, (...part) => sent.push(part))

test.each([
  ['while the broker is away', 0],
  ['when it has just come back', 1_000],
])('what is answered %s is said again to who asks for it, for a while', (_, ms) => {
  sinceOutageMs = ms
  keep('a', '{"a":1}')
  answers.send('a')
  answers.send('b')
  expect(sent).toEqual([[{ type: 'result' }, '{"a":1}']])
  vi.advanceTimersByTime(10_000)
  answers.send('a')
  expect(sent).toHaveLength(1)
})

test('what the broker has passed on is not kept', () => {
  sinceOutageMs = Infinity
  keep('a')
  answers.send('a')
  expect(sent).toEqual([])
})

test('no more is kept than there is room for, and the room comes back', () => {
  const large = new Uint8Array(10_000_000)
  for (const id of ['a', 'b']) keep(id, large)
  for (const id of ['a', 'b']) answers.send(id)
  expect(sent).toHaveLength(1)
  vi.advanceTimersByTime(10_000)
  keep('c', large)
  answers.send('c')
  expect(sent).toHaveLength(2)
})
