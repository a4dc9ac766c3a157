import type { Model, StreamPart } from '../model.ts'
import { usageMeter } from '../usage.ts'

/** A model that estimates the usage of its answers where the provider reports none. */
export function estimated(model: Model): Model {
  return {
    ...model,
    async *stream(request, options): AsyncGenerator<StreamPart> {
      const meter = usageMeter(request)
      for await (const part of model.stream(request, options)) {
        meter.add(part)
        const { inputTokens, outputTokens } = (part.type === 'end' && part.usage) || {}
        const isCounted = inputTokens !== undefined || outputTokens !== undefined
        yield part.type !== 'end' || isCounted
          ? part
          : { ...part, usage: { ...meter.read(), isEstimate: true } }
      }
    },
  }
}
