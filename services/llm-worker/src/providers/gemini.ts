import type { ProviderKind } from './kind.ts'

/** Google's Gemini. */
export const gemini: ProviderKind = {
  defaultModel: 'gemini-flash-latest',
  metadataName: 'google',
  contextWindow: 1_048_576,
  reads: ['image/', 'application/pdf', 'audio/', 'video/'],
  connect: async ({ apiKey, baseUrl, fetch }) => {
    const { createGoogle } = await import('@ai-sdk/google')
    return createGoogle({ apiKey, baseURL: baseUrl, fetch })
  },
  providerOptions: { google: { thinkingConfig: { includeThoughts: true } } },
}
