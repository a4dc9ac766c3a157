// A client that reconnects at any gateway and any time gets the same stream as one that stayed connected.
import type { Bus, FollowItem } from '@mcp-host/bus'
import type { Cursor, GenerationId, LogEntry, SessionEvent, SessionId } from '@mcp-host/contracts'
import {
  BusError,
  cursorAfter,
  generationFence,
  newEnvelope,
  parseCursor,
} from '@mcp-host/contracts'
import { beforeEach, describe, expect, test } from 'vitest'
import type { RandomStory } from '../projection/__fixtures__/random-story.ts'
import { randomStory } from '../projection/__fixtures__/random-story.ts'
import { SESSION, Story } from '../projection/__fixtures__/story.ts'
import { followSession, newestTurn } from './follow-session.ts'

interface ReceivedEvent {
  readonly event: SessionEvent
  /** Number of the items of the story that had happened by then. */
  readonly time: number
}

/** Follows a story from a cursor on, starting after its first `now` items have happened. */
async function follow(
  { items, lost }: Pick<RandomStory, 'items' | 'lost'>,
  start: Cursor,
  now: number,
  readsAll = false,
): Promise<ReceivedEvent[]> {
  let time = now
  async function* itemsAfter(
    _: SessionId,
    { after }: { after: number },
  ): AsyncGenerator<FollowItem> {
    for (const item of items.slice(0, now)) {
      if (item.type === 'entry' && item.entry.seq > after) yield item
    }
    yield { type: 'caught-up' }
    for (const item of items.slice(now)) {
      time++
      if (!lost.has(item)) yield item
    }
  }
  /** The answer of the worker with all its text, until its result is in the log. */
  const snapshot = async (_: unknown, { generation }: { generation: string }) => {
    const past = items.slice(0, time)
    const isOver = past.some(
      (item) =>
        item.type === 'entry' &&
        item.entry.kind === 'generation' &&
        item.entry.fact.generation === generation,
    )
    if (isOver) throw new BusError('unavailable', 'nobody answers')
    const deltas = past.flatMap((item) => (item.type === 'delta' ? [item.delta] : []))
    return { deltas: deltas.filter((delta) => delta.generation === generation) }
  }
  // followSession uses only these members.
  const bus = { sessions: { follow: itemsAfter }, call: snapshot } as unknown as Bus
  const watched: FollowItem[] = []
  const options = {
    envelope: newEnvelope('local'),
    signal: AbortSignal.any([]),
    access: { check: () => undefined },
    ...(readsAll ? { watch: { after: 0, item: (item: FollowItem) => watched.push(item) } } : {}),
  }
  const received: ReceivedEvent[] = []
  for await (const event of followSession(bus, SESSION, start, options)) {
    if (!('id' in event)) throw new Error('a story has no progress of tools')
    received.push({ event, time })
  }
  if (readsAll) expect(sequences(watched)).toEqual(sequences(items))
  return received
}

function sequences(items: readonly FollowItem[]): number[] {
  return items.flatMap((item) => (item.type === 'entry' ? [item.entry.seq] : []))
}

/** The lines that a client shows at the end, without text that was reset. */
function shown(events: readonly SessionEvent[]): string[] {
  const kept = { text: '', thinking: '' }
  const latest = { text: '', thinking: '' }
  const lines: string[] = []
  const users: string[] = []
  const keep = (): void => {
    kept.text += latest.text
    kept.thinking += latest.thinking
  }
  const forget = (): void => void Object.assign(latest, { text: '', thinking: '' })
  for (const { type, payload } of events) {
    if (type === 'text' || type === 'thinking') latest[type] += payload.content
    // A message may be stored before, after or between the text of another's answer.
    else if (type === 'user') users.push(JSON.stringify(payload))
    else {
      const isResult = type === 'tool' && payload.state === 'result'
      const isMark = isResult || (type === 'turn' && payload.state === 'started')
      if (isMark) keep()
      if (isMark || type === 'reset') forget()
      lines.push(`${kept.text.length} ${kept.thinking.length} ${type} ${JSON.stringify(payload)}`)
    }
  }
  keep()
  return [kept.text, kept.thinking, ...lines, ...users]
}

function positionOf({ id }: SessionEvent): [number, number, number] {
  const { seq, part, offset } = parseCursor(id) ?? cursorAfter(-1)
  return [seq, part, offset]
}

function isAfter(one: SessionEvent, other: SessionEvent): boolean {
  const [from, to] = [positionOf(one), positionOf(other)]
  const first = from.findIndex((each, index) => each !== to[index])
  return first >= 0 && (from[first] ?? 0) > (to[first] ?? 0)
}

describe('missed text of a running generation', () => {
  let story: Story
  let generation: GenerationId
  beforeEach(() => {
    story = new Story()
    generation = story.claim(story.input('hello'))
    for (const [index, text] of ['ab', 'cd', 'ef'].entries()) {
      story.delta(generation, 2 * index, text)
    }
  })

  async function textSince(start: Cursor, now: number, lost: number[] = []): Promise<string> {
    const { items } = story
    const received = await follow(
      { items, lost: new Set(items.filter((_, index) => lost.includes(index))) },
      start,
      now,
    )
    return shown(received.map(({ event }) => event))[0] ?? ''
  }

  test('a lost delta is fetched from the worker', async () => {
    expect(await textSince(cursorAfter(0), 0, [3])).toBe('abcdef')
  })

  test('the rest of a text is fetched from the worker at a reconnect', async () => {
    const [, claim] = story.entries
    const cursor = { seq: claim?.seq ?? 0, part: 2, fence: generationFence(generation), offset: 3 }
    expect(await textSince(cursor, story.items.length)).toBe('def')
  })

  test('a delta that arrived before the start of its generation is fetched from the worker', async () => {
    story.items.splice(1, 2, ...story.items.slice(1, 3).toReversed())
    story.items.splice(3)
    expect(await textSince(cursorAfter(0), 0)).toBe('ab')
  })
})

test('a session ends its stream', async () => {
  const story = new Story()
  const input = story.input('hello')
  story.claim(input)
  story.delete()
  story.done('cancelled')
  const received = await follow({ items: story.items, lost: new Set() }, cursorAfter(0), 0)
  expect(received.at(-1)?.event).toMatchObject({ type: 'session', payload: { state: 'deleted' } })
})

describe('newest turns', () => {
  let story: Story
  let input: LogEntry
  beforeEach(() => {
    story = new Story()
    input = story.input('hello')
    story.claim(input)
  })

  /** The newest turn of the story so far. */
  async function find(last = story.entries.findLast(({ kind }) => kind === 'turn')) {
    const sessions = { read: async () => story.entries }
    // newestTurn uses only this method.
    const bus = { sessions } as unknown as Bus
    return await newestTurn(bus, SESSION, { seq: 99, turnEvent: last })
  }

  test('the newest turn starts before its message while it runs, and after its end when it is done', async () => {
    const before = input.seq - 1
    expect(await find()).toMatchObject({ before, cursor: cursorAfter(before) })
    const done = story.done()
    expect(await find()).toEqual({ before, cursor: cursorAfter(done.seq) })
  })

  test('the newest turn is found although its last event cannot be read', async () => {
    const before = input.seq - 1
    const last = story.unreadable('turn')
    expect(await find(last)).toEqual({ before, cursor: cursorAfter(before) })
  })

  test('a session without turns has its newest turn at the beginning', async () => {
    story = new Story()
    expect(await find()).toEqual({ before: 0, cursor: cursorAfter(0) })
  })
})

const seeds = Array.from({ length: 60 }, (_, index) => index + 1)

test.each(seeds)('story %i is received whole and in order without a reconnect', async (seed) => {
  const story = randomStory(seed)
  const events = (await follow(story, cursorAfter(0), 0)).map(({ event }) => event)
  expect(shown(events).slice(0, 2)).toEqual([story.text, story.thinking])
  for (const [index, event] of events.entries()) {
    const next = events[index + 1]
    if (next !== undefined) expect(isAfter(next, event), `${event.id} → ${next.id}`).toBe(true)
  }
})

test.each(seeds)(
  'story %i is received equally after a reconnect with any of its ids',
  async (seed) => {
    const story = randomStory(seed)
    const whole = await follow(story, cursorAfter(0), 0)
    const expected = shown(whole.map(({ event }) => event))
    for (const [index, { event, time }] of whole.entries()) {
      const before = whole.slice(0, index + 1).map((each) => each.event)
      const cursor = parseCursor(event.id) ?? cursorAfter(-1)
      // A reconnect at once, later, and after the end of the story.
      const times = [time, Math.floor((time + story.items.length) / 2), story.items.length]
      for (const now of times) {
        // Half of the reconnects read more of the log than they need.
        const readsAll = (index + now) % 2 === 0
        const rest = (await follow(story, cursor, now, readsAll)).map((each) => each.event)
        expect(shown([...before, ...rest]), `${event.id} at ${now}`).toEqual(expected)
        const ids = [...before, ...rest].map(({ id }) => id)
        expect(new Set(ids).size, `ids after ${event.id} at ${now}`).toBe(ids.length)
      }
    }
  },
)
