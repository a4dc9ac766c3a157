import type { BalancePolicy } from '../server-config.ts'

/** The balancer's view of an instance. */
export interface Candidate {
  /** Its relative share of requests; more than 0. */
  readonly weight: number
  /** The number of its requests, including queued ones. */
  readonly inFlight: number
  readonly health: {
    /** 0 to 1. */
    readonly failureRate: number
    readonly latencyMs: number
  }
}

/** The smallest part of its share that an unhealthy instance gets, so that its recovery is detected. */
const LEAST_HEALTH = 0.02
/** Added to latencies, so that differences of a few milliseconds do not matter. */
const LATENCY_SLACK_MS = 20

/** Distributes requests over instances. The candidates may differ each time. */
export class Balancer<Instance extends Candidate> {
  readonly #policy: BalancePolicy
  /** The current weight of each instance in smooth weighted round robin, as in nginx. */
  readonly #current = new WeakMap<Instance, number>()

  constructor(policy: BalancePolicy) {
    this.#policy = policy
  }

  /** Picks one of the candidates; `undefined` when there are none. */
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

  /**
   * Smooth weighted round robin, which spreads the picks of each instance over a round: a a b a c instead of a a a b c.
   */
  #next(
    candidates: readonly Instance[],
    weightOf: (candidate: Instance) => number,
  ): Instance | undefined {
    let total = 0
    let next: { readonly instance: Instance; readonly current: number } | undefined
    for (const instance of candidates) {
      const weight = weightOf(instance)
      const current = (this.#current.get(instance) ?? 0) + weight
      this.#current.set(instance, current)
      total += weight
      if (next === undefined || current > next.current) next = { instance, current }
    }
    if (next !== undefined) this.#current.set(next.instance, next.current - total)
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

/** Weights that decrease for instances that fail, or are slower than the fastest. */
function healthyWeight(candidates: readonly Candidate[]): (candidate: Candidate) => number {
  const fastestMs = Math.min(...candidates.map(({ health }) => health.latencyMs))
  return ({ weight, health: { failureRate, latencyMs } }) => {
    const speed = (fastestMs + LATENCY_SLACK_MS) / (latencyMs + LATENCY_SLACK_MS)
    return weight * Math.max(LEAST_HEALTH, (1 - failureRate) ** 2 * speed)
  }
}
