export interface HealthScoreOptions {
  /** In milliseconds, never going back; default `performance.now`. */
  readonly now?: (() => number) | undefined
}

/** The weight of the newest request in a moving average. */
const NEWEST = 0.3
/** The half-life of observations, also without new ones: an instance without requests recovers. */
const HALF_LIFE_MS = 10_000

/** The recent health of one instance: moving averages of its failures and latencies. */
export class HealthScore {
  readonly #now: () => number
  #failureRate = 0
  #latencyMs = 0
  #checkedAt: number | undefined
  #seenAt: number

  constructor({ now = () => performance.now() }: HealthScoreOptions = {}) {
    this.#now = now
    this.#seenAt = now()
  }

  /** From 0, when nothing is known against it, to 1. */
  get failureRate(): number {
    return this.#failureRate * this.#faded()
  }

  /** 0 while nothing is known. */
  get latencyMs(): number {
    return this.#latencyMs * this.#faded()
  }

  /** When it last answered, or failed to, in epoch milliseconds. */
  get checkedAt(): number | undefined {
    return this.#checkedAt
  }

  /** It was found well or ill by something else than a request. */
  checked(): void {
    this.#checkedAt = Date.now()
  }

  succeeded(latencyMs: number): void {
    this.#saw(
      0,
      this.#latencyMs === 0 ? latencyMs : this.latencyMs * (1 - NEWEST) + latencyMs * NEWEST,
    )
  }

  /** The latency of a failure is ignored: broken servers often fail fastest. */
  failed(): void {
    this.#saw(1, this.latencyMs)
  }

  #saw(failure: 0 | 1, latencyMs: number): void {
    this.#failureRate = this.failureRate * (1 - NEWEST) + failure * NEWEST
    this.#latencyMs = latencyMs
    this.#seenAt = this.#now()
    this.checked()
  }

  #faded(): number {
    return 2 ** ((this.#seenAt - this.#now()) / HALF_LIFE_MS)
  }
}
