import type { Rate } from './parse-rate.ts'

/**
 * The number of allotments in a window. A replica that stops wastes the rest of one allotment at most, a twentieth of
 * the rate.
 */
const ALLOTMENTS = 20
/** The maximum age of the result of `check`. */
const CHECK_AGE_MS = 1_000
/** Limit for the remembered keys. The least recently used are evicted. */
const MAX_KEYS = 20_000

/** Counts for all replicas. */
export interface SharedCounter {
  /** Adds to the count of a key in a window, and returns the sum. `window`: its number since the epoch. */
  add(
    key: string,
    amount: number,
    about: { readonly window: number; readonly windowMs: number },
  ): Promise<number>
}

export interface SharedRateDeps {
  readonly counter: SharedCounter
  /** Called at the first failure of the counter in each window. Permits are then given without the counter. */
  readonly onFault: (error: unknown) => void
  /** Epoch milliseconds. */
  readonly now?: () => number
}

export type Verdict =
  | { readonly isAllowed: true }
  | { readonly isAllowed: false; readonly retryAfterMs: number }

interface KeyState {
  window: number
  /** Permits of the allotments that are not used up. */
  left: number
  /** Whether no permits are left in the shared count of this window. */
  isExhausted: boolean
  /** When the shared count was last seen with permits left. */
  seenAt: number
  taking: Promise<void> | undefined
}

const ALLOWED: Verdict = { isAllowed: true }

/**
 * A rate for each key, such as a principal. It may be exceeded by one allotment for each replica. When the counter
 * fails, each replica gives the whole rate, since a broken counter must not refuse requests.
 */
export class SharedRate {
  readonly #deps: SharedRateDeps
  readonly #rate: Rate
  readonly #what: string
  readonly #now: () => number
  readonly #keys = new Map<string, KeyState>()
  #faultyWindow = -1

  /** `what`: the counted unit. Its keys have nothing in common with those of other units. */
  constructor(deps: SharedRateDeps, rate: Rate, what: string) {
    this.#deps = deps
    this.#rate = rate
    this.#what = what
    this.#now = deps.now ?? Date.now
  }

  /** Takes permits, usually without a promise, from the allotment of this replica. */
  take(key: string, amount = 1): Verdict | Promise<Verdict> {
    const window = Math.floor(this.#now() / this.#rate.windowMs)
    const state = this.#stateOf(key, window)
    if (state.left >= amount) {
      state.left -= amount
      return ALLOWED
    }
    if (state.isExhausted) return this.#refusal(window)
    state.taking ??= this.#takeAllotment(key, state, amount)
    return state.taking.then(() => this.take(key, amount))
  }

  /**
   * Whether a key has permits left. Takes none. Permits that other replicas took in the last second may not be counted.
   */
  async check(key: string): Promise<Verdict> {
    const window = Math.floor(this.#now() / this.#rate.windowMs)
    const state = this.#stateOf(key, window)
    if (!state.isExhausted && this.#now() - state.seenAt >= CHECK_AGE_MS) {
      state.isExhausted = (await this.#add(key, 0, window)) >= this.#rate.permits
      state.seenAt = this.#now()
    }
    return state.isExhausted ? this.#refusal(window) : ALLOWED
  }

  /**
   * The permits that a key has used in the present window. Those that other replicas hold in advance count as used.
   * Takes none.
   */
  async used(key: string): Promise<number> {
    const window = Math.floor(this.#now() / this.#rate.windowMs)
    const sum = await this.#add(key, 0, window)
    return Math.min(this.#rate.permits, Math.max(0, sum - this.#stateOf(key, window).left))
  }

  /** Counts permits that were used already, such as tokens. They may exceed the rate. */
  async charge(key: string, amount: number): Promise<void> {
    const { windowMs, permits } = this.#rate
    const window = Math.floor(this.#now() / windowMs)
    const state = this.#stateOf(key, window)
    const sum = await this.#add(key, amount, window)
    if (sum >= permits) state.isExhausted = true
  }

  #refusal(window: number): Verdict {
    const retryAfterMs = (window + 1) * this.#rate.windowMs - this.#now()
    return { isAllowed: false, retryAfterMs: Math.max(1, Math.ceil(retryAfterMs)) }
  }

  #stateOf(key: string, window: number): KeyState {
    const known = this.#keys.get(key)
    if (known?.window === window) return known
    const state: KeyState = { window, left: 0, isExhausted: false, seenAt: 0, taking: undefined }
    this.#keys.delete(key)
    const [oldest] = this.#keys.keys()
    if (this.#keys.size >= MAX_KEYS && oldest !== undefined) this.#keys.delete(oldest)
    this.#keys.set(key, state)
    return state
  }

  async #takeAllotment(key: string, state: KeyState, amount: number): Promise<void> {
    const { permits } = this.#rate
    const size = Math.max(amount, Math.ceil(permits / ALLOTMENTS))
    const sum = await this.#add(key, size, state.window)
    const granted = Math.max(0, Math.min(size, permits - (sum - size)))
    state.left += granted
    state.isExhausted = granted < size
    state.taking = undefined
  }

  /** Adds to the count and returns the sum, which is too low when the counter has failed. */
  async #add(key: string, amount: number, window: number): Promise<number> {
    const { windowMs } = this.#rate
    try {
      return await this.#deps.counter.add(`${this.#what} ${key}`, amount, { window, windowMs })
    } catch (error) {
      if (this.#faultyWindow !== window) this.#deps.onFault(error)
      this.#faultyWindow = window
      return amount
    }
  }
}
