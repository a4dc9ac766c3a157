import type { ProviderType } from '../settings/llm-file.ts'
import { anthropic } from './anthropic.ts'
import { gemini } from './gemini.ts'
import type { ProviderKind } from './kind.ts'
import { ollama, openaiCompatible } from './openai-compatible.ts'
import { openai } from './openai.ts'
import { xai } from './xai.ts'

/** What is spoken with every type of provider but the built-in demo. */
export const providerKinds: Readonly<Record<Exclude<ProviderType, 'demo'>, ProviderKind>> = {
  gemini,
  anthropic,
  openai,
  xai,
  'openai-compatible': openaiCompatible,
  ollama,
  lmstudio: openaiCompatible,
}
