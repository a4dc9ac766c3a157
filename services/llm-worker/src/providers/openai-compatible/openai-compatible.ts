import { listChatIds } from '../definition/chat-ids.ts'
import type { ProviderDefinition } from '../definition/provider-definition.ts'

/** Connects to a server with OpenAI's chat completions. */
export const connectCompatible: ProviderDefinition['connect'] & {} = async ({
  name,
  apiKey,
  baseUrl,
  fetch,
}) => {
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
  return createOpenAICompatible({
    name,
    baseURL: baseUrl,
    fetch,
    includeUsage: true,
    ...(apiKey === '' ? {} : { apiKey }),
  })
}

/** Any server with OpenAI's chat completions, at an address from the settings. */
export const openaiCompatible: ProviderDefinition = {
  title: 'OpenAI-compatible servers',
  keyVariable: 'OPENAI_COMPATIBLE_API_KEY',
  isKeyOptional: true,
  contextWindow: 32_768,
  reads: ['image/'],
  list: listChatIds,
  connect: connectCompatible,
}
