import type { Models } from '@mcp-host/client'
import { expect, test } from 'vitest'
import { modelFault } from './model-fault.ts'

function modelsWith(error: string): Models {
  const provider = { provider: 'openai', state: 'unavailable', error, models: [] } as const
  return { default: { provider: 'openai', model: 'm' }, providers: [provider] }
}

test.each([
  ['openai cannot be reached', 'cannot be reached'],
  ['openai answered 500', 'answered 500'],
  ['the operation timed out', 'the operation timed out'],
])('a provider that lists no models (%s) is named once', (error, why) => {
  expect(modelFault(modelsWith(error))).toBe(
    `Answers may fail: openai did not list its models (${why}). Choose another model, or check the settings of the provider.`,
  )
})
