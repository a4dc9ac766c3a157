import type { LanguageModelV4, SharedV4ProviderOptions } from '@ai-sdk/provider'
import type { ListedModel } from '@mcp-host/contracts'
import type { z } from 'zod'

/** Address and key of one configured provider. */
export interface Connection {
  /** Name of the provider in the settings. */
  readonly name: string
  /** The key; empty where there is none. */
  readonly apiKey: string
  readonly baseUrl: string
  readonly fetch: typeof fetch
}

/** A connection with a reader of checked JSON, to list models. */
export interface ListRequest extends Pick<Connection, 'apiKey' | 'baseUrl'> {
  readonly read: <T>(
    url: string,
    schema: z.ZodType<T>,
    init: { readonly headers: Record<string, string>; method?: string; body?: string },
  ) => Promise<T>
}

/** Everything particular to one type of provider. */
export interface ProviderDefinition {
  /** Name for users. */
  readonly title: string
  /** Environment variable of its key; absent for providers that need none. */
  readonly keyVariable?: string
  readonly isKeyOptional?: boolean
  /** Its public or usual address; absent when the settings must name one. */
  readonly baseUrl?: string
  /** Whether it is a server that may run on this machine. It is then used without settings when it answers. */
  readonly isLocal?: boolean
  /** The model that is used when the settings name none. Without this, a local provider uses its first model. */
  readonly defaultModel?: string
  /** The context window in tokens, used when neither the settings nor the list has one. */
  readonly contextWindow: number
  /** Whether it drops the beginning of conversations that are too long, without an error. */
  readonly truncatesSilently?: boolean
  /** Whether its models may write their reasoning as `<think>…</think>` at the beginning of their text. */
  readonly hasThinkTags?: boolean
  /** Prefixes of the MIME types that its API reads besides text. One of its models may read fewer. */
  readonly reads: readonly string[]
  /** Key of its data in the package's metadata. Default: its name in the settings. */
  readonly metadataName?: string
  /** Options sent with every request. */
  readonly providerOptions?: SharedV4ProviderOptions
  /** Imports its package on first use, as all of them take 13 MB. Absent for the demo model. */
  readonly connect?: (connection: Connection) => Promise<(model: string) => LanguageModelV4>
  /** The models that hold conversations, in the provider's order. */
  readonly list: (request: ListRequest) => Promise<ListedModel[]>
}
