import { z } from 'zod'
import { bearer, listChatIds, nativeApi } from '../definition/chat-ids.ts'
import { connectCompatible } from '../openai-compatible/openai-compatible.ts'
import type { ProviderDefinition } from '../definition/provider-definition.ts'

const Models = z.object({
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

/** LM Studio. */
export const lmstudio: ProviderDefinition = {
  title: 'LM Studio',
  baseUrl: 'http://127.0.0.1:1234/v1',
  isLocal: true,
  contextWindow: 32_768,
  hasThinkTags: true,
  reads: ['image/'],
  async list(request) {
    const url = `${nativeApi(request)}/api/v1/models`
    const headers = bearer(request.apiKey)
    const found = await request.read(url, Models, { headers }).catch(() => undefined)
    // Older versions have only OpenAI's list.
    if (found === undefined) return listChatIds(request)
    // Loaded models answer at once.
    return found.models
      .filter(({ type }) => type === 'llm')
      .toSorted((one, other) => other.loaded_instances.length - one.loaded_instances.length)
      .map(({ key: id, max_context_length: most, loaded_instances: [loaded], capabilities }) => {
        const window = loaded?.config.context_length ?? most
        const { trained_for_tool_use: tools, vision: pictures } = capabilities ?? {}
        return {
          id,
          ...(window === undefined ? {} : { contextWindow: window }),
          ...(tools === undefined ? {} : { tools }),
          ...(pictures === undefined ? {} : { pictures }),
        }
      })
  },
  connect: connectCompatible,
}
