import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { McpJsonSettings } from './mcp-json-settings.ts'
import { mcpJsonSettings } from './mcp-json-settings.ts'

const KEY = 'a-key-nobody-may-see'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'mcp-json-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

function read(
  file: object | string,
  env: Record<string, string> = {},
  name = 'mcp.json',
): McpJsonSettings {
  const text = typeof file === 'string' ? file : JSON.stringify(file)
  writeFileSync(join(folder, name), text)
  return mcpJsonSettings(join(folder, name), env)
}

test('llm and max_tool_calls of mcp.json are settings; a key in it is warned about without being shown', () => {
  const llm = { type: 'claude', api_key: KEY, system_prompt: 'Be brief.', model: 'opus' }
  const { settings, warnings } = read({ llm, max_tool_calls: 7, servers: {} })
  expect(settings).toEqual({
    LLM_PROVIDER: 'anthropic',
    LLM_MODEL: 'opus',
    ANTHROPIC_API_KEY: KEY,
    SYSTEM_PROMPT: 'Be brief.',
    MAX_TOOL_CALLS: '7',
  })
  expect(warnings).toEqual([
    expect.stringContaining('llm.api_key is used, but a key belongs in ANTHROPIC_API_KEY'),
  ])
  expect(warnings.join()).not.toContain(KEY)
})

test('settings of the environment come before those of mcp.json', () => {
  const llm = { type: 'openai', api_key: KEY, system_prompt: 'x', model: 'm' }
  const env = {
    LLM_PROVIDER: 'demo',
    OPENAI_API_KEY_FILE: '/key',
    SYSTEM_PROMPT: 'y',
    MAX_TOOL_CALLS: '1',
  }
  const { settings, warnings } = read({ llm, max_tool_calls: 7 }, env)
  expect(settings).toEqual({})
  expect(warnings).toEqual([
    expect.stringContaining('llm.api_key is not used, as OPENAI_API_KEY_FILE is set'),
  ])
})

test('a key in mcp.json may be a variable of the environment, and is Gemini where no type is given', () => {
  const { settings, warnings } = read({ llm: { api_key: '${MY_KEY}' } }, { MY_KEY: KEY })
  expect(settings).toEqual({ GEMINI_API_KEY: KEY })
  expect(warnings).toEqual([])
})

test('a key in mcp.json that names an unset variable is warned about', () => {
  const { settings, warnings } = read({ llm: { api_key: '${MY_KEY}' } })
  expect(settings).toEqual({})
  expect(warnings).toEqual([
    expect.stringContaining('llm.api_key names a variable that is not set'),
  ])
})

test('keys that an entry has twice are left to the reader of the servers', () => {
  const text = '{ "llm": { "type": "openai" }, "mcpServers": { "it": { "args": [], "args": [] } } }'
  expect(read(text)).toMatchObject({ settings: { LLM_PROVIDER: 'openai' } })
  const yaml = 'llm: { type: openai }\nservers:\n  it:\n    args: []\n    args: []\n'
  for (const name of ['mcp.yaml', 'mcp.YML']) {
    expect(read(yaml, {}, name)).toMatchObject({ settings: { LLM_PROVIDER: 'openai' } })
  }
})

test('a misspelled field of llm is warned about, one of the wrong type is refused', () => {
  expect(read({ llm: { apikey: KEY } }).warnings).toEqual([
    expect.stringContaining('llm.apikey is not a known field; did you mean api_key?'),
  ])
  expect(() => read({ llm: { type: 5 } })).toThrow('llm.type: must be a string')
})
