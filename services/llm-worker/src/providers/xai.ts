import type { ProviderKind } from './kind.ts'

/** xAI's Grok, by its Responses API. */
export const xai: ProviderKind = {
  defaultModel: 'grok-latest',
  metadataName: 'xai',
  contextWindow: 200_000,
  reads: ['image/'],
  connect: async ({ apiKey, baseUrl, fetch }) => {
    const { createXai } = await import('@ai-sdk/xai')
    return createXai({ apiKey, baseURL: baseUrl, fetch })
  },
  providerOptions: { xai: { store: false } },
}
