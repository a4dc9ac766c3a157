import { BusError } from '@mcp-host/contracts'
import type { Model, StreamPart } from '../model.ts'

/** Time limits of a model, in milliseconds. */
export interface TimeLimits {
  readonly firstToken?: number | undefined
  readonly betweenTokens?: number | undefined
  readonly total?: number | undefined
}

const MINUTE_MS = 60_000

/**
 * A model whose requests fail with `deadline` when it takes too long. The time in which the reader handles parts does
 * not count.
 */
export function timed(
  model: Model,
  { firstToken = MINUTE_MS, betweenTokens = MINUTE_MS, total = 10 * MINUTE_MS }: TimeLimits = {},
): Model {
  return {
    ...model,
    async *stream(request, { signal }): AsyncGenerator<StreamPart> {
      const late = new AbortController()
      const limit = (ms: number, what: string): NodeJS.Timeout =>
        setTimeout(() => late.abort(tooLate(model.provider, what, ms)), ms)
      const whole = limit(total, 'did not end its answer')
      let part = limit(firstToken, 'did not begin to answer')
      try {
        const options = { signal: AbortSignal.any([signal, late.signal]) }
        for await (const each of model.stream(request, options)) {
          clearTimeout(part)
          yield each
          part = limit(betweenTokens, 'wrote nothing more')
        }
      } catch (error) {
        signal.throwIfAborted()
        late.signal.throwIfAborted()
        throw error
      } finally {
        clearTimeout(part)
        clearTimeout(whole)
      }
    },
  }
}

function tooLate(provider: string, what: string, ms: number): BusError {
  return new BusError('deadline', `${provider} ${what} within ${ms / 1_000} s`)
}
