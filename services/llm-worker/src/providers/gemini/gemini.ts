import { z } from 'zod'
import { isChatId } from '../definition/chat-ids.ts'
import type { ProviderDefinition } from '../definition/provider-definition.ts'

const Models = z.object({
  models: z.array(
    z.object({
      name: z.string(),
      inputTokenLimit: z.int().positive().optional(),
      supportedGenerationMethods: z.array(z.string()).default([]),
    }),
  ),
})

/** Google's Gemini. */
export const gemini: ProviderDefinition = {
  title: 'Google Gemini',
  keyVariable: 'GEMINI_API_KEY',
  baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
  defaultModel: 'gemini-flash-latest',
  metadataName: 'google',
  contextWindow: 1_048_576,
  reads: ['image/', 'application/pdf', 'audio/', 'video/'],
  providerOptions: { google: { thinkingConfig: { includeThoughts: true } } },
  async list({ baseUrl, apiKey, read }) {
    const headers = { 'x-goog-api-key': apiKey }
    const { models } = await read(`${baseUrl}/models?pageSize=1000`, Models, { headers })
    return models
      .filter(
        ({ name, supportedGenerationMethods: methods }) =>
          methods.includes('generateContent') && isChatId(name),
      )
      .map(({ name, inputTokenLimit: window }) => ({
        id: name.replace(/^models\//, ''),
        ...(window === undefined ? {} : { contextWindow: window }),
      }))
  },
  connect: async ({ apiKey, baseUrl, fetch }) => {
    const { createGoogle } = await import('@ai-sdk/google')
    return createGoogle({ apiKey, baseURL: baseUrl, fetch })
  },
}
