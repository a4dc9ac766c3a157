import type { Message, Models } from '@mcp-host/client'

/** How much of a model's context a conversation takes. */
export interface ContextUse {
  /** Tokens of the last prompt and its answer. */
  readonly tokens: number
  /** Tokens that the model takes; `undefined`: unknown. */
  readonly window: number | undefined
  /** As `provider/model`. */
  readonly model: string
}

/** The use of the context by the last counted answer to a user message; `undefined` without one. */
export function contextUse(
  messages: readonly Message[],
  messageId: string,
  models: Models | undefined,
): ContextUse | undefined {
  const last = messages.findLast(
    ({ metadata }) => metadata.messageId === messageId && metadata.usage?.inputTokens !== undefined,
  )
  const { provider = '', model = '', usage } = last?.metadata ?? {}
  if (usage === undefined) return undefined
  const { inputTokens = 0, outputTokens = 0 } = usage
  return {
    tokens: inputTokens + outputTokens,
    window: windowOf(models, provider, model),
    model: `${provider}/${model}`,
  }
}

function windowOf(models: Models | undefined, provider: string, model: string): number | undefined {
  const preset = models?.default
  if (preset?.provider === provider && preset.model === model) return preset.contextWindow
  const known = models?.providers.find((each) => each.provider === provider)
  return known?.models.find(({ id }) => id === model)?.contextWindow ?? known?.contextWindow
}
