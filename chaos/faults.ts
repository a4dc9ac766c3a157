import type { ServiceName } from '@mcp-host/tools/host'
import { SERVICES } from '@mcp-host/tools/host'
import { between, seededRandom, shuffleBag } from './random.ts'

/** What a fault may strike. */
export type Target = ServiceName | 'nats'
export const TARGETS: readonly Target[] = [...SERVICES, 'nats']

/** SIGKILL; SIGTERM; SIGSTOP with a later SIGCONT. */
export type FaultKind = 'kill' | 'term' | 'stop'
export const FAULT_KINDS: readonly FaultKind[] = ['kill', 'term', 'stop']

/** How long a process is frozen by SIGSTOP. */
export const FROZEN_MS = 8_000

export interface Fault {
  readonly kind: FaultKind
  readonly target: Target
  /** Which process of that service, from 0. */
  readonly replica: number
  /** From the end of the fault before. */
  readonly pauseBeforeMs: number
  /** From the end of the process until it is started again; of a frozen one, until it goes on. */
  readonly downMs: number
}

export interface FaultPlan {
  readonly seed: number
  readonly targets: readonly Target[]
  readonly kinds: readonly FaultKind[]
  /** How many processes each target has. */
  readonly replicas: (target: Target) => number
}

/** Faults without end: the same for the same plan, every kind on every target equally often. */
export function* planFaults({ seed, targets, kinds, replicas }: FaultPlan): Generator<Fault> {
  const random = seededRandom(seed, 'faults')
  const nextKind = shuffleBag(random, kinds)
  const nextTarget = new Map(kinds.map((kind) => [kind, shuffleBag(random, targets)]))
  for (;;) {
    const kind = nextKind()
    const target = nextTarget.get(kind)?.() ?? 'nats'
    yield {
      kind,
      target,
      replica: between(random, 0, replicas(target) - 1),
      pauseBeforeMs: between(random, 200, 1_500),
      downMs: kind === 'stop' ? FROZEN_MS : between(random, 200, 1_500),
    }
  }
}
