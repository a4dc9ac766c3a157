import { APICallError } from '@ai-sdk/provider'
import type { ListedModel } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'
import { z } from 'zod'
import type { Provider } from '../settings/find-provider.ts'
import type { ProviderType } from '../settings/llm-file.ts'
import { toBusError } from './ai-sdk/error.ts'
import { providerFetch } from './transport.ts'

/** What is in OpenAI's and similar lists, and holds no conversation. */
const NO_CHAT = /embed|rerank|whisper|tts|dall-e|moderation|transcribe|realtime|image|imagine|sora/i

interface Asked {
  readonly provider: Provider
  readonly signal: AbortSignal
}

/**
 * The models of a provider that hold conversations, in the order it gives them. Throws a `BusError` in words
 * for a user.
 */
export async function listModels(
  provider: Provider,
  { signal }: { readonly signal: AbortSignal },
): Promise<ListedModel[]> {
  try {
    return await lists[provider.type]({ provider, signal })
  } catch (error) {
    if (APICallError.isInstance(error)) {
      const known = toBusError(provider.name, error)
      if (known.code !== 'not-found') throw known
      throw new BusError('not-found', `${provider.name} does not list its models`, { cause: error })
    }
    const isStrange = error instanceof z.ZodError || error instanceof SyntaxError
    const what = isStrange ? 'lists its models in a way that is not known' : 'cannot be reached'
    throw new BusError('unavailable', `${provider.name} ${what}`, { cause: error })
  }
}

const lists: Readonly<Record<ProviderType, (asked: Asked) => Promise<ListedModel[]>>> = {
  gemini: listGemini,
  anthropic: listAnthropic,
  openai: listChatIds,
  xai: listChatIds,
  ollama: listOllama,
  lmstudio: listLmStudio,
  'openai-compatible': listChatIds,
  demo: async () => [{ id: 'demo-1', tools: true, pictures: false }],
}

const Ids = z.object({ data: z.array(z.object({ id: z.string() })) })

/** As OpenAI and those like it list them: their names and nothing more. */
export async function listChatIds({ provider, signal }: Asked): Promise<ListedModel[]> {
  const { data } = await get(`${provider.baseUrl}/models`, Ids, {
    signal,
    headers: bearer(provider),
  })
  return data.filter(({ id }) => !NO_CHAT.test(id)).map(({ id }) => ({ id }))
}

const ClaudeModels = z.object({
  data: z.array(z.object({ id: z.string(), max_input_tokens: z.int().positive().nullish() })),
})

async function listAnthropic({ provider, signal }: Asked): Promise<ListedModel[]> {
  const headers = { 'x-api-key': keyOf(provider), 'anthropic-version': '2023-06-01' }
  const url = `${provider.baseUrl}/models?limit=1000`
  const { data } = await get(url, ClaudeModels, { signal, headers })
  return data.map(({ id, max_input_tokens: window }) => ({
    id,
    ...(window == null ? {} : { contextWindow: window }),
    tools: true,
    pictures: true,
  }))
}

const GeminiModels = z.object({
  models: z.array(
    z.object({
      name: z.string(),
      inputTokenLimit: z.int().positive().optional(),
      supportedGenerationMethods: z.array(z.string()).default([]),
    }),
  ),
})

async function listGemini({ provider, signal }: Asked): Promise<ListedModel[]> {
  const headers = { 'x-goog-api-key': keyOf(provider) }
  const url = `${provider.baseUrl}/models?pageSize=1000`
  const { models } = await get(url, GeminiModels, { signal, headers })
  return models
    .filter(
      ({ name, supportedGenerationMethods: can }) =>
        can.includes('generateContent') && !NO_CHAT.test(name),
    )
    .map(({ name, inputTokenLimit: window }) => ({
      id: name.replace(/^models\//, ''),
      ...(window === undefined ? {} : { contextWindow: window }),
    }))
}

const OllamaTags = z.object({ models: z.array(z.object({ model: z.string() })) })
const OllamaModel = z.object({ capabilities: z.array(z.string()).optional() })

async function listOllama({ provider, signal }: Asked): Promise<ListedModel[]> {
  const base = above(provider)
  const headers = bearer(provider)
  const { models } = await get(`${base}/api/tags`, OllamaTags, { signal, headers })
  const listed = await Promise.all(
    models.map(async ({ model: id }) => {
      const body = JSON.stringify({ model: id })
      const init = { signal, headers, method: 'POST', body }
      const shown = await get(`${base}/api/show`, OllamaModel, init).catch(() => undefined)
      const can = shown?.capabilities
      // Older versions do not say.
      if (can === undefined) return NO_CHAT.test(id) ? [] : [{ id }]
      const isChat = can.includes('completion')
      return isChat ? [{ id, tools: can.includes('tools'), pictures: can.includes('vision') }] : []
    }),
  )
  return listed.flat()
}

const LmStudioModels = z.object({
  models: z.array(
    z.object({
      type: z.string(),
      key: z.string(),
      max_context_length: z.int().positive().optional(),
      loaded_instances: z
        .array(z.object({ config: z.object({ context_length: z.int().positive().optional() }) }))
        .default([]),
      capabilities: z
        .object({ vision: z.boolean().optional(), trained_for_tool_use: z.boolean().optional() })
        .optional(),
    }),
  ),
})

async function listLmStudio(asked: Asked): Promise<ListedModel[]> {
  const { provider, signal } = asked
  const url = `${above(provider)}/api/v1/models`
  const found = await get(url, LmStudioModels, { signal, headers: bearer(provider) }).catch(
    () => undefined,
  )
  // Older versions have only OpenAI's list.
  if (found === undefined) return listChatIds(asked)
  // Those that are loaded answer at once.
  return found.models
    .filter(({ type }) => type === 'llm')
    .toSorted((one, other) => other.loaded_instances.length - one.loaded_instances.length)
    .map(({ key: id, max_context_length: most, loaded_instances: [loaded], capabilities }) => {
      const window = loaded?.config.context_length ?? most
      return {
        id,
        ...(window === undefined ? {} : { contextWindow: window }),
        ...(capabilities?.trained_for_tool_use === undefined
          ? {}
          : { tools: capabilities.trained_for_tool_use }),
        ...(capabilities?.vision === undefined ? {} : { pictures: capabilities.vision }),
      }
    })
}

async function get<T>(
  url: string,
  schema: z.ZodType<T>,
  init: Readonly<Record<string, unknown>>,
): Promise<T> {
  const response = await providerFetch(url, init)
  const text = await response.text()
  if (!response.ok) {
    throw new APICallError({
      message: `it answered ${response.status}`,
      url,
      requestBodyValues: {},
      statusCode: response.status,
      responseBody: text,
    })
  }
  return schema.parse(JSON.parse(text))
}

/** Where its own interface is, beside OpenAI's. */
function above({ baseUrl }: Provider): string {
  return baseUrl.replace(/\/v1\/?$/, '')
}

function bearer(provider: Provider): Record<string, string> {
  const key = keyOf(provider)
  return key === '' ? {} : { authorization: `Bearer ${key}` }
}

function keyOf({ apiKey }: Provider): string {
  return apiKey?.open() ?? ''
}
