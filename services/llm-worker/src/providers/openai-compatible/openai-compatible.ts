import { listChatIds } from '../definition/chat-ids.ts'
import type { ProviderDefinition } from '../definition/provider-definition.ts'
import { mapEvents } from '../definition/map-events.ts'
import { CallIndexes } from './call-indexes.ts'
import { withoutRefusedFields } from './optional-fields.ts'
import { repairChunk } from './repair-chunk.ts'

/** Connects to a server with OpenAI's chat completions. */
export const connectCompatible: ProviderDefinition['connect'] & {} = async ({
  name,
  apiKey,
  baseUrl,
  fetch,
}) => {
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
  return (model) =>
    createOpenAICompatible({
      name,
      baseURL: baseUrl,
      fetch: mapEvents(withoutRefusedFields(fetch), () => {
        const indexes = new CallIndexes()
        return (event) => repairChunk(event, indexes)
      }),
      includeUsage: true,
      ...(apiKey === '' ? {} : { apiKey }),
    })(model)
}

/** Any server with OpenAI's chat completions, at an address from the settings. */
export const openaiCompatible: ProviderDefinition = {
  title: 'OpenAI-compatible servers',
  keyVariable: 'OPENAI_COMPATIBLE_API_KEY',
  isKeyOptional: true,
  contextWindow: 32_768,
  hasThinkTags: true,
  reads: ['image/'],
  list: listChatIds,
  connect: connectCompatible,
}
