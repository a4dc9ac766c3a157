import { z } from 'zod'
import type { ProviderDefinition } from '../definition/provider-definition.ts'

const Models = z.object({
  data: z.array(z.object({ id: z.string(), max_input_tokens: z.int().positive().nullish() })),
})

/** Anthropic's Claude. */
export const anthropic: ProviderDefinition = {
  title: 'Anthropic Claude',
  keyVariable: 'ANTHROPIC_API_KEY',
  baseUrl: 'https://api.anthropic.com/v1',
  defaultModel: 'claude-sonnet-5-5',
  metadataName: 'anthropic',
  contextWindow: 200_000,
  reads: ['image/', 'application/pdf'],
  // The conversation up to this point is cached, so that the next turn costs less.
  providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } },
  async list({ baseUrl, apiKey, read }) {
    const headers = { 'x-api-key': apiKey, 'anthropic-version': '2023-06-01' }
    const { data } = await read(`${baseUrl}/models?limit=1000`, Models, { headers })
    return data.map(({ id, max_input_tokens: window }) => ({
      id,
      ...(window == null ? {} : { contextWindow: window }),
      tools: true,
      pictures: true,
    }))
  },
  connect: async ({ apiKey, baseUrl, fetch }) => {
    const { createAnthropic } = await import('@ai-sdk/anthropic')
    return createAnthropic({ apiKey, baseURL: baseUrl, fetch })
  },
}
