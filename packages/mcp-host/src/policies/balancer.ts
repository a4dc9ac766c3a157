import type { BalancePolicy } from '../config/mcp-config.ts'

/** The balancer's view of an instance. */
export interface Candidate {
  /** Its share beside the others; more than 0. */
  readonly weight: number
  /** Requests that it has, those that wait for their turn included. */
  readonly inFlight: number
  readonly health: {
    /** 0 to 1. */
    readonly failureRate: number
    readonly latencyMs: number
  }
}

/** The least of its share that an instance gets: so it is seen when it is well again. */
const LEAST_HEALTH = 0.02
/** So much more latency does not matter, nor do the chance differences of fast answers. */
const LATENCY_SLACK_MS = 20

/** Spreads requests over instances, of which each time others may be there to choose from. */
export class Balancer<Instance extends Candidate> {
  readonly #policy: BalancePolicy
  /** The current weight of each instance in smooth weighted round robin, as in nginx. */
  readonly #owed = new WeakMap<Instance, number>()

  constructor(policy: BalancePolicy) {
    this.#policy = policy
  }

  /** One of these; `undefined` of none. */
  pick(candidates: readonly Instance[]): Instance | undefined {
    switch (this.#policy) {
      case 'round-robin':
      case 'weighted':
        return this.#next(candidates, ({ weight }) => weight)
      case 'least-in-flight':
        return this.#next(leastBusy(candidates), ({ weight }) => weight)
      case 'health-scored':
        return this.#next(candidates, healthyWeight(candidates))
      default:
        return this.#policy satisfies never
    }
  }

  /** Each gets its weight in every round, spread over the round: a a b a c, and not a a a b c. */
  #next(
    candidates: readonly Instance[],
    weightOf: (candidate: Instance) => number,
  ): Instance | undefined {
    let total = 0
    let next: { readonly instance: Instance; readonly owed: number } | undefined
    for (const instance of candidates) {
      const weight = weightOf(instance)
      const owed = (this.#owed.get(instance) ?? 0) + weight
      this.#owed.set(instance, owed)
      total += weight
      if (next === undefined || owed > next.owed) next = { instance, owed }
    }
    if (next !== undefined) this.#owed.set(next.instance, next.owed - total)
    return next?.instance
  }
}

/** The instances with the fewest requests for their weight. */
function leastBusy<Instance extends Candidate>(
  candidates: readonly Instance[],
): readonly Instance[] {
  const loads = candidates.map(({ inFlight, weight }) => inFlight / weight)
  const least = Math.min(...loads)
  return candidates.filter((_, index) => loads[index] === least)
}

/** One that fails, or is slower than the fastest, gets less. */
function healthyWeight(candidates: readonly Candidate[]): (candidate: Candidate) => number {
  const fastestMs = Math.min(...candidates.map(({ health }) => health.latencyMs))
  return ({ weight, health: { failureRate, latencyMs } }) => {
    const speed = (fastestMs + LATENCY_SLACK_MS) / (latencyMs + LATENCY_SLACK_MS)
    return weight * Math.max(LEAST_HEALTH, (1 - failureRate) ** 2 * speed)
  }
}
