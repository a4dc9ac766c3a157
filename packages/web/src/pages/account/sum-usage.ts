import type { Session } from '@mcp-host/client'

export interface ModelTotal {
  /** As `provider/model`. */
  readonly model: string
  /** Tokens. */
  readonly inputTokens: number
  readonly outputTokens: number
  /** US dollars; `undefined` where no price is known. */
  readonly cost: number | undefined
}

/** The usage of sessions by model, the most used first. */
export function sumUsage(sessions: readonly Pick<Session, 'usage'>[]): ModelTotal[] {
  const all = sessions.flatMap(({ usage }) => usage)
  const groups = Map.groupBy(all, ({ provider, model }) => `${provider}/${model}`)
  return Array.from(groups, ([model, uses]) => {
    const costs = uses.flatMap(({ cost }) => cost ?? [])
    return {
      model,
      inputTokens: uses.reduce((sum, { inputTokens = 0 }) => sum + inputTokens, 0),
      outputTokens: uses.reduce((sum, { outputTokens = 0 }) => sum + outputTokens, 0),
      cost: costs.length === 0 ? undefined : costs.reduce((sum, cost) => sum + cost, 0),
    }
  }).toSorted((one, other) => tokensOf(other) - tokensOf(one))
}

function tokensOf({ inputTokens, outputTokens }: ModelTotal): number {
  return inputTokens + outputTokens
}
