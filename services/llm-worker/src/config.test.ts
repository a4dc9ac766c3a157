import type { Setting } from '@mcp-host/service'
import { loadConfig, Secret } from '@mcp-host/service'
import { expect, test } from 'vitest'
import { workerSettings } from './config.ts'
import { providers } from './providers/index.ts'

const key = 'AIza-not-a-real-key'

test.each([
  [{ GEMINI_BASE_URL: 'not a url' }, 'GEMINI_BASE_URL'],
  [{ DEMO_TOKENS_PER_SECOND: '-1' }, 'DEMO_TOKENS_PER_SECOND'],
  [{ DEMO_SCRIPTED: 'perhaps' }, 'DEMO_SCRIPTED'],
  [{ LLM_CONTEXT_TOKENS: '1' }, 'LLM_CONTEXT_TOKENS'],
  [{ MAX_GENERATIONS: '0' }, 'MAX_GENERATIONS'],
])('the setting %j is refused with its name', (env, name) => {
  expect(() => loadConfig(workerSettings, env)).toThrow(name)
})

test('a key is printed as [secret]', () => {
  const config: Readonly<Record<string, unknown>> = loadConfig(workerSettings, {
    GEMINI_API_KEY: key,
  })
  expect(JSON.stringify(config)).not.toContain(key)
  const found = config['GEMINI_API_KEY']
  expect(String(found)).toBe('[secret]')
  expect(found instanceof Secret && found.open()).toBe(key)
})

test.each(Object.entries(providers))(
  'the key and base URL of %s are settings',
  (name, provider) => {
    const known = Object.values<Setting>(workerSettings).map(({ env }) => env)
    const { keyVariable, baseUrl } = provider
    const prefix = name.toUpperCase().replaceAll('-', '_')
    expect(known).toEqual(expect.arrayContaining(keyVariable === undefined ? [] : [keyVariable]))
    expect(known.includes(`${prefix}_BASE_URL`)).toBe(baseUrl !== '')
    expect(workerSettings.provider.describe).toContain(name)
  },
)
