/** A question to a model of the host. */
export interface Question {
  /** `provider/model`, or `provider`; absent: the default model of the host. */
  readonly model?: string | undefined
  readonly systemPrompt?: string | undefined
  /** At least one. */
  readonly messages: readonly { readonly role: 'user' | 'assistant'; readonly text: string }[]
  readonly temperature: number
  readonly maxTokens: number
}

/** The whole answer of a model. */
export interface ModelAnswer {
  /** The model that answered, as `provider/model`: not always the one that was asked. */
  readonly model: string
  readonly text: string
  readonly stopReason: string
  /** Tokens, where they are known. */
  readonly usage?: { readonly inputTokens: number; readonly outputTokens: number } | undefined
}

export interface KnownModel {
  /** `provider/model`. */
  readonly id: string
  readonly provider: string
  /** The number of tokens of conversation and answer that it takes at most. */
  readonly contextWindow?: number | undefined
  readonly isDefault: boolean
}

/** The models of the host. */
export interface HostModels {
  list(): readonly KnownModel[]
  /** Asks a model. Rejects with the reason for which it did not answer, or that of the signal. */
  ask(question: Question, signal: AbortSignal): Promise<ModelAnswer>
}
