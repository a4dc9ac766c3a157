import { expect, test } from 'vitest'
import type { ShownMessage } from './history-text.ts'
import { historyText } from './history-text.ts'

const about = (messageId: string, state?: 'done' | 'running'): Pick<ShownMessage, 'metadata'> => ({
  metadata: { messageId, ...(state === undefined ? {} : { state }) },
})

test('history has questions, tools and answers; of a turn that runs only the question', () => {
  const messages: ShownMessage[] = [
    { id: 'm1', role: 'user', content: 'list the files', ...about('m1', 'done') },
    {
      id: 'c1',
      role: 'tool',
      toolName: 'files.list',
      data: { arguments: { path: '.' }, outcome: 'ok', durationMs: 12.4 },
      ...about('m1'),
    },
    { id: 'a1', role: 'assistant', content: 'one\u0007 file', ...about('m1') },
    { id: 'm2', role: 'user', content: 'and now?', ...about('m2', 'running') },
    { id: 'a2', role: 'assistant', content: 'half of', ...about('m2') },
  ]
  expect(historyText(messages)).toBe(
    [
      '> list the files',
      '→ files.list {"path":"."}',
      '← files.list ok in 12 ms',
      'one  file',
      '> and now?',
      '',
    ].join('\n'),
  )
})
