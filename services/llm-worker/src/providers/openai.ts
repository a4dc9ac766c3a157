import type { ProviderKind } from './kind.ts'

/** OpenAI, by its Responses API. */
export const openai: ProviderKind = {
  defaultModel: 'gpt-6.1-terra',
  metadataName: 'openai',
  contextWindow: 200_000,
  reads: ['image/', 'application/pdf'],
  connect: async ({ apiKey, baseUrl, fetch }) => {
    const { createOpenAI } = await import('@ai-sdk/openai')
    return createOpenAI({ apiKey, baseURL: baseUrl, fetch })
  },
  // Nothing is kept there: reasoning comes encrypted, and goes back with the conversation.
  providerOptions: { openai: { store: false, reasoningSummary: 'auto', strictJsonSchema: false } },
}
