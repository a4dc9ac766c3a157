import { listChatIds } from '../definition/chat-ids.ts'
import type { ProviderDefinition } from '../definition/provider-definition.ts'

/** xAI's Grok, by its Responses API. */
export const xai: ProviderDefinition = {
  title: 'xAI Grok',
  keyVariable: 'XAI_API_KEY',
  baseUrl: 'https://api.x.ai/v1',
  defaultModel: 'grok-latest',
  metadataName: 'xai',
  contextWindow: 200_000,
  reads: ['image/'],
  providerOptions: { xai: { store: false } },
  list: listChatIds,
  connect: async ({ apiKey, baseUrl, fetch }) => {
    const { createXai } = await import('@ai-sdk/xai')
    return createXai({ apiKey, baseURL: baseUrl, fetch })
  },
}
