import { BusError } from '@mcp-host/contracts'
import type { Model, StreamPart } from '../model.ts'
import { estimateTokens } from '../usage.ts'

/**
 * Falls back to the next model whenever one fails before its first text. The reader sees one answer, with a note about
 * its model. A partial answer is never continued by another model.
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
        // A model with too small a context window cannot help.
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
