import type { ServerStats } from '@mcp-host/contracts'
import type { EndedCall } from '../events.ts'

/** The latencies are of so many latest calls. */
const LATEST = 500

/** Counts the calls of one server. */
export class CallStats {
  readonly #latest: number[] = []
  #calls = 0
  #errors = 0
  #inFlight = 0

  started(): void {
    this.#inFlight++
  }

  ended(outcome: EndedCall['outcome'], durationMs: number): void {
    this.#inFlight--
    this.#latest[this.#calls++ % LATEST] = durationMs
    if (outcome === 'error' || outcome === 'unknown') this.#errors++
  }

  snapshot(): ServerStats {
    const counts = { calls: this.#calls, errors: this.#errors, inFlight: this.#inFlight }
    const sorted = this.#latest.toSorted((one, other) => one - other)
    const [p50Ms, p95Ms] = [quantile(sorted, 0.5), quantile(sorted, 0.95)]
    return p50Ms === undefined || p95Ms === undefined ? counts : { ...counts, p50Ms, p95Ms }
  }
}

function quantile(sorted: readonly number[], share: number): number | undefined {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
}
