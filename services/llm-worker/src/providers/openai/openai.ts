import { listChatIds } from '../definition/chat-ids.ts'
import type { ProviderDefinition } from '../definition/provider-definition.ts'

/** OpenAI, by its Responses API. */
export const openai: ProviderDefinition = {
  title: 'OpenAI',
  keyVariable: 'OPENAI_API_KEY',
  baseUrl: 'https://api.openai.com/v1',
  defaultModel: 'gpt-6.1-terra',
  metadataName: 'openai',
  contextWindow: 200_000,
  reads: ['image/', 'application/pdf'],
  // OpenAI stores nothing: reasoning comes encrypted, and is sent back with the conversation.
  providerOptions: { openai: { store: false, reasoningSummary: 'auto', strictJsonSchema: false } },
  list: listChatIds,
  connect: async ({ apiKey, baseUrl, fetch }) => {
    const { createOpenAI } = await import('@ai-sdk/openai')
    return createOpenAI({ apiKey, baseURL: baseUrl, fetch })
  },
}
