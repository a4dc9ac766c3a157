import { createXai } from '@ai-sdk/xai'
import type { ProviderKind } from './kind.ts'

/** xAI's Grok, by its Responses API. */
export const xai: ProviderKind = {
  defaultModel: 'grok-latest',
  metadataName: 'xai',
  contextWindow: 200_000,
  reads: ['image/'],
  connect: ({ apiKey, baseUrl, fetch }) => createXai({ apiKey, baseURL: baseUrl, fetch }),
  providerOptions: { xai: { store: false } },
}
