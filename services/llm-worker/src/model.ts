import type { OfferedTool, PromptMessage, Usage } from '@mcp-host/contracts'

/** The request for one reply of a model. */
export interface ModelRequest {
  readonly system?: string
  readonly messages: readonly PromptMessage[]
  readonly tools: readonly OfferedTool[]
  /** Sampling options; without them the provider's defaults. */
  readonly maxTokens?: number
  readonly temperature?: number
  readonly stopSequences?: readonly string[]
}

/** Opaque data of the provider, sent back with its block. */
export type ProviderMetadata = Record<string, Record<string, unknown>>

/** One piece of a model's reply. The last one is `end`; a failure is thrown instead. */
export type StreamPart =
  | { readonly type: 'text-delta'; readonly text: string }
  | { readonly type: 'reasoning-delta'; readonly text: string }
  /** Closes the text or reasoning so far, with what the provider wants back with it. */
  | { readonly type: 'block-end'; readonly providerMetadata?: ProviderMetadata }
  | {
      readonly type: 'tool-call'
      /** As the model wrote it; normally the `safeName` of an offered tool. */
      readonly name: string
      /** JSON text as the model wrote it. */
      readonly arguments: string
      readonly providerMetadata?: ProviderMetadata
    }
  | { readonly type: 'end'; readonly usage?: Usage }
  /** The model writes something that arrives as a whole, such as a tool call. */
  | { readonly type: 'progress' }
  /** Something the user should know about this answer. */
  | { readonly type: 'notice'; readonly text: string }
  /** From here on another model answers; nothing was written before. */
  | { readonly type: 'answering'; readonly provider: string; readonly model: string }

/** A language model. Leaving the stream early, or the signal, ends the provider's work at once. */
export interface Model {
  readonly provider: string
  readonly model: string
  /** The label for metrics, where clients may choose any model name. */
  readonly countedAs?: { readonly provider: string; readonly model: string }
  /** The context window in tokens, as far as known. */
  readonly contextWindow?: number
  /** Something the user should know about it. */
  readonly notice?: string
  stream(request: ModelRequest, options: { signal: AbortSignal }): AsyncIterable<StreamPart>
}
