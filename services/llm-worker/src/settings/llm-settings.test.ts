import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConfigError, loadConfig } from '@mcp-host/service'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { workerSettings } from '../config.ts'
import type { LlmSettings } from './llm-settings.ts'
import { readLlmSettings } from './llm-settings.ts'

const KEY = 'a-key-nobody-may-see'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'llm-settings-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

function read(env: Record<string, string>, file?: object | string): LlmSettings {
  const path = join(folder, 'llm.json')
  if (file !== undefined) {
    writeFileSync(path, typeof file === 'string' ? file : JSON.stringify(file))
  }
  const all = { LLM_CONFIG: file === undefined ? 'none' : path, ...env }
  return readLlmSettings(loadConfig(workerSettings, all), all)
}

/** The problems that the settings are refused with. */
function problems(env: Record<string, string>, file?: object | string): readonly string[] {
  try {
    read(env, file)
  } catch (error) {
    if (error instanceof ConfigError) {
      return error.problems.map((problem) => problem.replaceAll(`${folder}/`, ''))
    }
    throw error
  }
  return []
}

describe('settings in the environment', () => {
  test.each([
    ['unset without any settings', {}, undefined],
    ['unset when the key is empty', { GEMINI_API_KEY: '' }, undefined],
    ['gemini with its key', { GEMINI_API_KEY: KEY }, 'gemini'],
    ['the first provider with a key', { XAI_API_KEY: KEY, OPENAI_API_KEY: KEY }, 'openai'],
    ['the provider that is set', { GEMINI_API_KEY: KEY, LLM_PROVIDER: 'demo' }, 'demo'],
    [
      'the model that is set',
      { ANTHROPIC_API_KEY: KEY, LLM_MODEL: 'claude-x' },
      'anthropic/claude-x',
    ],
    ['a local model', { LLM_PROVIDER: 'ollama', LLM_MODEL: 'qwen3' }, 'ollama/qwen3'],
  ])('the default model is %s', (_, env, expected) => {
    expect(read(env).default).toBe(expected)
  })

  test('claude and grok are aliases of anthropic and xai, in the environment and in llm.json', () => {
    const env = { ANTHROPIC_API_KEY: KEY, XAI_API_KEY: KEY }
    const named = read({ ...env, LLM_PROVIDER: 'claude', LLM_FALLBACK: 'grok/grok-4,demo' })
    expect(named).toMatchObject({ default: 'anthropic', fallback: ['xai/grok-4', 'demo'] })
    const file = {
      default: 'claude/m',
      fallback: ['grok', 'other'],
      providers: { claude: { model: 'm' }, other: { type: 'grok', apiKeyEnv: 'XAI_API_KEY' } },
    }
    const fromFile = read(env, file)
    expect(fromFile).toMatchObject({ default: 'anthropic/m', fallback: ['xai', 'other'] })
    expect(fromFile.providers.get('anthropic')).toMatchObject({ type: 'anthropic', model: 'm' })
    expect(fromFile.providers.get('other')).toMatchObject({ type: 'xai' })
  })

  test('a provider of another type may be named claude', () => {
    const own = { type: 'openai-compatible', baseUrl: 'http://127.0.0.1:1/v1', model: 'm' }
    const { providers, default: standard } = read(
      {},
      { default: 'claude', providers: { claude: own } },
    )
    expect(standard).toBe('claude')
    expect(providers.get('claude')).toMatchObject({ type: 'openai-compatible' })
  })

  test('an unknown provider is refused with the known ones and the most similar', () => {
    expect(problems({ LLM_PROVIDER: 'gemni' })).toEqual([
      'there is no provider "gemni"; there are gemini, anthropic, openai, xai, ollama, lmstudio, openai-compatible, demo; did you mean gemini?',
    ])
  })

  test('providers with a key and those without need of one are available', () => {
    const { providers } = read({ XAI_API_KEY: KEY })
    expect(Array.from(providers.keys())).toEqual(['xai', 'ollama', 'lmstudio', 'demo'])
  })

  test.each<[Record<string, string>, string, string]>([
    [
      { OPENAI_COMPATIBLE_API_KEY: KEY },
      'openai-compatible',
      'needs OPENAI_COMPATIBLE_BASE_URL to be set',
    ],
    [
      { OPENAI_BASE_URL: 'http://127.0.0.1:1' },
      'openai',
      'needs OPENAI_API_KEY, or OPENAI_API_KEY_FILE, to be set',
    ],
    [
      { OPENAI_COMPATIBLE_BASE_URL: 'http://127.0.0.1:1', OPENAI_COMPATIBLE_API_KEY: KEY },
      'openai-compatible',
      'has no default model, so another answers; set LLM_PROVIDER=openai-compatible and LLM_MODEL, or choose one of its models',
    ],
  ])('with %j alone %s %s', (env, name, lack) => {
    expect(Array.from(read(env).incomplete)).toEqual([[name, lack]])
  })

  test.each<[Record<string, string>, string | undefined]>([
    [{ OPENAI_COMPATIBLE_BASE_URL: 'http://a' }, 'openai-compatible/m'],
    [
      { OPENAI_COMPATIBLE_BASE_URL: 'http://a', OPENAI_COMPATIBLE_API_KEY: KEY },
      'openai-compatible/m',
    ],
    [{ OLLAMA_BASE_URL: 'http://a' }, 'ollama/m'],
    [{ OLLAMA_BASE_URL: 'http://a', GEMINI_API_KEY: KEY }, 'gemini/m'],
  ])('with %j, LLM_MODEL=m is the default model %s', (env, chosen) => {
    expect(read({ ...env, LLM_MODEL: 'm' }).default).toBe(chosen)
  })

  test('LLM_MODEL with the addresses of several providers needs the name of one', () => {
    const env = { OPENAI_COMPATIBLE_BASE_URL: 'http://a', OLLAMA_BASE_URL: 'http://b' }
    expect(problems({ ...env, LLM_MODEL: 'm' })[0]).toContain('set LLM_PROVIDER')
  })

  test('a chosen provider without a default model needs LLM_MODEL', () => {
    const env = { LLM_PROVIDER: 'openai-compatible', OPENAI_COMPATIBLE_BASE_URL: 'http://a' }
    expect(problems(env)).toEqual([
      'the provider openai-compatible has no default model; set LLM_MODEL',
    ])
  })

  test('providers that nothing is set of lack nothing', () => {
    expect(read({ GEMINI_API_KEY: KEY }).incomplete.size).toBe(0)
    const chosen = { LLM_PROVIDER: 'openai-compatible', LLM_MODEL: 'm' }
    expect(read({ ...chosen, OPENAI_COMPATIBLE_BASE_URL: 'http://a' }).incomplete.size).toBe(0)
  })

  test('a key may be in a file, which is watched for changes', () => {
    const path = join(folder, 'key')
    writeFileSync(path, `${KEY}\n`)
    const { providers, files } = read({ OPENAI_API_KEY_FILE: path }, {})
    expect(providers.get('openai')?.apiKey?.open()).toBe(KEY)
    expect(files).toEqual([join(folder, 'llm.json'), path])
  })

  test('a key may be in a file in UTF-16, as PowerShell writes it', () => {
    const path = join(folder, 'key')
    writeFileSync(path, `\uFEFF${KEY}\r\n`, 'utf16le')
    const { providers } = read({ OPENAI_API_KEY_FILE: path })
    expect(providers.get('openai')?.apiKey?.open()).toBe(KEY)
  })

  test('base URLs of providers can be set', () => {
    const env = {
      OLLAMA_BASE_URL: 'http://host.docker.internal:11434/v1',
      OPENAI_COMPATIBLE_BASE_URL: 'http://vllm/v1',
    }
    const { providers } = read(env)
    expect(providers.get('ollama')?.baseUrl).toBe(env.OLLAMA_BASE_URL)
    expect(providers.get('openai-compatible')).toMatchObject({ baseUrl: 'http://vllm/v1' })
    expect(providers.get('openai-compatible')).not.toHaveProperty('apiKey')
  })

  test.each([
    [
      { LLM_PROVIDER: 'gemini' },
      'the provider gemini needs GEMINI_API_KEY, or GEMINI_API_KEY_FILE, to be set',
    ],
    [
      { LLM_FALLBACK: 'demo, xai/grok' },
      'the provider xai needs XAI_API_KEY, or XAI_API_KEY_FILE, to be set',
    ],
    [
      { LLM_PROVIDER: 'openai-compatible' },
      'the provider openai-compatible needs OPENAI_COMPATIBLE_BASE_URL to be set',
    ],
    [
      { LLM_MODEL: 'x' },
      'LLM_MODEL has no effect on the demo model; set LLM_PROVIDER or a key as well',
    ],
    [
      { OPENAI_API_KEY_FILE: '/nowhere/key' },
      'the provider openai has a faulty key: the file /nowhere/key does not exist',
    ],
    [
      { OPENAI_API_KEY: 'one\ntwo' },
      'the provider openai has a faulty key: OPENAI_API_KEY has characters that no key can have',
    ],
  ])('the settings %j are refused with the remedy', (env, problem) => {
    expect(problems(env)).toEqual([problem])
  })
})

describe('settings in llm.json', () => {
  test('providers in llm.json may have any name and the same type', () => {
    const { providers, ...rest } = read(
      { WORK_KEY: KEY },
      `{
        // comments are fine
        "default": "work/gpt-x",
        "fallback": ["local", "demo"],
        "providers": {
          "work": { "type": "openai", "apiKeyEnv": "WORK_KEY", "models": { "gpt-x": { "contextWindow": 9000 } } },
          "local": { "type": "openai-compatible", "baseUrl": "http://127.0.0.1:8000/v1", "model": "qwen" },
        },
      }`,
    )
    expect(rest).toMatchObject({ default: 'work/gpt-x', fallback: ['local', 'demo'] })
    expect(providers.get('work')).toMatchObject({
      type: 'openai',
      baseUrl: 'https://api.openai.com/v1',
      models: { 'gpt-x': { contextWindow: 9000 } },
    })
    expect(providers.get('work')?.apiKey?.open()).toBe(KEY)
    expect(providers.get('local')).toMatchObject({ model: 'qwen' })
  })

  test('llm.json takes precedence over the environment', () => {
    const env = { GEMINI_API_KEY: KEY, LLM_PROVIDER: 'gemini', LLM_FALLBACK: 'gemini' }
    const file = {
      default: 'demo',
      fallback: [],
      providers: { gemini: { baseUrl: 'http://g/v1' } },
    }
    const settings = read(env, file)
    expect(settings).toMatchObject({ default: 'demo', fallback: [] })
    expect(settings.providers.get('gemini')?.baseUrl).toBe('http://g/v1')
  })

  test('settings are printed without keys', () => {
    const settings = read({ GEMINI_API_KEY: KEY })
    const printed =
      JSON.stringify([...settings.providers.values()]) +
      String(settings.providers.get('gemini')?.apiKey)
    expect(printed).not.toContain(KEY)
  })

  test.each<[string, object | string, string]>([
    [
      'broken JSON',
      '{\n "default": "a\n}',
      'llm.json:2:13: is not valid JSON (unexpected end of string)',
    ],
    [
      'an unknown field',
      { defautl: 'demo' },
      'llm.json:1:2: Unrecognized key: "defautl"; correct its name, or remove it',
    ],
    [
      'a key',
      { providers: { openai: { apiKey: KEY } } },
      'llm.json:1:25: providers.openai: Unrecognized key: "apiKey"; correct its name, or remove it',
    ],
    [
      'the default key for another base URL',
      { providers: { work: { type: 'openai', baseUrl: 'https://llm.example.com/v1' } } },
      'llm.json: providers.work: needs WORK_API_KEY, or WORK_API_KEY_FILE, to be set',
    ],
    [
      'a provider without a type',
      { providers: { work: { baseUrl: 'http://x/v1' } } },
      'llm.json: providers.work: type: is required, one of gemini, anthropic, openai, xai, ollama, lmstudio, openai-compatible, demo',
    ],
    [
      'a provider without its key',
      { providers: { work: { type: 'openai', apiKeyEnv: 'WORK_KEY' } } },
      'llm.json: providers.work: needs WORK_KEY, or WORK_KEY_FILE, to be set',
    ],
    [
      'a provider without its base URL',
      { providers: { vllm: { type: 'openai-compatible' } } },
      'llm.json: providers.vllm: needs VLLM_BASE_URL to be set',
    ],
    [
      'an unknown provider',
      { default: 'work/x', fallback: ['play'] },
      'there is no provider "work"; there are gemini, anthropic, openai, xai, ollama, lmstudio, openai-compatible, demo',
    ],
  ])('%s in llm.json is refused with its path', (_, file, problem) => {
    expect(problems({}, file)[0]).toBe(problem)
  })
})

test('a missing file in LLM_CONFIG is refused, the default file is optional', () => {
  expect(problems({ LLM_CONFIG: 'nowhere/llm.json' })).toEqual([
    'LLM_CONFIG: there is no file nowhere/llm.json; "none" does without one',
  ])
  const env = {}
  expect(readLlmSettings(loadConfig(workerSettings, env), env).default).toBeUndefined()
})
