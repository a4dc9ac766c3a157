import { anthropic } from './anthropic/anthropic.ts'
import { demo } from './demo/demo.ts'
import { gemini } from './gemini/gemini.ts'
import { lmstudio } from './lmstudio/lmstudio.ts'
import { ollama } from './ollama/ollama.ts'
import { openaiCompatible } from './openai-compatible/openai-compatible.ts'
import { openai } from './openai/openai.ts'
import type { ProviderDefinition } from './definition/provider-definition.ts'
import { xai } from './xai/xai.ts'

const list = {
  gemini,
  anthropic,
  openai,
  xai,
  ollama,
  lmstudio,
  'openai-compatible': openaiCompatible,
  demo,
}

export type ProviderType = keyof typeof list

/** All types of providers, in the order in which one is chosen when none is named. */
export const providers: Readonly<Record<ProviderType, ProviderDefinition>> = list

// An object literal has the keys of its type.
export const providerTypes = Object.keys(list) as ProviderType[]

/** Beginning of the environment variables of a provider. */
export function variablePrefix(provider: string): string {
  return provider.toUpperCase().replaceAll('-', '_')
}

/** Whether a provider of this type works with a key only. */
export function needsKey({ keyVariable, isKeyOptional }: ProviderDefinition): boolean {
  return keyVariable !== undefined && isKeyOptional !== true
}
