import type { LanguageModelV4, SharedV4ProviderOptions } from '@ai-sdk/provider'
import type { ListedModel } from '@mcp-host/contracts'
import type { z } from 'zod'

/** Address and key of one configured provider. */
export interface Connection {
  /** Name of the provider in the settings. */
  readonly name: string
  /** Empty without a key. */
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
  /** Environment variable of its key; absent where no key is usual. */
  readonly keyVariable?: string
  readonly isKeyOptional?: boolean
  /** Its public or usual address; absent where the settings must give one. */
  readonly baseUrl?: string
  /** A server that may run on this machine: used without being named when it answers. */
  readonly isLocal?: boolean
  /** The model where the settings name none. Without it a local provider uses its first one. */
  readonly defaultModel?: string
  /** In tokens, where neither the settings nor the list have it. */
  readonly contextWindow: number
  /** It drops the beginning of conversations that are too long, without an error. */
  readonly truncatesSilently?: boolean
  /** Prefixes of the MIME types it reads, beside texts; one of its models may read fewer. */
  readonly reads: readonly string[]
  /** Key of its data in the package's metadata. Default: its name in the settings. */
  readonly metadataName?: string
  /** Sent with every request. */
  readonly providerOptions?: SharedV4ProviderOptions
  /** Imports its package on first use, as all of them take 13 MB. Absent for the demo model. */
  readonly connect?: (connection: Connection) => Promise<(model: string) => LanguageModelV4>
  /** The models that hold conversations, in the provider's order. */
  readonly list: (request: ListRequest) => Promise<ListedModel[]>
}
