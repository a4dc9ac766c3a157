import type { OfferedTool, PromptMessage, Usage } from '@mcp-host/contracts'

/** What is asked of a model: one reply. */
export interface ModelRequest {
  readonly system?: string
  readonly messages: readonly PromptMessage[]
  readonly tools: readonly OfferedTool[]
  /** What the provider is asked to keep to; without them its own defaults. */
  readonly maxTokens?: number
  readonly temperature?: number
  readonly stopSequences?: readonly string[]
}

/** Data of the provider to be sent back with a block, opaque to us. */
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
  /** What it counts as, where anybody may choose its name. */
  readonly countedAs?: { readonly provider: string; readonly model: string }
  /** How many tokens of conversation and answer it takes at most, as far as known. */
  readonly contextWindow?: number
  /** Something the user should know about it. */
  readonly notice?: string
  stream(request: ModelRequest, options: { signal: AbortSignal }): AsyncIterable<StreamPart>
}
