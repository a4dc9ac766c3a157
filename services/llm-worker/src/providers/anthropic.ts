import { createAnthropic } from '@ai-sdk/anthropic'
import type { ProviderKind } from './kind.ts'

/** Anthropic's Claude. */
export const anthropic: ProviderKind = {
  defaultModel: 'claude-sonnet-5-5',
  metadataName: 'anthropic',
  contextWindow: 200_000,
  reads: ['image/', 'application/pdf'],
  connect: ({ apiKey, baseUrl, fetch }) => createAnthropic({ apiKey, baseURL: baseUrl, fetch }),
  // The conversation up to here is kept, so that the next turn costs less.
  providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } },
}
