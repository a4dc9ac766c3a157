import { loadConfig } from '@mcp-host/service'
import { expect, test } from 'vitest'
import { workerSettings } from './config.ts'

const key = 'AIza-not-a-real-key'

test.each([
  [{ GEMINI_BASE_URL: 'not a url' }, 'GEMINI_BASE_URL'],
  [{ DEMO_TOKENS_PER_SECOND: '-1' }, 'DEMO_TOKENS_PER_SECOND'],
  [{ DEMO_SCRIPTED: 'perhaps' }, 'DEMO_SCRIPTED'],
  [{ LLM_CONTEXT_TOKENS: '1' }, 'LLM_CONTEXT_TOKENS'],
  [{ MAX_GENERATIONS: '0' }, 'MAX_GENERATIONS'],
])('%j is refused by name', (env, name) => {
  expect(() => loadConfig(workerSettings, env)).toThrow(name)
})

test('the key is opened on purpose only', () => {
  const config = loadConfig(workerSettings, { GEMINI_API_KEY: key })
  expect(JSON.stringify(config)).not.toContain(key)
  expect(String(config.geminiApiKey)).toBe('[secret]')
  expect(config.geminiApiKey?.open()).toBe(key)
})
