import type { SessionEvent } from '@mcp-host/contracts'
import { expect, test } from 'vitest'
import { turnOf } from './sse-turn.ts'

const user = (messageId: string): SessionEvent => ({
  type: 'user',
  id: '',
  payload: { messageId, text: '' },
})
const started = (messageId: string): SessionEvent => ({
  type: 'turn',
  id: '',
  payload: { state: 'started', messageId },
})
const text = (content: string): SessionEvent => ({ type: 'text', id: '', payload: { content } })
const waiting: SessionEvent = { type: 'turn', id: '', payload: { state: 'waiting', until: 1 } }
const done: SessionEvent = {
  type: 'turn',
  id: '',
  payload: { state: 'done', outcome: 'completed' },
}
const deleted: SessionEvent = { type: 'session', id: '', payload: { state: 'deleted' } }

/** What is given of a stream, and whether it was left before its end. */
async function given(events: readonly SessionEvent[]): Promise<unknown[]> {
  async function* all(): AsyncGenerator<SessionEvent> {
    yield* events
    throw new Error('was read beyond the end of the turn')
  }
  return Array.fromAsync(turnOf(all(), 'mine'))
}

test('a turn is given from its message to its end, and no further', async () => {
  const own = [user('mine'), started('mine'), text('an answer'), waiting, text('more'), done]
  expect(await given([...own, user('next'), started('next')])).toEqual(own)
})

test('what belongs to the turns before it is left out', async () => {
  const before = [text('of the turn before'), done, started('second'), text('of the second'), done]
  const own = [started('mine'), text('an answer'), done]
  expect(await given([user('mine'), user('other'), ...before, ...own])).toEqual([
    user('mine'),
    ...own,
  ])
})

test('messages that come while it runs are left out', async () => {
  const own = [user('mine'), started('mine'), done]
  expect(await given(own.toSpliced(2, 0, user('other')))).toEqual(own)
})

test('it ends with its session', async () => {
  expect(await given([user('mine'), text('of another turn'), deleted])).toEqual([
    user('mine'),
    deleted,
  ])
})
