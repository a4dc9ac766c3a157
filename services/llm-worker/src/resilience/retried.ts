import { BusError } from '@mcp-host/contracts'
import {
  circuitBreaker,
  CircuitState,
  ConsecutiveBreaker,
  handleWhen,
  isBrokenCircuitError,
} from 'cockatiel'
import { BudgetError } from '../budget/budgeted.ts'
import type { Model, StreamPart } from '../model.ts'
import { ProviderError } from '../provider-error.ts'
import { sleep } from '@mcp-host/service'

/** So often it is asked once more. */
const RETRIES = 2
const FIRST_PAUSE_MS = 300
/** A provider that asks for a longer pause is not retried: a fallback may answer. */
const MAX_PAUSE_MS = 5_000
/** After so many requests in a row that failed it is left alone for a while, */
const FAILURES = 5
/** shorter than a turn goes on trying. */
const REST_MS = 3_000

/**
 * A model that is asked again when it fails before it wrote anything, and left alone for a while when it
 * keeps failing; then one request finds out whether it is back.
 */
export function retried(model: Model): Model {
  const breaker = circuitBreaker(handleWhen(isOutage), {
    breaker: new ConsecutiveBreaker(FAILURES),
    halfOpenAfter: REST_MS,
  })
  let lastFailure: unknown
  return {
    ...model,
    async *stream(request, { signal }): AsyncGenerator<StreamPart> {
      // Asked here, since the breaker lets others wait for the one that finds out.
      if (breaker.state === CircuitState.HalfOpen) throw resting(lastFailure)
      const findsOut = breaker.state !== CircuitState.Closed
      const ask = async (): Promise<AsyncIterable<StreamPart>> => {
        try {
          return await begin(() => firstOf(model.stream(request, { signal })), signal)
        } catch (error) {
          const isTold = !signal.aborted && !(error instanceof BudgetError)
          if (isTold) lastFailure = error
          // An aborted request proves nothing.
          else if (findsOut) throw new NothingFound(error)
          throw error
        }
      }
      try {
        yield* await breaker.execute(ask)
      } catch (error) {
        signal.throwIfAborted()
        if (error instanceof NothingFound) throw error.cause
        throw isBrokenCircuitError(error) ? resting(lastFailure) : error
      }
    },
  }
}

/** To the breaker a failure, so that it stays open. */
class NothingFound extends BusError {
  constructor(cause: unknown) {
    super('unavailable', 'not asked', { cause })
  }
}

function resting(failure: unknown): BusError {
  const { message } = BusError.from(failure)
  return new BusError('unavailable', `${message}; it is left alone for a while`, { cause: failure })
}

async function begin<T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let failures = 0; ; failures++) {
    try {
      return await ask()
    } catch (error) {
      signal.throwIfAborted()
      const pauseMs = pauseAfter(error, failures)
      if (pauseMs === undefined) throw error
      await sleep(pauseMs, signal)
    }
  }
}

/** The delay before a retry; `undefined`: none. */
function pauseAfter(error: unknown, failures: number): number | undefined {
  // A model that was too slow would be so again.
  if (!isOutage(error) || error.code === 'deadline' || failures >= RETRIES) return undefined
  const wanted = error instanceof ProviderError ? error.retryAfterMs : undefined
  if (wanted !== undefined) return wanted <= MAX_PAUSE_MS ? wanted : undefined
  // Apart from others that failed at the same moment.
  return FIRST_PAUSE_MS * 2 ** failures * (0.75 + Math.random() / 2)
}

function isOutage(error: unknown): error is BusError {
  return error instanceof BusError && error.retryable && !(error instanceof BudgetError)
}

/** The stream, once its first part is there. */
async function firstOf(stream: AsyncIterable<StreamPart>): Promise<AsyncIterable<StreamPart>> {
  const parts = stream[Symbol.asyncIterator]()
  const first = await parts.next()
  return (async function* () {
    try {
      for (let part = first; part.done !== true; part = await parts.next()) yield part.value
    } finally {
      await parts.return?.()
    }
  })()
}
