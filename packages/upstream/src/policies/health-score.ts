/** The weight of the newest request in a moving average. */
const NEWEST = 0.3
/** The half-life of observations, so that an instance without requests recovers. */
const HALF_LIFE_MS = 10_000

/** The recent health of one instance: moving averages of its failures and latencies. */
export class HealthScore {
  /** The time of the last answer or failure, in epoch milliseconds. */
  checkedAt: number | undefined
  readonly #now: () => number
  #failureRate = 0
  #latencyMs = 0
  #updatedAt: number

  /** `now` is a monotonic clock in milliseconds; default `performance.now`. */
  constructor({ now = () => performance.now() }: { readonly now?: () => number } = {}) {
    this.#now = now
    this.#updatedAt = now()
  }

  /** From 0 to 1; 0 without observations. */
  get failureRate(): number {
    return this.#failureRate * this.#decay()
  }

  /** The average latency in milliseconds; 0 without observations. */
  get latencyMs(): number {
    return this.#latencyMs * this.#decay()
  }

  /** Records a check other than a request. */
  checked(): void {
    this.checkedAt = Date.now()
  }

  succeeded(latencyMs: number): void {
    const isFirst = this.#latencyMs === 0
    this.#update(0, isFirst ? latencyMs : average(this.latencyMs, latencyMs))
  }

  /** The latency of a failure is ignored, since broken servers often fail fastest. */
  failed(): void {
    this.#update(1, this.latencyMs)
  }

  #update(failure: 0 | 1, latencyMs: number): void {
    this.#failureRate = average(this.failureRate, failure)
    this.#latencyMs = latencyMs
    this.#updatedAt = this.#now()
    this.checked()
  }

  #decay(): number {
    return 2 ** ((this.#updatedAt - this.#now()) / HALF_LIFE_MS)
  }
}

/** A moving average after a new observation. */
function average(before: number, observation: number): number {
  return before * (1 - NEWEST) + observation * NEWEST
}
