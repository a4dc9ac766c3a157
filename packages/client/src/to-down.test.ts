import { expect, test } from 'vitest'
import type { SseData } from './to-down.ts'
import { ToDown } from './to-down.ts'

const call = { callId: 'c', tool: 'files.read', server: 'files' }
const own = { callId: 'c', tool: 'read', server: 'files' }

test.each<[SseData, string, object]>([
  [{ type: 'content', content: 'a' }, 'text', { content: 'a' }],
  [{ type: 'thinking', content: 'a' }, 'thinking', { content: 'a' }],
  [
    { type: 'status', content: '', user: { messageId: 'm', text: 'a' } },
    'user',
    { messageId: 'm', text: 'a' },
  ],
  [
    { type: 'status', content: '', turn: { state: 'started', messageId: 'm' } },
    'turn',
    { state: 'started', messageId: 'm' },
  ],
  [
    { type: 'status', content: 'Thinking', status: { state: 'processing' } },
    'status',
    { state: 'processing', message: 'Thinking' },
  ],
  [{ type: 'status', content: 'again', reset: true }, 'reset', { message: 'again' }],
  [{ type: 'status', content: '', queue: [] }, 'queue', { messages: [] }],
  [{ type: 'error', content: '', session: { state: 'deleted' } }, 'session', { state: 'deleted' }],
  [
    { type: 'tool_start', content: 'Using', ...call, arguments: { a: 1 } },
    'tool',
    { state: 'call', ...own, arguments: { a: 1 } },
  ],
  [
    { type: 'tool_progress', content: 'half', ...call, progress: 1, total: 2 },
    'tool',
    { state: 'progress', ...own, progress: 1, total: 2, message: 'half' },
  ],
  [
    {
      type: 'tool_result',
      content: 'a',
      ...call,
      outcome: 'ok',
      data: { content: [{ type: 'text', text: 'a' }], structuredContent: { a: 1 } },
    },
    'tool',
    {
      state: 'result',
      ...own,
      outcome: 'ok',
      content: [{ type: 'text', text: 'a' }],
      structuredContent: { a: 1 },
    },
  ],
  [
    { type: 'done', content: 'all', step: 1, outcome: 'completed', messageId: 'm' },
    'turn',
    { state: 'done', outcome: 'completed', messageId: 'm' },
  ],
])('the event %j is the frame %s', (data, type, payload) => {
  expect(new ToDown().frame(data, '1.0.-.0')).toEqual({ type, id: '1.0.-.0', payload })
})

test('an event of a later version is no frame', () => {
  // Its type is none of this version.
  expect(new ToDown().frame({ type: 'later' } as unknown as SseData, undefined)).toBeUndefined()
})
