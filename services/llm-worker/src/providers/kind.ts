import type { LanguageModelV4, SharedV4ProviderOptions } from '@ai-sdk/provider'

/** How a provider is reached. */
export interface Connection {
  /** As it is called in our settings. */
  readonly name: string
  readonly apiKey: string
  readonly baseUrl: string
  readonly fetch: typeof fetch
}

/** What is particular about one kind of provider. */
export interface ProviderKind {
  /** Who answers when no model is named; without one the first it lists. */
  readonly defaultModel?: string
  /** Under which name its package puts what it sealed; without one it is the provider's own name. */
  readonly metadataName?: string
  /** In tokens, where nothing else is known of the model. */
  readonly contextWindow: number
  /** Beginnings of the types of files it reads, beside texts; a model of it may read fewer. */
  readonly reads: readonly string[]
  /** The package that speaks with it, which is only loaded then: all of them take 13 MB. */
  readonly connect: (connection: Connection) => Promise<(model: string) => LanguageModelV4>
  /** What is sent with every request. */
  readonly providerOptions?: SharedV4ProviderOptions
}
