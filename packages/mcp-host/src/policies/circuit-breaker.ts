export interface CircuitBreakerOptions {
  /** So many failures within `windowMs` open it; default 5. */
  readonly failures?: number | undefined
  /** In milliseconds; default 60,000. */
  readonly windowMs?: number | undefined
  /** How long the circuit stays open, in milliseconds; default 60,000. */
  readonly openMs?: number | undefined
  /** In milliseconds, never going back; default `performance.now`. */
  readonly now?: (() => number) | undefined
  /** Called after each change of state; `half-open` when a call begins to try. */
  readonly onChange?: ((state: CircuitState) => void) | undefined
}

/** `half-open`: the pause is over, and one call at a time may try whether it works again. */
export type CircuitState = 'closed' | 'open' | 'half-open'

export type CircuitEntry =
  | { readonly kind: 'pass' }
  | {
      readonly kind: 'open'
      /** When to ask again, in milliseconds. */
      readonly retryAfterMs: number
    }

const PASS: CircuitEntry = { kind: 'pass' }

/** When to ask again while another call tries: its answer is not known to take any time. */
const PROBE_RETRY_MS = 1_000

/**
 * Refuses calls to what keeps failing, so that neither the callers nor the failing part are kept
 * busy. It counts failures within a time, whatever succeeded in between.
 *
 * Each call that passed ends with exactly one of `succeeded`, `failed` and `abandoned`. A call from
 * before the opening that ends during it changes nothing; one that ends while another tries is as
 * good a witness as that one.
 */
export class CircuitBreaker {
  readonly #windowMs: number
  readonly #openMs: number
  readonly #now: () => number
  readonly #onChange: CircuitBreakerOptions['onChange']
  /** The times of the last failures, as a ring: `#oldest` is the next to be overwritten. */
  readonly #failedAt: Float64Array
  #oldest = 0
  /** When calls may try again; `undefined` while closed. */
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

  /** The caller gave up, which says nothing about the server: another call may try instead. */
  abandoned(): void {
    this.#isProbing = false
  }
}
