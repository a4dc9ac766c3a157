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
import { sleep } from '@mcp-host/async'

/** The number of retries of one request. */
const RETRIES = 2
const FIRST_PAUSE_MS = 300
/** A longer pause that a provider asks for is not waited for, since a fallback may answer. */
const MAX_PAUSE_MS = 5_000
/** The number of consecutive failed requests that opens the circuit breaker. */
const FAILURES = 5
/** The time for which the breaker stays open, shorter than the time for which a turn retries. */
const REST_MS = 3_000

/**
 * Retries a model that fails before its first part. After repeated failures a circuit breaker refuses requests for a
 * while; then one request tests whether the model works again.
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
      // Refused here, since the breaker would make further requests wait for the testing one.
      if (breaker.state === CircuitState.HalfOpen) throw resting(lastFailure)
      const findsOut = breaker.state !== CircuitState.Closed
      const ask = async (): Promise<AsyncIterable<StreamPart>> => {
        try {
          return await begin(() => firstOf(model.stream(request, { signal })), signal)
        } catch (error) {
          const isTold = !signal.aborted && !(error instanceof BudgetError)
          if (isTold) lastFailure = error
          // An aborted request does not show whether the model works.
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

/** The error by which a testing request without a finding keeps the breaker open. */
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

/** The delay before a retry; `undefined` when there is to be none. */
function pauseAfter(error: unknown, failures: number): number | undefined {
  // A retry after a time limit would take too long again.
  if (!isOutage(error) || error.code === 'deadline' || failures >= RETRIES) return undefined
  const wanted = error instanceof ProviderError ? error.retryAfterMs : undefined
  if (wanted !== undefined) return wanted <= MAX_PAUSE_MS ? wanted : undefined
  // The jitter separates requests that failed at the same moment.
  return FIRST_PAUSE_MS * 2 ** failures * (0.75 + Math.random() / 2)
}

function isOutage(error: unknown): error is BusError {
  return error instanceof BusError && error.retryable && !(error instanceof BudgetError)
}

/** Awaits the first part, then returns the whole stream. */
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
