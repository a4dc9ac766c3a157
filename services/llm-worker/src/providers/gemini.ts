import { createGoogle } from '@ai-sdk/google'
import type { WorkerConfig } from '../config.ts'
import type { Model } from '../model.ts'
import { aiSdkModel } from './ai-sdk/ai-sdk-model.ts'

const DEFAULT_MODEL = 'gemini-flash-latest'

/** Google's Gemini. */
export function geminiModel(config: WorkerConfig): Model {
  const { geminiApiKey, geminiBaseUrl, model = DEFAULT_MODEL } = config
  const google = createGoogle({
    apiKey: geminiApiKey?.open() ?? '',
    ...(geminiBaseUrl === undefined ? {} : { baseURL: geminiBaseUrl }),
  })
  return aiSdkModel('gemini', google(model), {
    google: { thinkingConfig: { includeThoughts: true } },
  })
}
