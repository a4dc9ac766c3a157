import { expect, test } from 'vitest'
import { unknownSettings } from './unknown-settings.ts'

test('misspelled settings are named with the nearest setting', () => {
  const env = { MAX_TOOL_CALL: '5', TOOL_APROVAL: '@writes', OPENAI_API_KEYFILE: '/key' }
  expect(unknownSettings(env, [])).toEqual([
    'MAX_TOOL_CALL is not a setting; did you mean MAX_TOOL_CALLS?',
    'TOOL_APROVAL is not a setting; did you mean TOOL_APPROVAL?',
    'OPENAI_API_KEYFILE is not a setting; did you mean OPENAI_API_KEY_FILE?',
  ])
})

test('unknown settings of a known family are named, however far they are from a setting', () => {
  expect(unknownSettings({ MCP_CONFIG_FILE_NAME: 'x', LLM_TEMPERATURE: '1' }, [])).toEqual([
    expect.stringMatching(/^MCP_CONFIG_FILE_NAME is not a setting; the nearest is [A-Z_]+$/),
    expect.stringMatching(/^LLM_TEMPERATURE is not a setting; the nearest is [A-Z_]+$/),
  ])
})

test('settings, empty ones, other programs, and variables that configuration files name are left alone', () => {
  const env = {
    MAX_TOKEN_COUNT: '8000',
    OPENAI_API_KEY_FILE: '/key',
    MAX_NOTHING: '',
    HOST: 'x',
    POST: 'x',
    HOME: '/',
    LC_ALL: 'C',
    LLM_GATEWAY_KEY: 'k',
    MCP_X_API_KEY: 'k',
  }
  const files = ['{ "apiKeyEnv": "LLM_GATEWAY_KEY" }', '{ "providers": { "mcp-x": {} } }']
  expect(unknownSettings(env, files)).toEqual([])
})
