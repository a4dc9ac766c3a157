import type { RestartConfig } from '../server-config.ts'
import { backoffMs } from './backoff.ts'

export interface RestartPolicyDeps {
  /** A monotonic clock in milliseconds; default `performance.now`. */
  readonly now?: (() => number) | undefined
  /** A random number from 0 to less than 1; default `Math.random`. */
  readonly random?: (() => number) | undefined
}

/** `giveUp` is the reason why there is no restart, such as "restarted 5 times within 60 s". */
export type RestartDecision = { readonly delayMs: number } | { readonly giveUp: string }

const FIRST_MS = 1_000
const MAX_MS = 30_000
const DEFAULT_WINDOW_MS = 60_000

/** Decides whether and when a server is restarted. */
export class RestartPolicy {
  readonly #config: RestartConfig
  readonly #now: () => number
  readonly #random: (() => number) | undefined
  /** The times of the restarts within the window, at most `maxRestarts`. */
  #restarts: readonly number[] = []
  #attempt = 0

  constructor(
    config: RestartConfig,
    { now = () => performance.now(), random }: RestartPolicyDeps = {},
  ) {
    this.#config = config
    this.#now = now
    this.#random = random
  }

  /** Decides after the end of the server. A granted restart counts towards the limit. */
  next(end: { readonly failed: boolean }): RestartDecision {
    const { policy, maxRestarts, windowMs = DEFAULT_WINDOW_MS } = this.#config
    if (policy === 'no') return { giveUp: 'its restart policy is "no"' }
    if (policy === 'on-failure' && !end.failed) return { giveUp: 'it ended without a failure' }
    const now = this.#now()
    if (maxRestarts !== undefined) {
      this.#restarts = this.#restarts.filter((at) => at > now - windowMs)
      if (this.#restarts.length >= maxRestarts) return { giveUp: crashLoop(maxRestarts, windowMs) }
    }
    const backoff = { firstMs: FIRST_MS, maxMs: MAX_MS, random: this.#random }
    const delayMs = backoffMs(this.#attempt, backoff)
    this.#attempt += 1
    if (maxRestarts !== undefined) this.#restarts = [...this.#restarts, now + delayMs]
    return { delayMs }
  }

  /** Resets the delay, since the server has stayed ready. Restarts still count. */
  stable(): void {
    this.#attempt = 0
  }
}

function crashLoop(maxRestarts: number, windowMs: number): string {
  if (maxRestarts === 0) return 'it may not be restarted ("maxRestarts" is 0)'
  return `restarted ${maxRestarts === 1 ? 'once' : `${maxRestarts} times`} within ${windowMs / 1_000} s`
}
