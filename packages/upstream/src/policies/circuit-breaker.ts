export interface CircuitBreakerOptions {
  /** The number of failures within `windowMs` that open it; default 5. */
  readonly failures?: number | undefined
  /** Default 60,000. */
  readonly windowMs?: number | undefined
  /** The time for which the circuit stays open; default 60,000. */
  readonly openMs?: number | undefined
  /** A monotonic clock in milliseconds; default `performance.now`. */
  readonly now?: (() => number) | undefined
  /** Called after each change of state; with `half-open` when a probe begins. */
  readonly onChange?: ((state: CircuitState) => void) | undefined
}

/** `half-open`: one call at a time may probe the server. */
export type CircuitState = 'closed' | 'open' | 'half-open'

export type CircuitEntry =
  | { readonly kind: 'pass' }
  | { readonly kind: 'open'; readonly retryAfterMs: number }

const PASS: CircuitEntry = { kind: 'pass' }

/** The `retryAfterMs` during a probe, whose duration is unknown. */
const PROBE_RETRY_MS = 1_000

/**
 * Refuses calls after a number of failures within a time, regardless of successes in between. Each admitted call must
 * end with `succeeded`, `failed` or `abandoned`. While the circuit is open, ends of earlier calls are ignored; during a
 * probe such an end counts as the result of the probe.
 */
export class CircuitBreaker {
  readonly #windowMs: number
  readonly #openMs: number
  readonly #now: () => number
  readonly #onChange: CircuitBreakerOptions['onChange']
  /** The times of the last failures as a ring buffer; `#oldest` is overwritten next. */
  readonly #failedAt: Float64Array
  #oldest = 0
  /** The time at which a probe is allowed; `undefined` while the circuit is closed. */
  #openUntil: number | undefined
  #isProbing = false

  constructor({
    failures = 5,
    windowMs = 60_000,
    openMs = 60_000,
    now = () => performance.now(),
    onChange,
  }: CircuitBreakerOptions = {}) {
    this.#onChange = onChange
    this.#windowMs = windowMs
    this.#openMs = openMs
    this.#now = now
    this.#failedAt = new Float64Array(failures).fill(-Infinity)
  }

  get state(): CircuitState {
    if (this.#openUntil === undefined) return 'closed'
    return this.#now() >= this.#openUntil ? 'half-open' : 'open'
  }

  /** Whether a call may run. */
  enter(): CircuitEntry {
    if (this.#openUntil === undefined) return PASS
    if (this.#isProbing) {
      return { kind: 'open', retryAfterMs: Math.min(PROBE_RETRY_MS, this.#openMs) }
    }
    const leftMs = this.#openUntil - this.#now()
    if (leftMs > 0) return { kind: 'open', retryAfterMs: leftMs }
    this.#isProbing = true
    this.#onChange?.('half-open')
    return PASS
  }

  succeeded(): void {
    if (!this.#isProbing) return
    this.#isProbing = false
    this.#openUntil = undefined
    this.#failedAt.fill(-Infinity)
    this.#onChange?.('closed')
  }

  failed(): void {
    if (this.#openUntil !== undefined && !this.#isProbing) return
    const now = this.#now()
    if (!this.#isProbing) {
      this.#failedAt[this.#oldest] = now
      this.#oldest = (this.#oldest + 1) % this.#failedAt.length
      const first = this.#failedAt[this.#oldest] ?? -Infinity
      if (now - first >= this.#windowMs) return
    }
    this.#isProbing = false
    this.#openUntil = now + this.#openMs
    this.#onChange?.('open')
  }

  /** Ends a call that its caller gave up, so that another call may probe the server. */
  abandoned(): void {
    this.#isProbing = false
  }
}
