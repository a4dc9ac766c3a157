// Both streams of a session have the same content: Server-Sent Events lose nothing of the frames of a socket.
import type { Cursor, SessionEvent } from '@mcp-host/contracts'
import { cursorAfter } from '@mcp-host/contracts'
import { describe, expect, test } from 'vitest'
import type { z } from 'zod'
import { randomStory } from './__fixtures__/random-story.ts'
import type { Story } from './__fixtures__/story.ts'
import { SessionReader } from './session-reader.ts'
import { SseEvent } from './sse-event.ts'
import type { SseFrame } from './sse.ts'
import { parseFrameId, sseFrames, toSse } from './sse.ts'

/** The content of an event in a common form, as kind and payload. */
type Content = readonly [string, unknown]

function contentOfSocket(event: SessionEvent): Content[] {
  switch (event.type) {
    case 'text':
    case 'thinking':
      return [[event.type, event.payload.content]]
    case 'status': {
      // The statuses of tools repeat the events of tools.
      const { tool, state, message } = event.payload
      return tool === undefined ? [['status', { state, message }]] : []
    }
    default:
      return [[event.type, event.payload]]
  }
}

/** The content of Server-Sent Events. */
function contentOfSse(events: readonly SseEvent[]): Content[] {
  let failure: object | undefined
  return events.flatMap((event): Content[] => {
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
        const done: Content = ['turn', { state: 'done', ...turn, ...failure }]
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

/** The events of a story as it happens, or, with `start`, read from the log after its end. */
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
    // Missing text is in the result.
    return events === 'gap' ? [] : events
  })
}

/** The content at the end: texts are joined, and those that were reset are removed. */
function finalContent(contents: readonly Content[]): unknown[] {
  const kept: Record<string, string> = { text: '', thinking: '' }
  let latest: Record<string, string> = { text: '', thinking: '' }
  const users: Content[] = []
  const lines: unknown[] = []
  const keep = (): void => {
    for (const kind of ['text', 'thinking']) kept[kind] += latest[kind] ?? ''
    latest = { text: '', thinking: '' }
  }
  for (const content of contents) {
    const [kind, payload] = content
    if (kind in latest) latest[kind] += String(payload)
    // A message may be stored before, after or between the text of another's answer.
    else if (kind === 'user') users.push(content)
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

test.each(seeds)('story %i has the same content as Server-Sent Events', (seed) => {
  const events = read(randomStory(seed))
  const frames = framesOf(events)
  for (const data of dataOf(frames)) expect(SseEvent.parse(data)).toEqual(data)
  expect(contentOfSse(dataOf(frames))).toEqual(events.flatMap(contentOfSocket))
})

test.each(seeds)('story %i is resumed after any of its ids with the rest', (seed) => {
  const story = randomStory(seed)
  const whole = framesOf(read(story))
  const expected = finalContent(contentOfSse(dataOf(whole)))
  for (const [index, { id }] of whole.entries()) {
    const { cursor, skip } = parseFrameId(id ?? '') ?? { cursor: cursorAfter(-1), skip: 0 }
    const [first, ...others] = read(story, cursor)
    const rest = first === undefined ? [] : [...sseFrames(first).slice(skip), ...framesOf(others)]
    const all = [...whole.slice(0, index + 1), ...rest]
    expect(finalContent(contentOfSse(dataOf(all))), id).toEqual(expected)
  }
})

describe('failed turns', () => {
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

  test('a failed turn becomes an error event and a done event', () => {
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

  test('a failed turn can be resumed between its two frames', () => {
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
])('%s keeps all its content', (_, payload, expected) => {
  const event = { type: 'tool', id: '1.1.-.0', payload } as SessionEvent
  expect(toSse(event)).toMatchObject([expected])
  expect(contentOfSse(toSse(event))).toEqual(contentOfSocket(event))
})

test('the content of a tool call has its shortened arguments', () => {
  const contentOf = (args: z.core.util.JSONType): string | undefined => {
    const call = { state: 'call', callId: 'c', server: 's', tool: 't', arguments: args } as const
    return toSse({ type: 'tool', id: '', payload: call })[0]?.content
  }
  expect(contentOf({ path: '/a', limit: 3, deep: [{ a: 1 }] })).toBe(
    'Using s.t with path "/a", limit 3, deep [{"a":1}]',
  )
  expect(contentOf({})).toBe('Using s.t')
  expect(contentOf('no JSON')).toBe('Using s.t with "no JSON"')
  expect(contentOf({ text: 'x'.repeat(1_000) })).toBe(`Using s.t with text "${'x'.repeat(78)}…`)
  const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`name${index}`, index]))
  expect(contentOf(many)).toMatch(/^Using s\.t with name0 0, .{180,190}…$/)
})

test('the queue becomes a frame without an id', () => {
  const payload = { messages: [{ messageId: 'm2', position: 1 }] }
  expect(sseFrames({ type: 'queue', payload })).toMatchObject([
    { id: undefined, data: { type: 'status', queue: payload.messages } },
  ])
})

test('a deleted session becomes an error that is not retryable', () => {
  const event: SessionEvent = { type: 'session', id: '3.1.-.0', payload: { state: 'deleted' } }
  expect(toSse(event)).toMatchObject([{ type: 'error', code: 'not-found', retryable: false }])
  expect(contentOfSse(toSse(event))).toEqual(contentOfSocket(event))
})

test.each(['', 'x', '1.0.-.0~', '1.0.-.0~0', '1.0.-.0~1', '1.1.-.0~10', '1.1.-.0~1~1', '1.1.-.0 '])(
  'the id %j is not an id of a frame',
  (id) => {
    expect(parseFrameId(id)).toBeUndefined()
  },
)
