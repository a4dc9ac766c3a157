import type { Down } from '@mcp-host/contracts'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Story } from '../projection/__fixtures__/story.ts'
import { QueueNotifier } from './queue-notifier.ts'

let story: Story
let frames: Down[]
let notifier: QueueNotifier
/** How much of the story it was given. */
let had: number
beforeEach(() => {
  had = 0
  vi.useFakeTimers()
  story = new Story()
  frames = []
  notifier = new QueueNotifier((frame) => void frames.push(frame))
})
afterEach(() => {
  notifier[Symbol.dispose]()
  vi.useRealTimers()
})

/** Gives it what the story has got since. */
function catchUp(): void {
  for (const item of story.items.slice(had)) notifier.item(item)
  had = story.items.length
}

/** The messages of each frame, as they were told. */
const told = (): string[] =>
  frames.map((frame) =>
    frame.type === 'queue'
      ? frame.payload.messages.map(({ messageId, position }) => `${position} ${messageId}`).join()
      : frame.type,
  )

test('who joins is told at once of what waits, not of how it came to that', () => {
  story.claim(story.input('one', 'm1'))
  story.input('two', 'm2')
  story.input('three', 'm3')
  catchUp()
  // However long that takes.
  vi.runAllTimers()
  expect(told()).toEqual([])
  notifier.item({ type: 'caught-up' })
  expect(told()).toEqual(['1 m2,2 m3'])
})

test('who joins is told nothing where nothing waits', () => {
  notifier.item({ type: 'caught-up' })
  vi.runAllTimers()
  expect(told()).toEqual([])
})

test('changes are told together, the last state always', () => {
  notifier.item({ type: 'caught-up' })
  const first = story.input('one', 'm1')
  story.claim(first)
  story.input('two', 'm2')
  catchUp()
  story.input('three', 'm3')
  catchUp()
  vi.advanceTimersByTime(100)
  expect(told()).toEqual(['1 m2,2 m3'])
  story.cancel('m2')
  catchUp()
  story.cancel('m3')
  catchUp()
  vi.advanceTimersByTime(100)
  expect(told()).toEqual(['1 m2,2 m3', ''])
})

test('a message whose turn begins at once is not told of', () => {
  notifier.item({ type: 'caught-up' })
  const first = story.input('one', 'm1')
  catchUp()
  story.claim(first)
  catchUp()
  vi.runAllTimers()
  expect(told()).toEqual([])
})

test('nothing is told once the socket is closed', () => {
  notifier.item({ type: 'caught-up' })
  story.input('one', 'm1')
  catchUp()
  notifier[Symbol.dispose]()
  vi.runAllTimers()
  expect(told()).toEqual([])
})
