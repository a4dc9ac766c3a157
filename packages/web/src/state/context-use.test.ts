import type { Message, Models } from '@mcp-host/client'
import { expect, test } from 'vitest'
import { contextUse } from './context-use.ts'

const models: Models = {
  default: { provider: 'demo', model: 'demo-1', contextWindow: 1_000 },
  providers: [
    {
      provider: 'big',
      contextWindow: 500,
      models: [{ id: 'known', contextWindow: 2_000 }, { id: 'unknown' }],
    },
  ],
}

const answer = (
  provider: string,
  model: string,
  inputTokens?: number,
  messageId = 'm',
): Message => ({
  id: 'a',
  role: 'assistant',
  createdAt: 0,
  metadata: {
    messageId,
    provider,
    model,
    ...(inputTokens === undefined ? {} : { usage: { inputTokens, outputTokens: 20 } }),
  },
})

test('the last counted answer to a message tells how full the context of its model is', () => {
  const messages = [
    answer('big', 'known', 50),
    answer('demo', 'demo-1', 80),
    answer('big', 'known'),
    answer('big', 'known', 70, 'later'),
  ]
  const use = { tokens: 100, window: 1_000, model: 'demo/demo-1' }
  expect(contextUse(messages, 'm', models)).toEqual(use)
  expect(contextUse(messages, 'other', models)).toBe(undefined)
  expect(contextUse([answer('x', 'y')], 'm', models)).toBe(undefined)
})

test.each([
  ['big', 'known', 2_000],
  ['big', 'unknown', 500],
  ['other', 'model', undefined],
])('the context window of %s/%s is %s', (provider, model, window) => {
  expect(contextUse([answer(provider, model, 1)], 'm', models)?.window).toBe(window)
})
