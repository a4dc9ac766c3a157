import { BusError } from '@mcp-host/contracts'
import type { Rate } from '@mcp-host/limits'
import { describeLimit, parseRate, rateLimited, SharedRate } from '@mcp-host/limits'
import { Counter } from 'prom-client'
import { z } from 'zod'
import type { ServiceDeps } from './run-service.ts'

/** The value of a setting: a rate such as `100/s`, or `off`, which is `undefined`. */
export const rateValue = z.string().transform((text, context): Rate | undefined => {
  const rate = parseRate(text)
  if (rate === undefined && text !== 'off') {
    const message = 'must be off, or a number per s, m, h or d, as 100/s'
    context.addIssue({ code: 'custom', message })
  }
  return rate
})

/** One limit for many keys. */
export interface RateLimit {
  /** `undefined`: no limit. */
  readonly rate: Rate | undefined
  /** The counted unit, in the plural: `requests`. It labels the metric. A `rate` always has the same. */
  readonly what: string
}

/** Limits that all replicas of all services share. */
export class RateLimits {
  readonly #deps: ConstructorParameters<typeof SharedRate>[0]
  readonly #rates = new WeakMap<Rate, SharedRate>()
  readonly #refused: Counter<'limit'>

  constructor({ bus, logger, metrics }: Pick<ServiceDeps, 'bus' | 'logger' | 'metrics'>) {
    let counter: ReturnType<typeof bus.counter> | undefined
    const open = (): ReturnType<typeof bus.counter> => {
      // Without a limit, the streams of the counters are not needed.
      counter ??= bus.counter()
      counter.catch(() => (counter = undefined))
      return counter
    }
    this.#deps = {
      // Windows are the same in all processes.
      now: () => bus.clock.now(),
      counter: { add: async (...count) => (await open()).add(...count) },
      onFault: (err) =>
        logger.warn(
          { component: 'limits', action: 'count', err },
          'the shared counters do not answer; this process applies its limits alone',
        ),
    }
    this.#refused = new Counter({
      name: 'mcp_host_limited_total',
      help: 'What was refused because of a rate limit, by what is counted',
      labelNames: ['limit'],
      registers: [metrics],
    })
  }

  /**
   * Takes a permit of a key. Returns `undefined` in the usual case, when no wait is needed. Throws, or rejects with,
   * `exhausted`.
   */
  take(limit: RateLimit, key: string): Promise<void> | undefined {
    const { rate } = limit
    if (rate === undefined) return undefined
    const verdict = this.#shared(limit, rate).take(key)
    if (verdict instanceof Promise) {
      return verdict.then((later) => this.#require(limit, rate, later))
    }
    this.#require(limit, rate, verdict)
    return undefined
  }

  /** Throws `exhausted` when a key has used up the permits that `charge` counts. */
  async checkLeft(limit: RateLimit, key: string): Promise<void> {
    const { rate } = limit
    if (rate === undefined) return
    this.#require(limit, rate, await this.#shared(limit, rate).check(key))
  }

  /** Counts the use of a key, such as tokens. Never rejects. */
  async charge(limit: RateLimit, key: string, amount: number): Promise<void> {
    const { rate } = limit
    if (rate !== undefined && amount > 0) await this.#shared(limit, rate).charge(key, amount)
  }

  /** The permits that a key has used in the present window; `undefined` without a limit. Never rejects. */
  async used(limit: RateLimit, key: string): Promise<number | undefined> {
    const { rate } = limit
    return rate === undefined ? undefined : this.#shared(limit, rate).used(key)
  }

  #shared({ what }: RateLimit, rate: Rate): SharedRate {
    const known = this.#rates.get(rate)
    if (known !== undefined) return known
    const shared = new SharedRate(this.#deps, rate, what)
    this.#rates.set(rate, shared)
    return shared
  }

  #require(
    { what }: RateLimit,
    rate: Rate,
    verdict: Awaited<ReturnType<SharedRate['take']>>,
  ): void {
    if (verdict.isAllowed) return
    this.#refused.inc({ limit: what })
    const { retryAfterMs } = verdict
    const reason = describeLimit({ rate, what, retryAfterMs })
    throw new BusError('exhausted', rateLimited(reason), { retryAfterMs })
  }
}
