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

/** The events of the turn, which fails when the stream is read beyond its end. */
async function turnEvents(events: readonly SessionEvent[]): Promise<unknown[]> {
  async function* all(): AsyncGenerator<SessionEvent> {
    yield* events
    throw new Error('was read beyond the end of the turn')
  }
  return Array.fromAsync(turnOf(all(), 'mine'))
}

test('the stream of a turn has the events from its message to its end', async () => {
  const own = [user('mine'), started('mine'), text('an answer'), waiting, text('more'), done]
  expect(await turnEvents([...own, user('next'), started('next')])).toEqual(own)
})

test('the stream of a turn leaves out events of earlier turns', async () => {
  const before = [text('of the turn before'), done, started('second'), text('of the second'), done]
  const own = [started('mine'), text('an answer'), done]
  expect(await turnEvents([user('mine'), user('other'), ...before, ...own])).toEqual([
    user('mine'),
    ...own,
  ])
})

test('the stream of a turn leaves out later messages', async () => {
  const own = [user('mine'), started('mine'), done]
  expect(await turnEvents(own.toSpliced(2, 0, user('other')))).toEqual(own)
})

test('the stream of a turn ends with its session', async () => {
  expect(await turnEvents([user('mine'), text('of another turn'), deleted])).toEqual([
    user('mine'),
    deleted,
  ])
})
