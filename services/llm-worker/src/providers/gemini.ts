import { createGoogle } from '@ai-sdk/google'
import type { WorkerConfig } from '../config.ts'
import type { Model } from '../model.ts'
import { aiSdkModel } from './ai-sdk/ai-sdk-model.ts'

const DEFAULT_MODEL = 'gemini-flash-latest'
const DEFAULT_CONTEXT_TOKENS = 1_048_576

/** Google's Gemini. */
export function geminiModel(config: WorkerConfig): Model {
  const {
    geminiApiKey,
    geminiBaseUrl,
    model = DEFAULT_MODEL,
    contextTokens = DEFAULT_CONTEXT_TOKENS,
  } = config
  const google = createGoogle({
    apiKey: geminiApiKey?.open() ?? '',
    ...(geminiBaseUrl === undefined ? {} : { baseURL: geminiBaseUrl }),
  })
  return aiSdkModel('gemini', google(model), {
    contextWindow: contextTokens,
    providerOptions: { google: { thinkingConfig: { includeThoughts: true } } },
  })
}
