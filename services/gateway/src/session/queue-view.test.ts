import type { LogEntry } from '@mcp-host/contracts'
import type { SessionState } from '@mcp-host/session-state'
import { applyEntry, emptySession } from '@mcp-host/session-state'
import { beforeEach, describe, expect, test } from 'vitest'
import { randomStory } from '../projection/__fixtures__/random-story.ts'
import { Story } from '../projection/__fixtures__/story.ts'
import { QueueView } from './queue-view.ts'

let story: Story
let first: LogEntry
beforeEach(() => {
  story = new Story()
  first = story.input('one', 'm1')
  story.input('two', 'm2')
  story.input('three', 'm3')
})

/** The queue after the story so far, read from a sequence on. */
function view(from = 0): QueueView {
  const queue = new QueueView()
  for (const entry of story.entries) if (entry.seq >= from) queue.entry(entry)
  return queue
}

test('messages are queued in order until their turn starts', () => {
  expect(view().waiting).toEqual(['m1', 'm2', 'm3'])
  expect(view().current).toBe('m1')
  story.claim(first)
  expect(view().waiting).toEqual(['m2', 'm3'])
  expect(view().current).toBe('m1')
  story.takeOver()
  story.done()
  expect(view().waiting).toEqual(['m2', 'm3'])
  expect(view()).toMatchObject({ current: 'm2', last: 'm1' })
})

test('at most 500 messages are queued', () => {
  for (let count = 3; count < 499; count++) story.input('more', `more-${count}`)
  expect(() => view().checkRoom()).not.toThrow()
  story.input('one too many', 'last')
  expect(() => view().checkRoom()).toThrow('Too many requests: 500 messages of this session wait')
  story.claim(first)
  expect(() => view().checkRoom()).not.toThrow()
})

test('a cancelled or replaced message leaves the queue', () => {
  story.claim(first)
  story.cancel('m2')
  expect(view().waiting).toEqual(['m3'])
  story.input('drei', 'm4', 'm3')
  expect(view().waiting).toEqual(['m4'])
  expect(view().stateOf('m2')).toBe('unfinished')
})

test('a cancel without an id affects the running turn, else the first message', () => {
  story.cancel()
  expect(view().waiting).toEqual(['m2', 'm3'])
  story.cancel()
  expect(view().waiting).toEqual(['m2', 'm3'])
  story.claimCancelled(first)
  story.cancel()
  expect(view().waiting).toEqual(['m2', 'm3'])
})

test('a message that is sent again is not queued again', () => {
  story.claim(first)
  story.done()
  story.input('one', 'm1')
  expect(view().waiting).toEqual(['m2', 'm3'])
  expect(view().stateOf('m1')).toBe('over')
  expect(view().stateOf('m9')).toBeUndefined()
})

test('the queue of a deleted session is empty', () => {
  story.delete()
  expect(view()).toMatchObject({ waiting: [], isDeleted: true })
})

test('a message of which only the repetition was read leaves the queue with the next turn', () => {
  story.claim(first)
  story.done()
  const again = story.input('one', 'm1')
  const next = story.input('four', 'm4')
  expect(view(again.seq).waiting).toEqual(['m1', 'm4'])
  story.claim(next)
  expect(view(again.seq).waiting).toEqual([])
})

describe.each(Array.from({ length: 40 }, (_, index) => index + 1))('story %i', (seed) => {
  /** The queue according to the fold of the whole log. */
  function queueOf({ inputs, turns, unfinished }: SessionState) {
    const left = Array.from(unfinished).flatMap((seq) => inputs.get(seq) ?? [])
    const running = left.find(({ seq }) => turns.has(seq))
    const waiting = left.filter(
      ({ seq, cancelledAt }) => !turns.has(seq) && cancelledAt === undefined,
    )
    return { waiting: waiting.map(({ id }) => id), current: (running ?? waiting[0])?.id }
  }

  test('the queue equals that of the fold, also when read from the newest turn on', () => {
    const { items } = randomStory(seed)
    const entries = items.flatMap((item) => (item.type === 'entry' ? [item.entry] : []))
    const state = emptySession()
    const stayed = new QueueView()
    let newest = 0
    for (const [index, entry] of entries.entries()) {
      applyEntry(state, entry)
      stayed.entry(entry)
      if (entry.kind === 'turn') newest = entry.fact.turn
      const joined = new QueueView()
      for (const each of entries.slice(0, index + 1)) if (each.seq >= newest) joined.entry(each)
      const { waiting, current } = queueOf(state)
      for (const queue of [stayed, joined]) {
        expect(queue.waiting).toEqual(waiting)
        expect(queue.current).toBe(current)
      }
    }
  })
})
