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
  /** The last text or reasoning, which ends here, was of this kind. */
  | { readonly type: 'relabel'; readonly kind: 'text' | 'reasoning' }
  /** Ends the current text or reasoning. The metadata is sent back to the provider with this block. */
  | { readonly type: 'block-end'; readonly providerMetadata?: ProviderMetadata }
  | {
      readonly type: 'tool-call'
      /** The name as the model wrote it, normally the `safeName` of an offered tool. */
      readonly name: string
      /** JSON text as the model wrote it. */
      readonly arguments: string
      readonly providerMetadata?: ProviderMetadata
    }
  | {
      readonly type: 'end'
      readonly usage?: Usage
      /** Whether the provider stopped the answer before its end, with a notice about it. */
      readonly isCut?: boolean
    }
  /** The model is writing a part that arrives as a whole, such as a tool call. */
  | { readonly type: 'progress' }
  /** A notice for the user about this answer. */
  | { readonly type: 'notice'; readonly text: string }
  /** Another model answers from here on. No text was written before. */
  | { readonly type: 'answering'; readonly provider: string; readonly model: string }

/** A language model. Leaving the stream early, or an abort of the signal, ends the provider's work at once. */
export interface Model {
  readonly provider: string
  readonly model: string
  /** The label for metrics. It bounds their number, since clients may choose any model name. */
  readonly countedAs?: { readonly provider: string; readonly model: string }
  /** The context window in tokens, as far as known. */
  readonly contextWindow?: number
  /** A notice for users of this model. */
  readonly notice?: string
  stream(request: ModelRequest, options: { signal: AbortSignal }): AsyncIterable<StreamPart>
}
