import type { Message } from '@mcp-host/client'
import { expect, test } from 'vitest'
import { historyTurns } from './history-turns.ts'

test('a turn has the usage of all of its generations, under the name of the last model', () => {
  const turnUsage = [
    { provider: 'p', model: 'small', generations: 2, inputTokens: 1, outputTokens: 2, cost: 0.5 },
    { provider: 'p', model: 'large', generations: 1, inputTokens: 10, outputTokens: 20 },
  ]
  const messages: Message[] = [
    {
      id: 'm1',
      role: 'user',
      createdAt: 7,
      content: 'hi',
      metadata: { messageId: 'm1', turnUsage },
    },
    { id: 'm2', role: 'user', createdAt: 8, content: 'and?', metadata: { messageId: 'm2' } },
  ]
  const [first, second] = historyTurns(messages)
  expect(first?.usage).toEqual({ inputTokens: 11, outputTokens: 22, cost: 0.5, model: 'p/large' })
  expect(first?.at).toBe(7)
  expect(second?.usage).toBeUndefined()
})
