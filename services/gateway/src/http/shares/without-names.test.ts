import type { HistoryMessage } from '@mcp-host/contracts'
import { expect, test } from 'vitest'
import { withoutNames } from './without-names.ts'

test('a reader of a share sees how a call was decided, and not the user who decided', () => {
  const about = { id: 'c', role: 'tool', createdAt: 1, metadata: { messageId: 'm' } } as const
  const approval = { how: 'accept', by: 'user:ann' } as const
  const message: HistoryMessage = { ...about, data: { arguments: 1, approval, outcome: 'ok' } }
  const shown = { ...about, data: { arguments: 1, approval: { how: 'accept' }, outcome: 'ok' } }
  expect(withoutNames(message)).toEqual(shown)
  expect(withoutNames(about)).toEqual(about)
})
