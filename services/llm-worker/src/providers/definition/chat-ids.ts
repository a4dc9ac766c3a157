import type { ListedModel } from '@mcp-host/contracts'
import { z } from 'zod'
import type { ListRequest } from './provider-definition.ts'

/** Models that providers list beside those for conversations, where the list has nothing but names. */
const NO_CHAT =
  /embed|rerank|whisper|tts|dall-e|moderation|transcribe|realtime|image|imagine|sora|minilm|colbert|\b(?:bge|gte|e5|jina|clip|paraphrase|mpnet)\b/i
/** Types of models that do not hold conversations, where the list has types. */
const NO_CHAT_TYPE = /embed|rerank|image|audio|video|moderation|speech|transcri/i

const tokens = z.int().positive().optional().catch(undefined)
/** The lists of OpenAI's API have ids; the other fields are those of the servers that copy it. */
const Listed = z.object({
  id: z.string(),
  /** Together: `chat`, `embedding`, `rerank` and others. */
  type: z.string().optional().catch(undefined),
  /** Mistral: by name; others: the names alone. */
  capabilities: z
    .union([z.record(z.string(), z.unknown()), z.array(z.string())])
    .optional()
    .catch(undefined),
  /** OpenRouter. */
  architecture: z
    .object({ input_modalities: z.array(z.string()), output_modalities: z.array(z.string()) })
    .partial()
    .optional()
    .catch(undefined),
  supported_parameters: z.array(z.string()).optional().catch(undefined),
  /** The context window at OpenRouter and Together, Groq, vLLM and SGLang, Mistral. */
  context_length: tokens,
  context_window: tokens,
  max_model_len: tokens,
  max_context_length: tokens,
})
const List = z.object({ data: z.array(Listed) })

/** The models in the list of OpenAI's API that hold conversations, as far as the list tells. */
export async function listChatIds({ baseUrl, apiKey, read }: ListRequest): Promise<ListedModel[]> {
  const { data } = await read(`${baseUrl}/models`, List, { headers: bearer(apiKey) })
  return data.filter(holdsConversations).map(toListed)
}

function holdsConversations({
  id,
  type,
  capabilities,
  architecture,
}: z.infer<typeof Listed>): boolean {
  const writes = architecture?.output_modalities
  if (writes !== undefined) return writes.includes('text')
  const named = namesOf(capabilities)
  if (named !== undefined && /complet|chat|generat/.test(named.all)) {
    return /complet|chat|generat/.test(named.set)
  }
  if (type !== undefined && type !== 'model') return !NO_CHAT_TYPE.test(type)
  return isChatId(id)
}

function toListed(model: z.infer<typeof Listed>): ListedModel {
  const { id, capabilities, architecture, supported_parameters: parameters } = model
  const window =
    model.context_length ?? model.context_window ?? model.max_model_len ?? model.max_context_length
  const named = namesOf(capabilities)
  const can = (pattern: RegExp, others: boolean | undefined): boolean | undefined =>
    named !== undefined && pattern.test(named.all) ? pattern.test(named.set) : others
  const tools = can(/tool|function/, parameters?.includes('tools'))
  const pictures = can(/vision|multimodal/, architecture?.input_modalities?.includes('image'))
  return {
    id,
    ...(window === undefined ? {} : { contextWindow: window }),
    ...(tools === undefined ? {} : { tools }),
    ...(pictures === undefined ? {} : { pictures }),
  }
}

/** The names of a model's capabilities: all that are told, and those that it has. */
function namesOf(
  capabilities: z.infer<typeof Listed>['capabilities'],
): { readonly all: string; readonly set: string } | undefined {
  if (capabilities === undefined) return undefined
  if (Array.isArray(capabilities)) {
    const all = capabilities.join(' ')
    return { all, set: all }
  }
  const entries = Object.entries(capabilities)
  return {
    all: entries.map(([name]) => name).join(' '),
    set: entries.flatMap(([name, has]) => (has === true ? name : [])).join(' '),
  }
}

export function isChatId(id: string): boolean {
  return !NO_CHAT.test(id)
}

export function bearer(apiKey: string): Record<string, string> {
  return apiKey === '' ? {} : { authorization: `Bearer ${apiKey}` }
}

/** Address of a local server's own API, beside the one that is like OpenAI's. */
export function nativeApi({ baseUrl }: ListRequest): string {
  return baseUrl.replace(/\/v1\/?$/, '')
}
