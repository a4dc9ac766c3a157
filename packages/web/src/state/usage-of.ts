import type { Message } from '@mcp-host/client'
import type { Usage } from './turn.ts'

/** The usage of a turn, under the name of its last model; `undefined` without any. */
export function usageOf(parts: Message['metadata']['turnUsage'] = []): Usage | undefined {
  const last = parts.at(-1)
  if (last === undefined) return undefined
  const costs = parts.flatMap(({ cost }) => cost ?? [])
  return {
    inputTokens: parts.reduce((sum, { inputTokens = 0 }) => sum + inputTokens, 0),
    outputTokens: parts.reduce((sum, { outputTokens = 0 }) => sum + outputTokens, 0),
    cost: costs.length === 0 ? undefined : costs.reduce((sum, cost) => sum + cost, 0),
    model: `${last.provider}/${last.model}`,
  }
}
