import type { Usage } from '@mcp-host/contracts'
import type { Model, StreamPart } from '../model.ts'
import type { Prices } from '../settings/llm-file.ts'

/** A model whose answers report their cost. */
export function priced(model: Model, prices: Prices | undefined): Model {
  if (prices === undefined) return model
  return {
    ...model,
    async *stream(request, options): AsyncGenerator<StreamPart> {
      for await (const part of model.stream(request, options)) {
        const usage = part.type === 'end' ? part.usage : undefined
        const isCounted = usage?.inputTokens !== undefined || usage?.outputTokens !== undefined
        yield part.type !== 'end' || usage === undefined || !isCounted
          ? part
          : { ...part, usage: { ...usage, cost: costOf(usage, prices) } }
      }
    },
  }
}

function costOf(
  { inputTokens = 0, cachedInputTokens = 0, outputTokens = 0 }: Usage,
  { input, cachedInput = input, output }: Prices,
): number {
  const fresh = Math.max(0, inputTokens - cachedInputTokens)
  return (fresh * input + cachedInputTokens * cachedInput + outputTokens * output) / 1_000_000
}
