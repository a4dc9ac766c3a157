import { type LatencyBucket, LatencyHistogram } from './latency-histogram.ts'

/** The outcome of a call. `refused`: the host refused it before it reached the server. */
export type CallOutcome = 'success' | 'error' | 'cancelled' | 'refused'

export interface CallMetrics {
  /** The number of ended calls. */
  readonly count: number
  readonly success: number
  readonly error: number
  readonly cancelled: number
  readonly refused: number
  /** The number of calls that have started and not ended. */
  readonly inFlight: number
  /** The start of the last call, in epoch milliseconds; absent before the first. */
  readonly lastUsedAt?: number
  /** Latencies of calls with the outcome `success` or `error`, in milliseconds; all 0 when there are none. */
  readonly latencyMs: {
    readonly p50: number
    readonly p95: number
    readonly p99: number
    readonly max: number
    readonly mean: number
    /** Cumulative buckets, as in a Prometheus histogram. The last one, up to `Infinity`, counts all calls. */
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
   * Called once for each started call. The latency of cancelled and refused calls is ignored, since the server did not
   * end them.
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
