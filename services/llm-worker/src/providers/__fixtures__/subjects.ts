import type { WireFormat } from './wire-formats.ts'
import { wireFormats } from './wire-formats.ts'
import type { ProviderType } from '../../settings/llm-file.ts'

/** A provider as the compliance suite needs to know it. */
export interface Subject {
  readonly name: Exclude<ProviderType, 'demo'>
  /** Behind the origin of a server that stands in for it. */
  readonly path: string
  readonly wire: WireFormat
  /** Where its key is sent; local ones get none. */
  readonly keyHeader?: string
  /** Usage as the stand-in is to be told: 7 tokens read, 3 written. */
  readonly usage: Readonly<Record<string, number>>
}

const chatUsage = { prompt_tokens: 7, completion_tokens: 3 }
const tokenUsage = { input_tokens: 7, output_tokens: 3 }
const common = { path: '/v1' }

export const subjects: readonly Subject[] = [
  {
    ...common,
    name: 'gemini',
    path: '/v1beta',
    wire: wireFormats.gemini,
    keyHeader: 'x-goog-api-key',
    usage: { promptTokenCount: 7, candidatesTokenCount: 3 },
  },
  {
    ...common,
    name: 'anthropic',
    wire: wireFormats.anthropic,
    keyHeader: 'x-api-key',
    usage: tokenUsage,
  },
  {
    ...common,
    name: 'openai',
    wire: wireFormats.responses,
    keyHeader: 'authorization',
    usage: tokenUsage,
  },
  {
    ...common,
    name: 'xai',
    wire: wireFormats.grok,
    keyHeader: 'authorization',
    usage: tokenUsage,
  },
  {
    ...common,
    name: 'openai-compatible',
    wire: wireFormats.chat,
    keyHeader: 'authorization',
    usage: chatUsage,
  },
  { ...common, name: 'ollama', wire: wireFormats.chat, usage: chatUsage },
  { ...common, name: 'lmstudio', wire: wireFormats.chat, usage: chatUsage },
]
