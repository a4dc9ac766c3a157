import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { findProvider } from '../settings/find-provider.ts'
import type { ProviderType } from '../providers/index.ts'
import type { OwnServer, Received } from './__fixtures__/own-server.ts'
import { startOwnServer } from './__fixtures__/own-server.ts'
import { listModels } from './list-models.ts'

const KEY = 'a-key-nobody-may-see'
/** Answers of the server, by path. */
let pages: Record<string, unknown>
let own: OwnServer
beforeAll(async () => {
  own = await startOwnServer()
})
afterAll(() => own[Symbol.asyncDispose]())
beforeEach(() => {
  pages = {}
  own.received.length = 0
  own.answer = (response, { url = '', body }) => {
    const page = pages[url]
    const found: unknown = typeof page === 'function' ? page(body) : page
    response.writeHead(found === undefined ? 404 : 200).end(JSON.stringify(found))
  }
})

const list = (type: ProviderType, path: string, origin = own.origin) => {
  const prefix = type.toUpperCase().replaceAll('-', '_')
  const env = { [`${prefix}_BASE_URL`]: origin + path, [`${prefix}_API_KEY`]: KEY }
  return listModels(findProvider(type, {}, env), { signal: AbortSignal.timeout(5_000) })
}
const headersOf = ({ headers }: Partial<Received> = {}) => headers

test.each<[ProviderType, string]>([
  ['openai', 'authorization'],
  ['xai', 'authorization'],
  ['openai-compatible', 'authorization'],
])('the models of %s are listed without those for embeddings and speech', async (type, header) => {
  const ids = ['big-1', 'text-embedding-3', 'tts-1', 'small-1']
  pages['/v1/models'] = { object: 'list', data: ids.map((id) => ({ id, object: 'model' })) }
  expect(await list(type, '/v1')).toEqual([{ id: 'big-1' }, { id: 'small-1' }])
  expect(headersOf(own.received[0])?.[header]).toBe(`Bearer ${KEY}`)
})

test.each<[string, object[], object[]]>([
  [
    'Mistral',
    [
      {
        id: 'big',
        max_context_length: 32_768,
        capabilities: { completion_chat: true, function_calling: true, vision: false },
      },
      { id: 'mistral-embed', capabilities: { completion_chat: false, function_calling: false } },
    ],
    [{ id: 'big', contextWindow: 32_768, tools: true, pictures: false }],
  ],
  [
    'OpenRouter',
    [
      {
        id: 'a/image-reader',
        context_length: 8_192,
        architecture: { input_modalities: ['text', 'image'], output_modalities: ['text'] },
        supported_parameters: ['tools', 'stop'],
      },
      {
        id: 'a/painter',
        architecture: { input_modalities: ['text'], output_modalities: ['image'] },
      },
    ],
    [{ id: 'a/image-reader', contextWindow: 8_192, tools: true, pictures: true }],
  ],
  [
    'Together',
    [
      { id: 'a', type: 'chat', context_length: 4_096 },
      { id: 'b', type: 'embedding' },
      { id: 'c', type: 'rerank' },
    ],
    [{ id: 'a', contextWindow: 4_096 }],
  ],
  [
    'vLLM',
    [{ id: 'a', object: 'model', max_model_len: 16_384 }],
    [{ id: 'a', contextWindow: 16_384 }],
  ],
  [
    'llama.cpp',
    [{ id: 'a', capabilities: ['completion', 'multimodal'] }],
    [{ id: 'a', pictures: true }],
  ],
  [
    'a server with names alone',
    ['bge-m3', 'all-minilm:l6-v2', 'jina-clip-v2', 'e5-large', 'qwen3:8b'].map((id) => ({ id })),
    [{ id: 'qwen3:8b' }],
  ],
  [
    'a server with fields of other types',
    [{ id: 'a', type: 5, capabilities: 'all' }],
    [{ id: 'a' }],
  ],
])('of %s those models are listed that hold conversations', async (_, data, expected) => {
  pages['/v1/models'] = { object: 'list', data }
  expect(await list('openai-compatible', '/v1')).toEqual(expected)
})

test('the models of Claude are listed with their context windows', async () => {
  const data = [{ type: 'model', id: 'claude-a', max_input_tokens: 1_000_000 }, { id: 'claude-b' }]
  pages['/v1/models?limit=1000'] = { data, has_more: false }
  const can = { tools: true, pictures: true }
  expect(await list('anthropic', '/v1')).toEqual([
    { id: 'claude-a', contextWindow: 1_000_000, ...can },
    { id: 'claude-b', ...can },
  ])
  expect(headersOf(own.received[0])).toMatchObject({
    'x-api-key': KEY,
    'anthropic-version': '2023-06-01',
  })
})

test('the models of Gemini are listed if they generate content', async () => {
  const writes = { supportedGenerationMethods: ['generateContent', 'countTokens'] }
  pages['/v1beta/models?pageSize=1000'] = {
    models: [
      { name: 'models/gemini-flash', inputTokenLimit: 1_048_576, ...writes },
      { name: 'models/gemini-embedding', supportedGenerationMethods: ['embedContent'] },
    ],
  }
  expect(await list('gemini', '/v1beta')).toEqual([
    { id: 'gemini-flash', contextWindow: 1_048_576 },
  ])
  expect(headersOf(own.received[0])?.['x-goog-api-key']).toBe(KEY)
})

test('the models of Ollama are listed with their capabilities', async () => {
  pages['/api/tags'] = {
    models: ['eyes:7b', 'words:1b', 'bert'].map((model) => ({ model, name: model })),
  }
  const can: Record<string, string[]> = {
    'eyes:7b': ['completion', 'vision', 'tools'],
    'words:1b': ['completion'],
    bert: ['embedding'],
  }
  pages['/api/show'] = ({ model }: { model: string }) => ({ capabilities: can[model] })
  expect(await list('ollama', '/v1')).toEqual([
    { id: 'eyes:7b', tools: true, pictures: true },
    { id: 'words:1b', tools: false, pictures: false },
  ])
})

test('the loaded models of LM Studio are listed first', async () => {
  const model = (key: string, more: object) => ({
    type: 'llm',
    key,
    max_context_length: 8_192,
    ...more,
  })
  const loaded = { loaded_instances: [{ config: { context_length: 4_096 } }] }
  pages['/api/v1/models'] = {
    models: [
      model('far', { loaded_instances: [] }),
      { type: 'embedding', key: 'bert' },
      model('near', { ...loaded, capabilities: { vision: true, trained_for_tool_use: false } }),
    ],
  }
  expect(await list('lmstudio', '/v1')).toEqual([
    { id: 'near', contextWindow: 4_096, tools: false, pictures: true },
    { id: 'far', contextWindow: 8_192 },
  ])
})

test('the models of an older LM Studio are listed by the OpenAI API', async () => {
  pages['/v1/models'] = { data: [{ id: 'near' }] }
  expect(await list('lmstudio', '/v1')).toEqual([{ id: 'near' }])
})

test.each<[string, () => Promise<unknown>, string, string]>([
  [
    'is unreachable',
    () => list('openai', '/v1', 'http://127.0.0.1:1'),
    'unavailable',
    'openai cannot be reached',
  ],
  [
    'answers in an unknown format',
    () => list('openai', '/v1'),
    'unavailable',
    'openai lists its models in a way that is not known',
  ],
  [
    'has no list of models',
    () => list('gemini', '/v1beta'),
    'not-found',
    'gemini does not list its models',
  ],
])('the list of a provider that %s fails with the reason', async (_, listing, code, message) => {
  pages['/v1/models'] = { models: 5 }
  await expect(listing()).rejects.toMatchObject({ code, message: expect.stringContaining(message) })
})

test('only the beginning of an endless error response is read before the connection is closed', async () => {
  const closed = Promise.withResolvers<void>()
  let written = 0
  own.answer = (response) => {
    response.on('close', closed.resolve)
    response.writeHead(500)
    const write = (): void => {
      while (!response.destroyed && response.write('x'.repeat(10_000))) written += 10_000
    }
    response.on('drain', write)
    write()
  }
  await expect(list('openai', '/v1')).rejects.toThrow(/^openai answered 500$/)
  await closed.promise
  expect(written).toBeLessThan(20_000_000)
})
