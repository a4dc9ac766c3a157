import { expect, test } from 'vitest'
import { withoutAlias } from './provider-alias.ts'

test('claude and grok are aliases of anthropic and xai, with or without a model', () => {
  expect(withoutAlias('claude')).toBe('anthropic')
  expect(withoutAlias('grok/grok-4')).toBe('xai/grok-4')
  expect(withoutAlias('gemini/claude')).toBe('gemini/claude')
})

test('a configured provider with the name of an alias keeps its name', () => {
  expect(withoutAlias('claude/m', (name) => name === 'claude')).toBe('claude/m')
})
