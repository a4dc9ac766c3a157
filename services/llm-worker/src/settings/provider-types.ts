import type { ProviderType } from './llm-file.ts'

/** The settings of a provider; its protocol is in `providers/`. */
export interface ProviderTypeInfo {
  /** The environment variable that has its key; without one it needs none. */
  readonly keyEnv?: string
  /** Its own address; `undefined` when it must be given. */
  readonly baseUrl?: string
  /** A server that may run on this machine. */
  readonly isLocal?: boolean
}

/** In the order in which one is chosen when none is named. */
export const providerTypes: Readonly<Record<ProviderType, ProviderTypeInfo>> = {
  gemini: {
    keyEnv: 'GEMINI_API_KEY',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
  },
  anthropic: { keyEnv: 'ANTHROPIC_API_KEY', baseUrl: 'https://api.anthropic.com/v1' },
  openai: { keyEnv: 'OPENAI_API_KEY', baseUrl: 'https://api.openai.com/v1' },
  xai: { keyEnv: 'XAI_API_KEY', baseUrl: 'https://api.x.ai/v1' },
  ollama: { baseUrl: 'http://127.0.0.1:11434/v1', isLocal: true },
  lmstudio: { baseUrl: 'http://127.0.0.1:1234/v1', isLocal: true },
  'openai-compatible': {},
  demo: { baseUrl: '' },
}
