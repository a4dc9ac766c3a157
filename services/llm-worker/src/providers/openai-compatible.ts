import type { ProviderKind } from './kind.ts'

/** Whatever speaks OpenAI's chat completions. */
export const openaiCompatible: ProviderKind = {
  contextWindow: 32_768,
  reads: ['image/'],
  connect: async ({ name, apiKey, baseUrl, fetch }) => {
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
    return createOpenAICompatible({
      name,
      baseURL: baseUrl,
      fetch,
      includeUsage: true,
      ...(apiKey === '' ? {} : { apiKey }),
    })
  },
}

/** Ollama. */
export const ollama: ProviderKind = {
  ...openaiCompatible,
  // Its own default; it cuts off silently what is longer.
  contextWindow: 4_096,
}
