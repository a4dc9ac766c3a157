import type { ClientEvent, Message } from '@mcp-host/client'
import { beforeEach, describe, expect, test } from 'vitest'
import { Thread } from './thread.ts'
import { newTurn } from './turn.ts'

const id = '1.0.-.0'
const user = (messageId: string, place: object = {}): ClientEvent => ({
  type: 'user',
  id,
  payload: { messageId, text: messageId.toUpperCase(), ...place },
})
const started = (messageId: string): ClientEvent => ({
  type: 'turn',
  id,
  payload: { state: 'started', messageId },
})
const done = (messageId: string): ClientEvent => ({
  type: 'turn',
  id,
  payload: { state: 'done', messageId, outcome: 'completed' },
})
const text = (content: string): ClientEvent => ({ type: 'text', id, payload: { content } })
const said = (
  messageId: string,
  state: 'done' | 'running' | 'queued',
  more: object = {},
): Message => ({
  id: messageId,
  role: 'user',
  createdAt: 0,
  content: messageId.toUpperCase(),
  metadata: { messageId, state, ...more },
})
const answered = (messageId: string, content: string): Message => ({
  id: `${messageId}-a`,
  role: 'assistant',
  createdAt: 0,
  content,
  metadata: { messageId },
})

/** The turns as `id: texts`. */
const shown = (thread: Thread): string[] =>
  thread.turns.get().map((each) => {
    const turn = each.get()
    const texts = turn.items.map((item) => ('text' in item ? item.text : item.kind))
    return `${turn.id}: ${texts.join(' | ')}`
  })

test('the history has ended turns; the running one comes from its beginning', () => {
  const thread = new Thread()
  thread.load([
    said('m1', 'done'),
    answered('m1', 'one'),
    said('m2', 'running'),
    answered('m2', 'half'),
  ])
  expect(shown(thread)).toEqual(['m1: one', 'm2: '])
  thread.take([text('of an ended turn'), started('m2'), text('whole'), done('m2')])
  expect(shown(thread)).toEqual(['m1: one', 'm2: whole'])
})

test('a turn that ended while the history was read is not shown twice', () => {
  const thread = new Thread()
  thread.load([said('m1', 'done'), answered('m1', 'one')])
  thread.take([started('m1'), text('one'), done('m1')])
  expect(shown(thread)).toEqual(['m1: one'])
})

test('an unsent message stays last, and becomes that of the host when it returns', () => {
  const thread = new Thread()
  thread.addUnsent(newTurn('m2', 'M2'))
  thread.load([said('m1', 'done'), answered('m1', 'one')])
  expect(shown(thread)).toEqual(['m1: one', 'm2: '])
  expect(thread.turns.get()[1]?.get().state).toBe('unsent')
  thread.take([user('m2'), started('m2'), text('two')])
  expect(shown(thread)).toEqual(['m1: one', 'm2: two'])
})

test('a refused message says why, unless it was sent meanwhile', () => {
  const thread = new Thread()
  thread.addUnsent(newTurn('m1', 'M1'))
  thread.refuse('m1', 'too long')
  expect(thread.turns.get()[0]?.get()).toMatchObject({ state: 'refused', error: 'too long' })
  thread.take([user('m1'), started('m1')])
  thread.refuse('m1', 'too late')
  expect(thread.turns.get()[0]?.get()).toMatchObject({ state: 'running', error: undefined })
})

test('queued messages have their positions until they begin', () => {
  const thread = new Thread()
  const queue = (...ids: string[]): ClientEvent => ({
    type: 'queue',
    payload: { messages: ids.map((messageId, index) => ({ messageId, position: index + 1 })) },
  })
  thread.take([user('m1'), started('m1'), user('m2'), user('m3'), queue('m2', 'm3')])
  const positions = () => thread.turns.get().map((each) => each.get().position)
  expect(positions()).toEqual([undefined, 1, 2])
  thread.take([done('m1'), started('m2'), queue('m3')])
  expect(positions()).toEqual([undefined, undefined, 1])
})

test('a message that leaves the queue without a turn was taken back', () => {
  const thread = new Thread()
  const queue = (...ids: string[]): ClientEvent => ({
    type: 'queue',
    payload: { messages: ids.map((messageId, index) => ({ messageId, position: index + 1 })) },
  })
  const states = () => thread.turns.get().map((each) => each.get().state)
  thread.take([user('m1'), started('m1'), user('m2'), user('m3'), queue('m2', 'm3')])
  thread.take([queue('m3')])
  expect(states()).toEqual(['running', 'withdrawn', 'queued'])
  thread.take([done('m1'), started('m3'), queue()])
  expect(states()).toEqual(['done', 'withdrawn', 'running'])
  expect(thread.unanswered).toBe('m3')
  thread.take([done('m3')])
  expect(thread.unanswered).toBe(undefined)
})

describe('branches', () => {
  const versions = (thread: Thread): (readonly string[])[] =>
    thread.turns.get().map((each) => each.get().branches)
  const on = (branches: string[]) => ({ branches })
  let thread: Thread
  beforeEach(() => {
    thread = new Thread()
    thread.load([said('m1', 'done'), answered('m1', 'one'), said('m2', 'done')])
  })

  test('a version that another tab begins stands in the place of the message and those after it', () => {
    expect(thread.take([user('m3', { replaces: 'm1' }), started('m3'), text('three')])).toBe(
      undefined,
    )
    expect(shown(thread)).toEqual(['m3: three'])
    expect(versions(thread)).toEqual([['m1', 'm3']])
    thread.take([user('m4', { replaces: 'm3' })])
    expect(versions(thread)).toEqual([['m1', 'm3', 'm4']])
  })

  test('a version of this tab is the same before and after the host has it', () => {
    thread.addUnsent(newTurn('m3', 'M3', { replaces: 'm2' }))
    expect(versions(thread)).toEqual([['m1'], ['m2', 'm3']])
    expect(thread.take([user('m3', { replaces: 'm2' })])).toBe(undefined)
    expect(versions(thread)).toEqual([['m1'], ['m2', 'm3']])
  })

  test('a message of another branch is told, and shown with its branch; its answer is not lost', () => {
    thread.take([user('m3', { replaces: 'm1' })])
    const events = [user('m4', { follows: 'm2' }), started('m4'), text('half')]
    expect(thread.take(events)).toBe('m4')
    expect(shown(thread)).toEqual(['m3: '])
    thread.show([said('m1', 'done', on(['m1', 'm3'])), said('m2', 'done'), said('m4', 'running')])
    thread.take([text(' and half')])
    expect(shown(thread)).toEqual(['m1: one', 'm2: ', 'm4: half and half'])
    expect(versions(thread)).toEqual([['m1', 'm3'], ['m2'], ['m4']])
  })

  test('a message of another tab without a place follows the newest one, also where another is shown', () => {
    thread.take([user('m3', { replaces: 'm1' })])
    thread.show([said('m1', 'done', on(['m1', 'm3'])), said('m2', 'done')])
    expect(thread.take([user('m4')])).toBe('m4')
    expect(shown(thread)).toEqual(['m1: one', 'm2: '])
  })

  test('a message on a branch that is not the newest says what it follows, until the host has it', () => {
    expect(thread.end).toBe(undefined)
    thread.take([user('m3', { replaces: 'm1' })])
    thread.show([said('m1', 'done', on(['m1', 'm3'])), said('m2', 'done')])
    expect(thread.end).toBe('m2')
    thread.addUnsent(newTurn('m4', 'M4', { follows: 'm2' }))
    // If the host refuses that one, the next one must not go to another branch.
    expect(thread.end).toBe('m4')
    thread.take([user('m4', { follows: 'm2' })])
    expect(thread.end).toBe(undefined)
    expect(shown(thread)).toEqual(['m1: one', 'm2: ', 'm4: '])
  })

  test('an unsent message stays in view when another tab begins a version, and follows that', () => {
    thread.addUnsent(newTurn('m4', 'M4'))
    thread.take([user('m3', { replaces: 'm2' })])
    expect(shown(thread)).toEqual(['m1: one', 'm3: ', 'm4: '])
    thread.take([user('m4'), started('m4'), text('four')])
    expect(shown(thread)).toEqual(['m1: one', 'm3: ', 'm4: four'])
  })

  test('an unsent message that the host has on another branch is told with that branch', () => {
    thread.addUnsent(newTurn('m5', 'M5'))
    const events = [user('m3', { replaces: 'm1' }), user('m4', { follows: 'm2' }), user('m5')]
    expect(thread.take(events)).toBe('m5')
    thread.show([said('m1', 'done', on(['m1', 'm3'])), said('m2', 'done'), said('m4', 'done')])
    expect(shown(thread)).toEqual(['m1: one', 'm2: ', 'm4: '])
    thread.show([said('m1', 'done'), said('m2', 'done'), said('m4', 'done'), said('m5', 'queued')])
    expect(shown(thread)).toEqual(['m1: one', 'm2: ', 'm4: ', 'm5: '])
  })

  test('a message that is elsewhere is told although this tab has sent one meanwhile', () => {
    thread.addUnsent(newTurn('m4', 'M4', { replaces: 'm2' }))
    thread.take([user('m3', { replaces: 'm1' })])
    expect(shown(thread)).toEqual(['m3: ', 'm4: '])
    expect(thread.take([user('m6', { follows: 'm2' }), user('m4', { replaces: 'm2' })])).toBe('m6')
  })

  test('a message that a branch has brought before its event is the newest with its event', () => {
    thread.show([said('m1', 'done'), said('m2', 'done'), said('m3', 'queued')])
    thread.take([user('m3')])
    expect(thread.take([user('m4')])).toBe(undefined)
    expect(shown(thread)).toEqual(['m1: one', 'm2: ', 'm3: ', 'm4: '])
    expect(versions(thread)).toEqual([['m1'], ['m2'], ['m3'], ['m4']])
  })

  test('a message of another tab comes before what this tab has not sent yet', () => {
    thread.addUnsent(newTurn('m4', 'M4'))
    thread.take([user('m3')])
    expect(shown(thread)).toEqual(['m1: one', 'm2: ', 'm3: ', 'm4: '])
  })

  test('a version of this tab that is not sent yet takes the place of one of another tab', () => {
    thread.addUnsent(newTurn('m4', 'M4', { replaces: 'm1' }))
    thread.show([said('m3', 'done', { branches: ['m1', 'm3'] })])
    expect(shown(thread)).toEqual(['m4: '])
    expect(versions(thread)).toEqual([['m1', 'm3', 'm4']])
    thread.take([user('m4', { replaces: 'm1' })])
    expect(versions(thread)).toEqual([['m1', 'm3', 'm4']])
  })

  test('a version that the history has already is counted once', () => {
    thread.addUnsent(newTurn('m4', 'M4', { replaces: 'm1' }))
    thread.show([said('m1', 'done', { branches: ['m1', 'm4'] })])
    expect(versions(thread)).toEqual([['m1', 'm4']])
  })

  test('a refused version gives its place back, and can be taken away', () => {
    thread.addUnsent(newTurn('m3', 'M3', { replaces: 'm1' }))
    thread.refuse('m3', 'too long')
    thread.show([said('m1', 'done'), said('m2', 'done')])
    expect(shown(thread)).toEqual(['m1: one', 'm2: ', 'm3: '])
    expect(versions(thread)).toEqual([['m1'], ['m2'], ['m3']])
    expect(thread.end).toBe(undefined)
    thread.discard('m3')
    expect(shown(thread)).toEqual(['m1: one', 'm2: '])
  })
})

test('a history that is loaded again keeps the beginning of a running answer', () => {
  const thread = new Thread()
  thread.load([said('m1', 'running')])
  thread.take([started('m1'), text('one ')])
  thread.load([said('m1', 'running')])
  thread.take([text('two')])
  expect(shown(thread)).toEqual(['m1: one two'])
})

test('a session answers, waits while a question of it is open, and is idle once all is answered', () => {
  const thread = new Thread()
  thread.load([])
  expect(thread.activity).toBeUndefined()
  thread.take([user('m1'), started('m1')])
  expect(thread.activity).toBe('running')
  const about = { id: 'q1', callId: 'c1', server: 's', tool: 't', kind: 'elicitation' as const }
  const question = { ...about, message: 'Which?', mode: 'form' as const, expiresAt: 9 }
  thread.take([{ type: 'input', id, payload: { ...question, state: 'required' } }])
  expect(thread.activity).toBe('waiting')
  const answer = { ...question, state: 'answered' as const, action: 'accept' as const, by: 'ann' }
  thread.take([{ type: 'input', id, payload: answer }])
  expect(thread.activity).toBe('running')
  thread.take([done('m1')])
  expect(thread.activity).toBeUndefined()
})
