// Both streams of a session say the same: from Server-Sent Events a client knows all that a socket's frames tell.
import type { Cursor, SessionEvent } from '@mcp-host/contracts'
import { cursorAfter } from '@mcp-host/contracts'
import { describe, expect, test } from 'vitest'
import { randomStory } from './__fixtures__/random-story.ts'
import type { Story } from './__fixtures__/story.ts'
import { SessionReader } from './session-reader.ts'
import { SseEvent } from './sse-event.ts'
import type { SseFrame } from './sse.ts'
import { parseFrameId, sseFrames, toSse } from './sse.ts'

/** What an event tells, however it is told: `[kind, …]`. */
type Meaning = readonly [string, unknown]

function ofSocket(event: SessionEvent): Meaning[] {
  switch (event.type) {
    case 'text':
    case 'thinking':
      return [[event.type, event.payload.content]]
    case 'status': {
      // Those about tools repeat what the tools' own events tell.
      const { tool, state, message } = event.payload
      return tool === undefined ? [['status', { state, message }]] : []
    }
    default:
      return [[event.type, event.payload]]
  }
}

/** What a client of Server-Sent Events reads out of them. */
function ofSse(events: readonly SseEvent[]): Meaning[] {
  let failure: object | undefined
  return events.flatMap((event): Meaning[] => {
    const { content } = event
    switch (event.type) {
      case 'content':
        return [['text', content]]
      case 'thinking':
        return [['thinking', content]]
      case 'status': {
        const { type: _, content: words, status, reset, queue, ...about } = event
        if (status !== undefined) return [['status', { ...status, message: words }]]
        if (reset !== undefined) return [['reset', { message: words }]]
        if (queue !== undefined) return [['queue', { messages: queue }]]
        return Object.entries(about)
      }
      case 'tool_start': {
        const { type: _, content: _words, tool: _name, ...call } = event
        return [['tool', { state: 'call', ...call, tool: toolName(event) }]]
      }
      case 'tool_progress': {
        const { type: _, content: message, tool: _name, ...report } = event
        return [['tool', { state: 'progress', ...report, message, tool: toolName(event) }]]
      }
      case 'tool_result': {
        const { type: _, content: _words, tool: _name, data, ...result } = event
        return [['tool', { state: 'result', ...result, ...data, tool: toolName(event) }]]
      }
      case 'error': {
        const { type: _, content: message, retryable: _retry, session, ...error } = event
        if (session !== undefined) return [['session', session]]
        failure = { error: { ...error, message } }
        return []
      }
      case 'done': {
        const { type: _, content: _words, step: _step, ...turn } = event
        const done: Meaning = ['turn', { state: 'done', ...turn, ...failure }]
        failure = undefined
        return [done]
      }
      default:
        return event satisfies never
    }
  })
}

function toolName({ server, tool }: { server?: string | undefined; tool: string }): string {
  return server === undefined ? tool : tool.slice(server.length + 1)
}

/** The events of a story: from its beginning on as it happened, else read from the log when all was over. */
function read({ items }: Pick<Story, 'items'>, start?: Cursor): SessionEvent[] {
  const reader = new SessionReader(start ?? cursorAfter(0))
  return items.flatMap((item) => {
    if (item.type === 'entry') {
      return item.entry.seq > reader.readAfter || start === undefined
        ? reader.entry(item.entry)
        : []
    }
    if (item.type === 'progress') return []
    const events = start === undefined ? reader.delta(item.delta) : []
    // What is missing comes with the result.
    return events === 'gap' ? [] : events
  })
}

/** What is left of it in the end: pieces of text are joined, those that were reset are forgotten. */
function settled(meanings: readonly Meaning[]): unknown[] {
  const kept: Record<string, string> = { text: '', thinking: '' }
  let latest: Record<string, string> = { text: '', thinking: '' }
  const users: Meaning[] = []
  const lines: unknown[] = []
  const keep = (): void => {
    for (const kind of ['text', 'thinking']) kept[kind] += latest[kind] ?? ''
    latest = { text: '', thinking: '' }
  }
  for (const meaning of meanings) {
    const [kind, payload] = meaning
    if (kind in latest) latest[kind] += String(payload)
    // A message may be stored before, after or between the text of another's answer.
    else if (kind === 'user') users.push(meaning)
    else {
      const { state } = payload as { state?: string }
      if (kind === 'reset') latest = { text: '', thinking: '' }
      if (state === 'result' || (kind === 'turn' && state !== 'waiting')) keep()
      lines.push([kept['text']?.length, kept['thinking']?.length, kind, payload])
    }
  }
  keep()
  return [kept, lines, users]
}

const framesOf = (events: readonly SessionEvent[]): SseFrame[] => events.flatMap(sseFrames)
const dataOf = (frames: readonly SseFrame[]): SseEvent[] => frames.map(({ data }) => data)

const seeds = Array.from({ length: 60 }, (_, index) => index + 1)

test.each(seeds)('story %i loses nothing as Server-Sent Events', (seed) => {
  const events = read(randomStory(seed))
  const frames = framesOf(events)
  for (const data of dataOf(frames)) expect(SseEvent.parse(data)).toEqual(data)
  expect(ofSse(dataOf(frames))).toEqual(events.flatMap(ofSocket))
})

test.each(seeds)('story %i goes on after any of its ids with exactly the rest', (seed) => {
  const story = randomStory(seed)
  const whole = framesOf(read(story))
  const expected = settled(ofSse(dataOf(whole)))
  for (const [index, { id }] of whole.entries()) {
    const { cursor, skip } = parseFrameId(id ?? '') ?? { cursor: cursorAfter(-1), skip: 0 }
    const [first, ...others] = read(story, cursor)
    const rest = first === undefined ? [] : [...sseFrames(first).slice(skip), ...framesOf(others)]
    const all = [...whole.slice(0, index + 1), ...rest]
    expect(settled(ofSse(dataOf(all))), id).toEqual(expected)
  }
})

describe('a turn that failed', () => {
  const failed: SessionEvent = {
    type: 'turn',
    id: '9.2.-.0',
    payload: {
      state: 'done',
      messageId: 'm1',
      outcome: 'failed',
      error: { code: 'unavailable', message: 'the model cannot be reached' },
    },
  }

  test('is told by an error, then by its end', () => {
    expect(toSse(failed)).toEqual([
      {
        type: 'error',
        content: 'the model cannot be reached',
        code: 'unavailable',
        retryable: true,
      },
      { type: 'done', content: '', outcome: 'failed', messageId: 'm1' },
    ])
  })

  test('is told in two frames, between which a client may leave and come back', () => {
    const [error, done] = sseFrames(failed)
    expect(done?.id).toBe(failed.id)
    expect(parseFrameId(error?.id ?? '')).toEqual({
      cursor: { seq: 9, part: 1, fence: undefined, offset: 0 },
      skip: 1,
    })
  })
})

test.each<[string, SessionEvent['payload'] & object, Partial<SseEvent>]>([
  [
    'a tool that does not exist',
    { state: 'call', callId: 'c', tool: 'a.b', arguments: {} },
    { type: 'tool_start', tool: 'a.b', content: 'Using a.b' },
  ],
  [
    'a tool with a dot in its name',
    { state: 'call', callId: 'c', server: 's', tool: 'a.b', arguments: [] },
    { type: 'tool_start', tool: 's.a.b', server: 's', arguments: [] },
  ],
  [
    'a result without text',
    {
      state: 'result',
      callId: 'c',
      server: 's',
      tool: 't',
      outcome: 'error',
      content: [],
      error: { code: 'deadline', message: 'it took too long' },
    },
    { type: 'tool_result', content: 'it took too long' },
  ],
  [
    'a result of several texts',
    {
      state: 'result',
      callId: 'c',
      server: 's',
      tool: 't',
      outcome: 'ok',
      content: [{ type: 'text', text: 'one' }, { type: 'image' }, { type: 'text', text: 'two' }],
      structuredContent: { n: 1 },
      blob: { key: 'k', bytes: 1, digest: 'd' },
      durationMs: 2,
    },
    { type: 'tool_result', content: 'one\ntwo', blob: { key: 'k', bytes: 1, digest: 'd' } },
  ],
])('%s is told whole', (_, payload, expected) => {
  const event = { type: 'tool', id: '1.1.-.0', payload } as SessionEvent
  expect(toSse(event)).toMatchObject([expected])
  expect(ofSse(toSse(event))).toEqual(ofSocket(event))
})

test('a tool call is told in words with its arguments, shortened', () => {
  const start = (args: unknown): string | undefined => {
    const call = { state: 'call', callId: 'c', server: 's', tool: 't', arguments: args } as const
    return toSse({ type: 'tool', id: '', payload: { ...call, arguments: args as never } })[0]
      ?.content
  }
  expect(start({ path: '/a', limit: 3, deep: [{ a: 1 }] })).toBe(
    'Using s.t with path "/a", limit 3, deep [{"a":1}]',
  )
  expect(start({})).toBe('Using s.t')
  expect(start('no JSON')).toBe('Using s.t with "no JSON"')
  expect(start({ text: 'x'.repeat(1_000) })).toBe(`Using s.t with text "${'x'.repeat(78)}…`)
  const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`name${index}`, index]))
  expect(start(many)).toMatch(/^Using s\.t with name0 0, .{180,190}…$/)
})

test('the queue is told without a place', () => {
  const payload = { messages: [{ messageId: 'm2', position: 1 }] }
  expect(sseFrames({ type: 'queue', payload })).toMatchObject([
    { id: undefined, data: { type: 'status', queue: payload.messages } },
  ])
})

test('a deleted session is told by an error that cannot be retried', () => {
  const event: SessionEvent = { type: 'session', id: '3.1.-.0', payload: { state: 'deleted' } }
  expect(toSse(event)).toMatchObject([{ type: 'error', code: 'not-found', retryable: false }])
  expect(ofSse(toSse(event))).toEqual(ofSocket(event))
})

test.each(['', 'x', '1.0.-.0~', '1.0.-.0~0', '1.0.-.0~1', '1.1.-.0~10', '1.1.-.0~1~1', '1.1.-.0 '])(
  '%j is not an id of a frame',
  (id) => {
    expect(parseFrameId(id)).toBeUndefined()
  },
)
