export interface LatencyBucket {
  /** The upper bound in milliseconds; `Infinity` in the last bucket. */
  readonly leMs: number
  /** The number of durations up to this bound. */
  readonly count: number
}

/** The bounds within a decade, each about 1.47 times the previous one, rounded for labels. */
const STEPS = [1, 1.5, 2.2, 3.3, 4.7, 6.8]
/** The decades, from 0.1 ms to 680 s, which is longer than any call. */
const DECADES = [-1, 0, 1, 2, 3, 4, 5]
const BOUNDS_MS: readonly number[] = DECADES.flatMap((decade) =>
  // Parsed, not multiplied, since 2.2 × 0.1 is not 0.22.
  STEPS.map((step) => Number(`${step}e${decade}`)),
)

/** A distribution of durations in fixed buckets: constant memory for any number of records. */
export class LatencyHistogram {
  count = 0
  sumMs = 0
  /** 0 before the first record. */
  maxMs = 0
  readonly #counts = new Float64Array(BOUNDS_MS.length + 1)

  record(ms: number): void {
    const bucket = bucketOf(ms)
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1
    this.count += 1
    this.sumMs += ms
    if (ms > this.maxMs) this.maxMs = ms
  }

  /** The quantile `q` (0 to 1) in milliseconds, interpolated within its bucket; `undefined` before the first record. */
  quantile(q: number): number | undefined {
    if (this.count === 0) return undefined
    const rank = q * this.count
    let below = 0
    for (const [bucket, count] of this.#counts.entries()) {
      if (count > 0 && below + count >= rank) {
        const lower = BOUNDS_MS[bucket - 1] ?? 0
        const upper = Math.min(BOUNDS_MS[bucket] ?? Infinity, this.maxMs)
        return lower + ((upper - lower) * (rank - below)) / count
      }
      below += count
    }
    return this.maxMs
  }

  /** The cumulative buckets, as in Prometheus. */
  buckets(): readonly LatencyBucket[] {
    let count = 0
    return Array.from(this.#counts, (bucketCount, bucket) => {
      count += bucketCount
      return { leMs: BOUNDS_MS[bucket] ?? Infinity, count }
    })
  }
}

/** The first bucket whose bound is not below `ms`, by binary search. */
function bucketOf(ms: number): number {
  let low = 0
  let high = BOUNDS_MS.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (ms > (BOUNDS_MS[middle] ?? Infinity)) low = middle + 1
    else high = middle
  }
  return low
}
