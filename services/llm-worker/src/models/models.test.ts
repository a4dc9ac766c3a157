import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '@mcp-host/service'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { workerSettings } from '../config.ts'
import type { StreamPart } from '../model.ts'
import { readLlmSettings } from '../settings/llm-settings.ts'
import { noBudgets } from './__fixtures__/no-budgets.ts'
import type { OwnServer } from './__fixtures__/own-server.ts'
import { sendEvents, startOwnServer } from './__fixtures__/own-server.ts'
import { wireFormats } from './__fixtures__/wire-formats.ts'
import type { Models } from './models.ts'
import { createModels } from './models.ts'

const NOWHERE = 'http://127.0.0.1:1/v1'
const KEY = 'a-key-nobody-may-see'

let own: OwnServer
beforeEach(async () => {
  own = await startOwnServer()
})
afterEach(() => own[Symbol.asyncDispose]())

/** Models without local providers, unless the test sets their address. */
function modelsOf(env: Record<string, string> = {}, otherHost?: string): Promise<Models> {
  const local = { OLLAMA_BASE_URL: NOWHERE, LMSTUDIO_BASE_URL: NOWHERE }
  const all = { LLM_CONFIG: 'none', ...local, ...env }
  const config = loadConfig(workerSettings, all)
  return createModels({ config, budgets: noBudgets, otherHost }, readLlmSettings(config, all))
}

const listModels = (...ids: string[]): void => {
  own.answer = (response) =>
    void response.end(JSON.stringify({ object: 'list', data: ids.map((id) => ({ id })) }))
}

describe('default models', () => {
  test.each([
    [
      {},
      'set the key of a provider: GEMINI_API_KEY, ANTHROPIC_API_KEY, OPENAI_API_KEY, XAI_API_KEY.',
    ],
    [
      { OPENAI_COMPATIBLE_API_KEY: KEY },
      'For a real model: openai-compatible needs OPENAI_COMPATIBLE_BASE_URL to be set.',
    ],
    [
      { OPENAI_COMPATIBLE_BASE_URL: 'http://a' },
      'set LLM_PROVIDER=openai-compatible and LLM_MODEL, or choose one of its models.',
    ],
  ])('with %j the notice of the demo model ends with: %s', async (env, end) => {
    const { provider, notice = '' } = (await modelsOf(env)).get()
    expect(provider).toBe('demo')
    expect(notice.slice(-end.length)).toBe(end)
  })

  test('the default is the first provider with a key, with its default model', async () => {
    const models = await modelsOf({ OPENAI_API_KEY: KEY, XAI_API_KEY: KEY })
    expect(models.get()).toMatchObject({ provider: 'openai', model: 'gpt-6.1-terra' })
  })

  test.each(['ollama', 'lmstudio'])(
    'the default without any key is %s if it runs',
    async (name) => {
      listModels('qwen3:8b', 'llama')
      const models = await modelsOf({ [`${name.toUpperCase()}_BASE_URL`]: `${own.origin}/v1` })
      expect(models.get()).toMatchObject({ provider: name, model: 'qwen3:8b' })
      expect(own.received).toContainEqual(
        expect.objectContaining({ method: 'GET', url: '/v1/models' }),
      )
    },
  )

  test('a model of Ollama that only embeds is not the default', async () => {
    const ids = ['text-maker', 'qwen3:8b']
    own.answer = (response, { url, body }) => {
      const { model } = (body ?? {}) as { model?: string }
      const pages: Record<string, object> = {
        '/v1/models': { data: ids.map((id) => ({ id })) },
        '/api/tags': { models: ids.map((id) => ({ model: id })) },
        '/api/show': { capabilities: model === 'qwen3:8b' ? ['completion'] : ['embedding'] },
      }
      response.end(JSON.stringify(pages[url ?? '']))
    }
    const models = await modelsOf({ OLLAMA_BASE_URL: `${own.origin}/v1` })
    expect(models.get()).toMatchObject({ provider: 'ollama', model: 'qwen3:8b' })
  })

  test.each<[string, (answer: OwnServer) => void]>([
    ['has no models', () => listModels()],
    ['is another server', (server) => (server.answer = (response) => void response.end('<html>'))],
    ['does not answer', (server) => (server.answer = () => undefined)],
  ])('the default is the demo model when the local provider %s', async (_, prepare) => {
    prepare(own)
    const models = await modelsOf({ OLLAMA_BASE_URL: `${own.origin}/v1` })
    expect(models.get()).toMatchObject({ provider: 'demo' })
  })

  test('a local provider that is set without a model uses its first one', async () => {
    listModels('qwen3:8b')
    const env = { LLM_PROVIDER: 'ollama', OLLAMA_BASE_URL: `${own.origin}/v1` }
    expect((await modelsOf(env)).get()).toMatchObject({ provider: 'ollama', model: 'qwen3:8b' })
    await expect(modelsOf({ LLM_PROVIDER: 'ollama' })).rejects.toThrow(
      'ollama at http://127.0.0.1:1/v1 lists no model; start it, or name one: ollama/<model>',
    )
  })

  test('a local provider is also searched on the host of a container', async () => {
    const there = createServer((_, response) => void response.end('{"data":[{"id":"qwen3"}]}'))
    there.listen(11434, '127.0.0.99')
    await once(there, 'listening')
    const env = { OLLAMA_BASE_URL: '' }
    expect((await modelsOf(env, '127.0.0.99')).get()).toMatchObject({ provider: 'ollama' })
    // An explicit base URL wins.
    const set = { OLLAMA_BASE_URL: NOWHERE }
    expect((await modelsOf(set, '127.0.0.99')).get()).toMatchObject({ provider: 'demo' })
    there.close()
  })

  test('a local server that was found stays the default when others start', async () => {
    listModels('qwen3:8b')
    const env = { LLM_CONFIG: 'none', OLLAMA_BASE_URL: `${own.origin}/v1` }
    const config = loadConfig(workerSettings, env)
    const deps = { config, budgets: noBudgets }
    const models = await createModels(deps, readLlmSettings(config, env), 'lmstudio/m')
    expect(models.get()).toMatchObject({ provider: 'lmstudio', model: 'm' })
  })

  test('local providers are not searched when a key is set', async () => {
    await modelsOf({ GEMINI_API_KEY: KEY, OLLAMA_BASE_URL: `${own.origin}/v1` })
    expect(own.received).toEqual([])
  })
})

describe('references to models', () => {
  test('a model is found by its provider and by its name, which may have slashes', async () => {
    const models = await modelsOf({ XAI_API_KEY: KEY })
    expect(models.get('xai')).toMatchObject({ provider: 'xai', model: 'grok-latest' })
    expect(models.get('xai/a/b')).toMatchObject({ provider: 'xai', model: 'a/b' })
  })

  test('a model is found by an alias of its provider', async () => {
    const models = await modelsOf({ ANTHROPIC_API_KEY: KEY })
    expect(models.get('claude/m')).toMatchObject({ provider: 'anthropic', model: 'm' })
  })

  test('an unknown provider is refused with the known ones', async () => {
    const models = await modelsOf({ XAI_API_KEY: KEY })
    expect(() => models.get('parrot/1')).toThrow(
      'there is no provider "parrot"; there are xai, ollama, lmstudio, demo',
    )
    expect(() => models.get('ollama')).toThrow('ollama has no default model')
  })

  test('the context window of a model can be set', async () => {
    expect((await modelsOf({ GEMINI_API_KEY: KEY })).get().contextWindow).toBe(1_048_576)
    const env = { GEMINI_API_KEY: KEY, LLM_CONTEXT_TOKENS: '9000' }
    expect((await modelsOf(env)).get().contextWindow).toBe(9_000)
  })
})

test('a model that its provider does not know is refused with the listed ones', async () => {
  own.answer = (response, { method }) => {
    if (method === 'POST') {
      response.writeHead(404).end('{"error":"no such model"}')
      return
    }
    const data = Array.from({ length: 12 }, (_, index) => ({ id: `m${index}` }))
    response.end(JSON.stringify({ data }))
  }
  const models = await modelsOf({ OPENAI_COMPATIBLE_BASE_URL: `${own.origin}/v1` })
  const stream = async (name: string): Promise<unknown> => {
    const { signal } = new AbortController()
    const request = { messages: [{ role: 'user' as const, text: 'hello' }], tools: [] }
    const model = models.get(`openai-compatible/${name}`)
    return Array.fromAsync(model.stream(request, { signal }))
  }
  const plain = 'openai-compatible answered 404: it has no such model (no such model)'
  await expect(stream('nope')).rejects.toThrow(plain)
  await models.list()
  const names = 'm0, m1, m2, m3, m4, m5, m6, m7, m8, m9 and 2 more'
  await expect(stream('nope')).rejects.toMatchObject({
    code: 'not-found',
    message: `${plain}; there are ${names}`,
  })
  // A listed model is not reported as missing.
  await expect(stream('m3')).rejects.toMatchObject({ message: plain })
})

test('a recorded answer is replayed without its model', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'models-'))
  try {
    const path = join(folder, 'trace.jsonl')
    const stream = (models: Models, text: string): Promise<StreamPart[]> => {
      const { signal } = new AbortController()
      const request = { messages: [{ role: 'user' as const, text }], tools: [] }
      return Array.fromAsync(models.get().stream(request, { signal }))
    }
    const fast = { DEMO_TOKENS_PER_SECOND: '0' }
    const parts = await stream(await modelsOf({ LLM_RECORD: path, ...fast }), 'hello')
    const replay = await modelsOf({ DEMO_REPLAY: path, ...fast })
    expect(replay.get()).toMatchObject({ provider: 'demo', model: 'replay' })
    expect(await stream(replay, 'hello')).toEqual(parts)
    await expect(stream(replay, 'goodbye')).rejects.toThrow('no answer to this is recorded')
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('a model that broke off an answer is tried last', async () => {
  const env = { XAI_API_KEY: KEY, LLM_FALLBACK: 'demo,ollama/qwen3' }
  const models = await modelsOf(env)
  expect(models.get('xai')).toMatchObject({ provider: 'xai' })
  expect(models.get('xai', ['demo/demo-1'])).toMatchObject({ provider: 'xai' })
  expect(models.get('xai', ['xai/grok-latest'])).toMatchObject({ provider: 'demo' })
  const all = ['xai/grok-latest', 'demo/demo-1', 'ollama/qwen3']
  expect(models.get('xai', all)).toMatchObject({ provider: 'xai' })
  const request = { messages: [{ role: 'user' as const, text: 'hello' }], tools: [] }
  const { signal } = new AbortController()
  const parts = await Array.fromAsync(
    models.get('xai', ['xai/grok-latest']).stream(request, { signal }),
  )
  const text = 'xai broke off its answer; demo answers instead'
  expect(parts[0]).toEqual({ type: 'notice', text })
})

test('a failed provider is replaced by its fallback, with a notice to the user', async () => {
  const { begin, openText, text, closeText, end } = wireFormats.chat
  own.answer = (response) => {
    sendEvents(response, begin + openText + text('from here') + closeText + end)
    response.end()
  }
  const models = await modelsOf({
    OPENAI_API_KEY: KEY,
    OPENAI_BASE_URL: NOWHERE,
    OPENAI_COMPATIBLE_BASE_URL: `${own.origin}/v1`,
    LLM_FALLBACK: 'openai-compatible/local-1',
  })
  const request = { messages: [{ role: 'user' as const, text: 'hello' }], tools: [] }
  const { signal } = new AbortController()
  const parts = await Array.fromAsync(models.get().stream(request, { signal }))
  expect(parts).toMatchObject([
    {
      type: 'notice',
      text: 'openai cannot be reached; its address is http://127.0.0.1:1 (OPENAI_BASE_URL); openai-compatible answers instead',
    },
    { type: 'answering', provider: 'openai-compatible', model: 'local-1' },
    { type: 'text-delta', text: 'from here' },
    { type: 'block-end' },
    { type: 'end', usage: { inputTokens: 7, outputTokens: 3 } },
  ])
})

test('a model that is wanted alone has no fallback', async () => {
  const models = await modelsOf({
    OPENAI_API_KEY: KEY,
    OPENAI_BASE_URL: NOWHERE,
    LLM_FALLBACK: 'demo',
  })
  const request = { messages: [{ role: 'user' as const, text: 'hello' }], tools: [] }
  const { signal } = new AbortController()
  const answer = Array.fromAsync(models.alone('openai').stream(request, { signal }))
  await expect(answer).rejects.toThrow('openai cannot be reached')
  expect(() => models.alone('none')).toThrow('none')
})

test.each<[Parameters<Models['oneOf']>[0], string]>([
  [{}, 'demo'],
  [{ modelPreferences: { hints: [{}, { name: '' }, { name: 'nothing' }] } }, 'demo'],
  [{ modelPreferences: { hints: [{ name: 'nothing' }, { name: 'GPT' }] } }, 'openai'],
  [{ modelPreferences: { hints: [{ name: 'claude' }, { name: 'gpt' }] } }, 'anthropic'],
  [{ model: 'openai', modelPreferences: { hints: [{ name: 'claude' }] } }, 'openai'],
])('hints of a server choose among the models of the settings: %j', async (request, provider) => {
  const keys = { OPENAI_API_KEY: KEY, ANTHROPIC_API_KEY: KEY }
  const models = await modelsOf({ LLM_PROVIDER: 'demo', ...keys })
  expect(models.oneOf(request).provider).toBe(provider)
})

test('providers are listed with their models, state and settings', async () => {
  listModels('qwen3:8b', 'nomic-embed')
  const models = await modelsOf({
    LLM_FALLBACK: 'lmstudio/gone',
    OPENAI_COMPATIBLE_BASE_URL: `${own.origin}/v1`,
    OPENAI_BASE_URL: NOWHERE,
    OPENAI_API_KEY: KEY,
  })
  const listed = await models.list()
  const entryOf = (name: string) => listed.find(({ provider }) => provider === name)
  expect(entryOf('openai-compatible')).toEqual({
    kind: 'provider',
    provider: 'openai-compatible',
    state: 'ready',
    contextWindow: 32_768,
    models: [{ id: 'qwen3:8b' }],
  })
  expect(entryOf('openai')).toMatchObject({
    state: 'unavailable',
    error: 'openai cannot be reached; its address is http://127.0.0.1:1 (OPENAI_BASE_URL)',
    defaultModel: 'gpt-6.1-terra',
  })
  expect(entryOf('demo')).toMatchObject({ state: 'ready', models: [{ id: 'demo-1', tools: true }] })
  // Of the local providers that do not run, only the configured one is listed.
  expect(entryOf('lmstudio')).toMatchObject({ state: 'unavailable' })
  expect(entryOf('ollama')).toBeUndefined()
  expect(JSON.stringify(listed)).not.toContain(KEY)
})

test('a provider that was configured in part is listed with what it lacks', async () => {
  const models = await modelsOf({ OPENAI_COMPATIBLE_API_KEY: KEY })
  const error = 'openai-compatible needs OPENAI_COMPATIBLE_BASE_URL to be set'
  expect(await models.list()).toContainEqual({
    kind: 'provider',
    provider: 'openai-compatible',
    state: 'unavailable',
    error,
    models: [],
  })
  expect(() => models.get('openai-compatible/m')).toThrow(error)
})

describe('answers of a server like OpenAI', () => {
  const say = (...texts: string[]): string =>
    texts.map((text) => wireFormats.chat.text(text)).join('') + wireFormats.chat.end
  /** The parts of an answer, and the requests that it took. */
  const answerOf = async (...answers: string[]) => {
    own.answer = (response, { method }) => {
      if (method === 'POST') sendEvents(response, answers.shift() ?? '')
      response.end()
    }
    const env = { LLM_PROVIDER: 'openai-compatible', LLM_MODEL: 'm' }
    const models = await modelsOf({ ...env, OPENAI_COMPATIBLE_BASE_URL: `${own.origin}/v1` })
    const request = { messages: [{ role: 'user' as const, text: 'hello' }], tools: [] }
    const parts: StreamPart[] = []
    for await (const part of models.get().stream(request, { signal: AbortSignal.any([]) })) {
      parts.push(part)
    }
    return parts
  }

  test('reasoning in tags at the beginning of the text is reasoning', async () => {
    const parts = await answerOf(say('<think>hm</think>', 'four'))
    expect(parts.filter(({ type }) => type.endsWith('-delta'))).toEqual([
      { type: 'reasoning-delta', text: 'hm' },
      { type: 'text-delta', text: 'four' },
    ])
  })

  test('an empty answer is asked for once more', async () => {
    const parts = await answerOf(say(''), say('four'))
    expect(parts).toContainEqual({ type: 'text-delta', text: 'four' })
    expect(parts).toContainEqual({
      type: 'notice',
      text: 'openai-compatible ended without an answer, and is asked again',
    })
  })
})
