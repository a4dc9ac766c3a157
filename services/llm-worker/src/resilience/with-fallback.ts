import { BusError } from '@mcp-host/contracts'
import type { Model, StreamPart } from '../model.ts'
import { estimateTokens } from '../providers/demo/usage.ts'

/**
 * The first model, and the next of them whenever one fails before it wrote anything: a reader sees one
 * answer, and is told who gives it. What one wrote in part is never continued by another.
 */
export function withFallback(first: Model, others: readonly Model[]): Model {
  if (others.length === 0) return first
  return {
    ...first,
    async *stream(request, { signal }): AsyncGenerator<StreamPart> {
      let hasBegun = false
      let instead: Model
      try {
        for await (const part of first.stream(request, { signal })) {
          hasBegun ||= part.type !== 'notice' && part.type !== 'progress'
          yield part
        }
        return
      } catch (error) {
        signal.throwIfAborted()
        const failure = BusError.from(error)
        if (hasBegun || failure.reason === 'context-overflow') throw error
        // Who cannot read it all is no help.
        const tokens = estimateTokens(request)
        const able = others.filter(({ contextWindow = Infinity }) => tokens <= contextWindow)
        const [next, ...rest] = able
        if (next === undefined) throw error
        instead = withFallback(next, rest)
        yield { type: 'notice', text: `${failure.message}; ${next.provider} answers instead` }
        yield { type: 'answering', provider: next.provider, model: next.model }
      }
      yield* instead.stream(request, { signal })
    },
  }
}
