import type { RestartConfig } from '../config/mcp-config.ts'
import { backoffMs } from './backoff.ts'

export interface RestartPolicyDeps {
  /** In milliseconds, never going back; default `performance.now`. */
  readonly now?: (() => number) | undefined
  /** At least 0, less than 1; default `Math.random`. */
  readonly random?: (() => number) | undefined
}

/** `giveUp` is why it stays down, as the rest of a sentence: "restarted 5 times within 60 s". */
export type RestartDecision = { readonly delayMs: number } | { readonly giveUp: string }

const FIRST_MS = 1_000
const MAX_MS = 30_000
const DEFAULT_WINDOW_MS = 60_000

/** Decides, each time one server has ended, whether and when it is started again. */
export class RestartPolicy {
  readonly #config: RestartConfig
  readonly #now: () => number
  readonly #random: (() => number) | undefined
  /** When the restarts within the window were due: never more than `maxRestarts`. */
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

  /** Decides about a restart after an end; a granted restart counts towards the limit. */
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

  /** It became ready and stayed: the next pause is a first one. Restarts still count. */
  stable(): void {
    this.#attempt = 0
  }
}

function crashLoop(maxRestarts: number, windowMs: number): string {
  if (maxRestarts === 0) return 'it may not be restarted ("maxRestarts" is 0)'
  return `restarted ${maxRestarts === 1 ? 'once' : `${maxRestarts} times`} within ${windowMs / 1_000} s`
}
