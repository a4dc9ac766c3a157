import type { ClientEvent } from '@mcp-host/client'
import { describe, expect, test } from 'vitest'
import { foldTurn } from './fold-turn.ts'
import type { Turn } from './turn.ts'
import { newTurn } from './turn.ts'

type Unplaced = ClientEvent extends infer Event
  ? Event extends unknown
    ? Omit<Event, 'id'>
    : never
  : never

/** The turn after the events, which have ids here. */
function fold(...events: readonly Unplaced[]): Turn {
  return events.reduce<Turn>(
    // Every event but progress has an id.
    (turn, event, index) => foldTurn(turn, { id: `${index}.0.-.0`, ...event } as ClientEvent),
    newTurn('m1', 'hi'),
  )
}

const started: Unplaced = { type: 'turn', payload: { state: 'started', messageId: 'm1' } }
const text = (content: string): Unplaced => ({ type: 'text', payload: { content } })
const thinking = (content: string): Unplaced => ({ type: 'thinking', payload: { content } })
const about = { callId: 'c1', server: 'files', tool: 'read' }
const call: Unplaced = {
  type: 'tool',
  payload: { state: 'call', ...about, arguments: { path: '/' } },
}
const result: Unplaced = {
  type: 'tool',
  payload: { state: 'result', ...about, outcome: 'ok', content: [], durationMs: 5 },
}
const asked = {
  id: 'q1',
  kind: 'approval' as const,
  ...about,
  message: 'May it?',
}
const question: Unplaced = {
  type: 'input',
  payload: { ...asked, state: 'required', mode: 'approval', arguments: {}, expiresAt: 9 },
}

const shown = ({ items }: Turn): string[] =>
  items.map((item) => ('text' in item ? `${item.kind} ${item.text}` : `${item.kind} ${item.id}`))

test('pieces of text are joined; other things stand between them in their order', () => {
  const turn = fold(
    started,
    thinking('a'),
    thinking('b'),
    text('c'),
    call,
    result,
    text('d'),
    text('e'),
  )
  expect(shown(turn)).toEqual(['reasoning ab', 'text c', 'tool c1', 'text de'])
  expect(turn.state).toBe('running')
})

test('a reset takes back text and thoughts since the last tool result, and says why', () => {
  const reset: Unplaced = { type: 'reset', payload: { message: 'It is written anew' } }
  const turn = fold(
    started,
    text('kept'),
    call,
    result,
    thinking('x'),
    text('lost'),
    reset,
    text('new'),
  )
  expect(shown(turn)).toEqual(['text kept', 'tool c1', 'note It is written anew', 'text new'])
  expect(shown(fold(started, text('lost'), reset))).toEqual(['note It is written anew'])
})

test.each(['The answer was interrupted and is written anew', 'The unfinished answer was lost'])(
  '"%s" is told only where text was shown that is void',
  (message) => {
    const reset: Unplaced[] = [
      { type: 'reset', payload: { message } },
      { type: 'status', payload: { state: 'processing', message } },
    ]
    expect(shown(fold(started, ...reset, text('new')))).toEqual(['text new'])
    expect(shown(fold(started, text('kept'), call, result, ...reset))).toEqual([
      'text kept',
      'tool c1',
    ])
    expect(shown(fold(started, text('lost'), ...reset, text('new')))).toEqual([
      `note ${message}`,
      'text new',
    ])
  },
)

test('a turn that begins again forgets its answer', () => {
  expect(shown(fold(started, text('old'), started, text('new')))).toEqual(['text new'])
})

test('a tool has its progress, then its result', () => {
  const progress: Unplaced = {
    type: 'tool',
    payload: { state: 'progress', ...about, progress: 1, total: 2, message: 'half' },
  }
  const running = fold(started, call, progress)
  expect(running.items).toMatchObject([{ progress: { progress: 1, total: 2, message: 'half' } }])
  expect(fold(started, call, progress, result).items).toMatchObject([
    { kind: 'tool', arguments: { path: '/' }, result: { outcome: 'ok', durationMs: 5 } },
  ])
})

test('a result without a call is shown, as of a tool that does not exist', () => {
  expect(fold(started, result).items).toMatchObject([
    { kind: 'tool', id: 'c1', result: { outcome: 'ok' } },
  ])
})

describe('a question', () => {
  test('a question is open until it is answered', () => {
    const waiting = fold(started, question, {
      type: 'turn',
      payload: { state: 'waiting', until: 9 },
    })
    expect(waiting).toMatchObject({ state: 'waiting', items: [{ kind: 'question' }] })
    expect(waiting.items[0]).not.toHaveProperty('end')
    const answered: Unplaced = {
      type: 'input',
      payload: { ...asked, state: 'answered', action: 'decline', by: 'ann' },
    }
    expect(fold(started, question, answered).items).toMatchObject([
      { end: { how: 'decline', by: 'ann' } },
    ])
  })

  test('the end of the turn ends an open question', () => {
    const done: Unplaced = { type: 'turn', payload: { state: 'done', outcome: 'cancelled' } }
    expect(fold(started, question, done)).toMatchObject({
      state: 'done',
      outcome: 'cancelled',
      items: [{ end: { how: 'void' } }],
    })
  })
})

test('usage of several models is added up; the last one answered', () => {
  const usage = [
    { provider: 'p', model: 'small', generations: 1, inputTokens: 1, outputTokens: 2, cost: 0.5 },
    { provider: 'p', model: 'large', generations: 1, inputTokens: 10, outputTokens: 20 },
  ]
  const turn = fold(started, {
    type: 'turn',
    payload: { state: 'done', outcome: 'completed', usage },
  })
  expect(turn.usage).toEqual({ inputTokens: 11, outputTokens: 22, cost: 0.5, model: 'p/large' })
})

test('notes of the host are shown once; other steps are not', () => {
  const status = (message: string, more: object = {}): Unplaced => ({
    type: 'status',
    payload: { state: 'processing', message, ...more },
  })
  const context: Unplaced = {
    type: 'context',
    payload: { how: 'cleared', message: 'shortened', tokensBefore: 2, tokensAfter: 1 },
  }
  const reset: Unplaced = { type: 'reset', payload: { message: 'again' } }
  const turn = fold(
    started,
    status('Thinking'),
    status('shortened'),
    context,
    reset,
    status('again'),
    status('B answers instead of A'),
    status('Using files.read', { tool: 'files.read' }),
    status('Done', { state: 'complete' }),
  )
  expect(shown(turn)).toEqual(['note shortened', 'note again', 'note B answers instead of A'])
})

test('notes at the end of a generation stand above its text, but below earlier calls', () => {
  const status = (message: string): Unplaced => ({
    type: 'status',
    payload: { state: 'processing', message },
  })
  const turn = fold(
    started,
    text('first'),
    call,
    result,
    thinking('x'),
    text('second'),
    status('A cannot be reached; B answers instead'),
    status('B cannot read the file c.pdf'),
    status('B stopped before its end: it was asked to'),
  )
  expect(shown(turn)).toEqual([
    'text first',
    'tool c1',
    'note A cannot be reached; B answers instead',
    'note B cannot read the file c.pdf',
    'reasoning x',
    'text second',
    'note B stopped before its end: it was asked to',
  ])
})

test('the note of a compaction stands once above the text, whichever events tell it', () => {
  const context: Unplaced = {
    type: 'context',
    payload: { how: 'cleared', message: 'shortened', tokensBefore: 2, tokensAfter: 1 },
  }
  const status: Unplaced = {
    type: 'status',
    payload: { state: 'processing', message: 'shortened' },
  }
  for (const events of [[status, context], [context, status], [context]]) {
    expect(shown(fold(started, text('so'), ...events))).toEqual(['note shortened', 'text so'])
  }
})

test('items keep ids of their own after a reset', () => {
  const note = (message: string): Unplaced => ({
    type: 'context',
    payload: { how: 'cleared', tokensBefore: 2, tokensAfter: 1, message },
  })
  const reset: Unplaced = { type: 'reset', payload: { message: 'again' } }
  const { items } = fold(started, text('a'), thinking('b'), note('one'), reset, note('two'))
  expect(new Set(items.map(({ id }) => id)).size).toBe(3)
})
