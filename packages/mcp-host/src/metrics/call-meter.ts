import { type LatencyBucket, LatencyHistogram } from './latency-histogram.ts'

/** The outcome of a call; `refused`: by the host, before it reached the server. */
export type CallOutcome = 'success' | 'error' | 'cancelled' | 'refused'

export interface CallMetrics {
  /** Calls that ended, however. */
  readonly count: number
  readonly success: number
  readonly error: number
  readonly cancelled: number
  readonly refused: number
  /** Started and not ended. */
  readonly inFlight: number
  /** When the last one was started, in epoch milliseconds; absent before the first. */
  readonly lastUsedAt?: number
  /** Latencies of calls that ended with success or an error, in milliseconds; all 0 without any. */
  readonly latencyMs: {
    readonly p50: number
    readonly p95: number
    readonly p99: number
    readonly max: number
    readonly mean: number
    /** Each counts what the ones before it do, as in a Prometheus histogram; the last, up to `Infinity`, counts all. */
    readonly buckets: readonly LatencyBucket[]
  }
}

/** Counts the calls of one tool, or of one server. */
export class CallMeter {
  readonly latency = new LatencyHistogram()
  readonly #total: CallMeter | undefined
  readonly #ended: Record<CallOutcome, number> = { success: 0, error: 0, cancelled: 0, refused: 0 }
  #inFlight = 0
  #lastUsedAt: number | undefined

  /** Calls are also counted in `total`. */
  constructor(total?: CallMeter) {
    this.#total = total
  }

  started(): void {
    this.#inFlight += 1
    this.#lastUsedAt = Date.now()
    this.#total?.started()
  }

  /**
   * Once for each start, also of a call that is refused. How long it took, in milliseconds, is
   * recorded unless it was cancelled or refused: that is no measure of the server.
   */
  ended(outcome: CallOutcome, ms: number): void {
    this.#inFlight -= 1
    this.#ended[outcome] += 1
    if (outcome === 'success' || outcome === 'error') this.latency.record(ms)
    this.#total?.ended(outcome, ms)
  }

  snapshot(): CallMetrics {
    const { success, error, cancelled, refused } = this.#ended
    const { latency } = this
    return {
      count: success + error + cancelled + refused,
      success,
      error,
      cancelled,
      refused,
      inFlight: this.#inFlight,
      ...(this.#lastUsedAt === undefined ? {} : { lastUsedAt: this.#lastUsedAt }),
      latencyMs: {
        p50: latency.quantile(0.5) ?? 0,
        p95: latency.quantile(0.95) ?? 0,
        p99: latency.quantile(0.99) ?? 0,
        max: latency.maxMs,
        mean: latency.count === 0 ? 0 : latency.sumMs / latency.count,
        buckets: latency.buckets(),
      },
    }
  }
}
