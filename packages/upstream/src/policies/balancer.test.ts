import { describe, expect, test } from 'vitest'

import type { BalancePolicy } from '../server-config.ts'
import { Balancer, type Candidate } from './balancer.ts'
import { HealthScore } from './health-score.ts'

interface Instance extends Candidate {
  readonly name: string
  inFlight: number
  readonly health: HealthScore
}

let now = 0
const instance = (name: string, weight = 1): Instance => ({
  name,
  weight,
  inFlight: 0,
  health: new HealthScore({ now: () => now }),
})

/** The names of the instances that get `count` requests, one after another; `done` is called for each. */
function picks(
  policy: BalancePolicy,
  instances: readonly Instance[],
  count: number,
  done: (picked: Instance) => void = () => undefined,
): string[] {
  const balancer = new Balancer<Instance>(policy)
  return Array.from({ length: count }, () => {
    const picked = balancer.pick(instances)
    if (picked === undefined) throw new Error('no instance was picked')
    done(picked)
    return picked.name
  })
}

const shares = (names: readonly string[]): Record<string, number> =>
  Object.fromEntries(
    Array.from(
      Map.groupBy(names, (name) => name),
      ([name, all]) => [name, all.length],
    ),
  )

/** A generator of the same pseudorandom numbers in each run. */
function* dice(seed: number): Generator<number, never> {
  for (let state = seed; ;) {
    state = (state * 48_271) % 2_147_483_647
    yield state / 2_147_483_647
  }
}

test.each<BalancePolicy>(['round-robin', 'weighted', 'least-in-flight', 'health-scored'])(
  '%s picks equal instances with equal health in turn',
  (policy) => {
    const abc = ['a', 'b', 'c'].map((name) => instance(name))
    expect(picks(policy, abc, 6)).toEqual(['a', 'b', 'c', 'a', 'b', 'c'])
    expect(new Balancer(policy).pick([])).toBeUndefined()
  },
)

describe('weights', () => {
  test('weights are spread over a round as in nginx', () => {
    const abc = [instance('a', 5), instance('b'), instance('c')]
    expect(picks('weighted', abc, 7).join('')).toBe('aabacaa')
  })

  test.each<BalancePolicy>(['round-robin', 'weighted', 'least-in-flight', 'health-scored'])(
    'weights are matched under %s in every round',
    (policy) => {
      const random = dice(7)
      for (let trial = 0; trial < 50; trial += 1) {
        const weights = Array.from({ length: 5 }, () => 1 + Math.floor(random.next().value * 9))
        const all = weights.map((weight, index) => instance(String(index), weight))
        const round = weights.reduce((sum, weight) => sum + weight)
        expect(shares(picks(policy, all, round))).toEqual(Object.fromEntries(weights.entries()))
      }
    },
  )

  test('weights hold among the remaining instances while one is away, and again when it is back', () => {
    const [a, b, c] = [instance('a', 2), instance('b'), instance('c')]
    const balancer = new Balancer<Instance>('weighted')
    const take = (from: readonly Instance[], count: number): Record<string, number> =>
      shares(Array.from({ length: count }, () => balancer.pick(from)?.name ?? ''))
    take([a, b, c], 3)
    const { a: more = 0, b: less = 0 } = take([a, b], 300)
    expect(Math.abs(more - 2 * less)).toBeLessThan(4)
    const { a: two = 0, b: one = 0, c: back = 0 } = take([a, b, c], 400)
    expect([two, one, back].map((share) => Math.round(share / 10))).toEqual([20, 10, 10])
  })
})

describe('least in flight', () => {
  test('least-in-flight never picks an instance with more load for its weight than another', () => {
    const random = dice(11)
    const all = [instance('a'), instance('b', 3), instance('c', 2)]
    const load = ({ inFlight, weight }: Instance): number => inFlight / weight
    picks('least-in-flight', all, 2000, (picked) => {
      expect(load(picked)).toBe(Math.min(...all.map(load)))
      picked.inFlight += 1
      for (const each of all)
        if (random.next().value < 0.4) each.inFlight = Math.max(0, each.inFlight - 1)
    })
  })

  test('least-in-flight skips an instance that does not finish its requests', () => {
    const [stuck, idle] = [instance('stuck'), instance('idle')]
    stuck.inFlight = 3
    expect(shares(picks('least-in-flight', [stuck, idle], 50))).toEqual({ idle: 50 })
  })
})

describe('health', () => {
  const run = (count: number, latencyOf: (name: string) => number | undefined): number[] => {
    const names = picks('health-scored', all, count, ({ name, health }) => {
      now += 10
      const latency = latencyOf(name)
      if (latency === undefined) health.failed()
      else health.succeeded(latency)
    })
    return all.map(({ name }) => (shares(names)[name] ?? 0) / count)
  }
  let all: Instance[] = []

  test('health-scored rarely picks a failing instance, and picks it again soon after it recovers', () => {
    all = ['a', 'b', 'c'].map((name) => instance(name))
    run(30, () => 5)
    const [failing = 0, ...others] = run(1000, (name) => (name === 'a' ? undefined : 5))
    expect(failing).toBeGreaterThan(0)
    expect(failing).toBeLessThan(0.05)
    for (const share of others) expect(share).toBeGreaterThan(0.4)
    run(1000, () => 5)
    for (const share of run(300, () => 5)) expect(share).toBeCloseTo(1 / 3, 1)
  })

  test('health-scored picks a failed instance again after a while without requests', () => {
    all = ['a', 'b'].map((name) => instance(name))
    run(200, (name) => (name === 'a' ? undefined : 5))
    now += 60_000
    for (const share of run(40, () => 5)) expect(share).toBeCloseTo(0.5, 1)
  })

  test('health-scored picks an instance again that was slow once', () => {
    all = ['a', 'b'].map((name) => instance(name))
    all[0]?.health.succeeded(100_000)
    const answer = ({ health }: Instance): void => health.succeeded(5)
    const names = picks('health-scored', all, 2000, answer).slice(-100)
    expect(shares(names)).toEqual({ a: 50, b: 50 })
  })

  test('health-scored picks a slower instance less often, and equally where the difference is small', () => {
    all = ['a', 'b'].map((name) => instance(name))
    const [slow = 0] = run(1000, (name) => (name === 'a' ? 500 : 20))
    expect(slow).toBeLessThan(0.15)
    expect(slow).toBeGreaterThan(0.01)
    all = ['a', 'b'].map((name) => instance(name))
    for (const share of run(1000, (name) => (name === 'a' ? 2 : 1))) {
      expect(share).toBeCloseTo(0.5, 1)
    }
  })
})
