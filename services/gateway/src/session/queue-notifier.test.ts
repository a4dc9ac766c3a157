import type { Down } from '@mcp-host/contracts'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Story } from '../projection/__fixtures__/story.ts'
import { QueueNotifier } from './queue-notifier.ts'

let story: Story
let frames: Down[]
let notifier: QueueNotifier
/** Number of items of the story that the notifier has received. */
let receivedCount: number
beforeEach(() => {
  receivedCount = 0
  vi.useFakeTimers()
  story = new Story()
  frames = []
  notifier = new QueueNotifier((frame) => void frames.push(frame))
})
afterEach(() => {
  notifier[Symbol.dispose]()
  vi.useRealTimers()
})

/** Passes the further items of the story to the notifier. */
function catchUp(): void {
  for (const item of story.items.slice(receivedCount)) notifier.item(item)
  receivedCount = story.items.length
}

/** The messages of each frame. */
const sent = (): string[] =>
  frames.map((frame) =>
    frame.type === 'queue'
      ? frame.payload.messages.map(({ messageId, position }) => `${position} ${messageId}`).join()
      : frame.type,
  )

test('a socket that joins is sent the queue once it has caught up', () => {
  story.claim(story.input('one', 'm1'))
  story.input('two', 'm2')
  story.input('three', 'm3')
  catchUp()
  // No timer sends the queue before.
  vi.runAllTimers()
  expect(sent()).toEqual([])
  notifier.item({ type: 'caught-up' })
  expect(sent()).toEqual(['1 m2,2 m3'])
})

test('a socket that joins is sent nothing when the queue is empty', () => {
  notifier.item({ type: 'caught-up' })
  vi.runAllTimers()
  expect(sent()).toEqual([])
})

test('changes of the queue are coalesced, and the last state is sent', () => {
  notifier.item({ type: 'caught-up' })
  const first = story.input('one', 'm1')
  story.claim(first)
  story.input('two', 'm2')
  catchUp()
  story.input('three', 'm3')
  catchUp()
  vi.advanceTimersByTime(100)
  expect(sent()).toEqual(['1 m2,2 m3'])
  story.cancel('m2')
  catchUp()
  story.cancel('m3')
  catchUp()
  vi.advanceTimersByTime(100)
  expect(sent()).toEqual(['1 m2,2 m3', ''])
})

test('a message whose turn starts at once is not sent as queued', () => {
  notifier.item({ type: 'caught-up' })
  const first = story.input('one', 'm1')
  catchUp()
  story.claim(first)
  catchUp()
  vi.runAllTimers()
  expect(sent()).toEqual([])
})

test('a closed socket is sent nothing', () => {
  notifier.item({ type: 'caught-up' })
  story.input('one', 'm1')
  catchUp()
  notifier[Symbol.dispose]()
  vi.runAllTimers()
  expect(sent()).toEqual([])
})
