import type { ProviderKind } from './kind.ts'

/** Anthropic's Claude. */
export const anthropic: ProviderKind = {
  defaultModel: 'claude-sonnet-5-5',
  metadataName: 'anthropic',
  contextWindow: 200_000,
  reads: ['image/', 'application/pdf'],
  connect: async ({ apiKey, baseUrl, fetch }) => {
    const { createAnthropic } = await import('@ai-sdk/anthropic')
    return createAnthropic({ apiKey, baseURL: baseUrl, fetch })
  },
  // The conversation up to here is kept, so that the next turn costs less.
  providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } },
}
