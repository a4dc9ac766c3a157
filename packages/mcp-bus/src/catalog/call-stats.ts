import type { ServerStats } from '@mcp-host/contracts'
import type { EndedCall } from '../tool-calls/events.ts'

/** The number of latest calls whose latencies count. */
const MAX_LATENCIES = 500

/** Counts the calls of one server. */
export class CallStats {
  readonly #latenciesMs: number[] = []
  #calls = 0
  #errors = 0
  #inFlight = 0

  started(): void {
    this.#inFlight++
  }

  ended(outcome: EndedCall['outcome'], durationMs: number): void {
    this.#inFlight--
    this.#latenciesMs[this.#calls++ % MAX_LATENCIES] = durationMs
    if (outcome === 'error' || outcome === 'unknown') this.#errors++
  }

  snapshot(): ServerStats {
    const sorted = this.#latenciesMs.toSorted((one, other) => one - other)
    return {
      calls: this.#calls,
      errors: this.#errors,
      inFlight: this.#inFlight,
      p50Ms: quantile(sorted, 0.5),
      p95Ms: quantile(sorted, 0.95),
    }
  }
}

function quantile(sorted: readonly number[], share: number): number | undefined {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
}
