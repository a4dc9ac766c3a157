import { loadConfig } from '@mcp-host/service'
import { expect, test } from 'vitest'
import { checkWorkerSettings, chosenProvider, workerSettings } from './config.ts'

const key = 'AIza-not-a-real-key'

function load(env: Record<string, string>): ReturnType<typeof loadConfig<typeof workerSettings>> {
  return loadConfig(workerSettings, env, checkWorkerSettings)
}

test.each([
  ['demo, without any settings', {}, 'demo'],
  ['demo, when the key is empty', { GEMINI_API_KEY: '' }, 'demo'],
  ['gemini, with its key', { GEMINI_API_KEY: key }, 'gemini'],
  ['demo, when it is asked for', { GEMINI_API_KEY: key, LLM_PROVIDER: 'demo' }, 'demo'],
])('who answers is %s', (_, env, expected) => {
  expect(chosenProvider(load(env))).toBe(expected)
})

test('gemini needs its key', () => {
  expect(() => load({ LLM_PROVIDER: 'gemini' })).toThrow('needs GEMINI_API_KEY')
})

test('an unknown provider is refused with those there are', () => {
  expect(() => load({ LLM_PROVIDER: 'parrot' })).toThrow('LLM_PROVIDER=parrot: must be one of')
})

test.each([{}, { LLM_PROVIDER: 'demo', GEMINI_API_KEY: key }])(
  'a model name that would have no effect is refused: %j',
  (env) => {
    expect(() => load({ ...env, LLM_MODEL: 'gemini-x' })).toThrow('LLM_MODEL has no effect')
  },
)

test('a size of the context that would have no effect is refused', () => {
  expect(() => load({ LLM_CONTEXT_TOKENS: '8192' })).toThrow('set DEMO_CONTEXT_TOKENS instead')
  expect(load({ LLM_CONTEXT_TOKENS: '8192', GEMINI_API_KEY: key }).contextTokens).toBe(8192)
})

test('a model name goes with a key', () => {
  expect(load({ LLM_MODEL: 'gemini-x', GEMINI_API_KEY: key }).model).toBe('gemini-x')
})

test.each([
  [{ GEMINI_BASE_URL: 'not a url' }, 'GEMINI_BASE_URL'],
  [{ DEMO_TOKENS_PER_SECOND: '-1' }, 'DEMO_TOKENS_PER_SECOND'],
  [{ DEMO_SCRIPTED: 'perhaps' }, 'DEMO_SCRIPTED'],
  [{ MAX_GENERATIONS: '0' }, 'MAX_GENERATIONS'],
])('%j is refused by name', (env, name) => {
  expect(() => load(env)).toThrow(name)
})

test('the key is opened on purpose only', () => {
  const config = load({ GEMINI_API_KEY: key })
  expect(JSON.stringify(config)).not.toContain(key)
  expect(String(config.geminiApiKey)).toBe('[secret]')
  expect(config.geminiApiKey?.open()).toBe(key)
})
