export interface LatencyBucket {
  /** In milliseconds; `Infinity` in the last bucket. */
  readonly leMs: number
  /** The number of durations up to this bound. */
  readonly count: number
}

/** Six to a decade, each about 1.47 times the one before: short numbers, not powers, for labels. */
const STEPS = [1, 1.5, 2.2, 3.3, 4.7, 6.8]
/** From 0.1 ms to 680 s, which is beyond the longest call. */
const DECADES = [-1, 0, 1, 2, 3, 4, 5]
const BOUNDS_MS: readonly number[] = DECADES.flatMap((decade) =>
  // Read, not multiplied: 2.2 × 0.1 is not 0.22.
  STEPS.map((step) => Number(`${step}e${decade}`)),
)

/** A distribution of durations in fixed buckets: constant memory for any number of records. */
export class LatencyHistogram {
  readonly #counts = new Float64Array(BOUNDS_MS.length + 1)
  #count = 0
  #sumMs = 0
  #maxMs = 0

  get count(): number {
    return this.#count
  }

  get sumMs(): number {
    return this.#sumMs
  }

  /** 0 before the first record. */
  get maxMs(): number {
    return this.#maxMs
  }

  record(ms: number): void {
    const bucket = bucketOf(ms)
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1
    this.#count += 1
    this.#sumMs += ms
    if (ms > this.#maxMs) this.#maxMs = ms
  }

  /**
   * The time that a part `q` (0 to 1) of all took at most, in milliseconds, as if a bucket's content
   * were spread evenly in it; `undefined` before the first record.
   */
  quantile(q: number): number | undefined {
    if (this.#count === 0) return undefined
    const rank = q * this.#count
    let below = 0
    for (const [bucket, count] of this.#counts.entries()) {
      if (count > 0 && below + count >= rank) {
        const lower = BOUNDS_MS[bucket - 1] ?? 0
        const upper = Math.min(BOUNDS_MS[bucket] ?? Infinity, this.#maxMs)
        return lower + ((upper - lower) * (rank - below)) / count
      }
      below += count
    }
    return this.#maxMs
  }

  /** Cumulative, as Prometheus wants them; the last one holds all. */
  buckets(): readonly LatencyBucket[] {
    let count = 0
    return Array.from(this.#counts, (own, bucket) => {
      count += own
      return { leMs: BOUNDS_MS[bucket] ?? Infinity, count }
    })
  }
}

/** The first bucket whose bound is not below it, by halving. */
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
