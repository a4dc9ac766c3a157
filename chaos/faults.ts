import type { HostileKind } from '@mcp-host/testkit'
import { HOSTILE_KINDS } from '@mcp-host/testkit'
import type { ServiceName } from '@mcp-host/tools/host'
import { SERVICES } from '@mcp-host/tools/host'
import type { Damage } from './damage.ts'
import { DAMAGE_KINDS } from './damage.ts'
import { between, seededRandom, shuffleBag } from './random.ts'

/** What a fault may strike. */
export type Target = ServiceName | 'nats'
export const TARGETS: readonly Target[] = [...SERVICES, 'nats']

/** The kind of a run of its own: with one instance of each service the others make an outage. */
export const ROLLING = 'term-one-instance'

/** What a process suffers: SIGKILL; SIGTERM; SIGSTOP with a later SIGCONT. */
const PROCESS_FAULTS = ['kill', 'term', 'stop'] as const
/**
 * `disk-full`: nats-server can store nothing, and is restarted once it can. `ROLLING`: SIGTERM of the only instance,
 * whose successor starts first.
 */
type ProcessFaultKind = (typeof PROCESS_FAULTS)[number] | 'disk-full' | typeof ROLLING

/**
 * `hostile-server`: an MCP server that misbehaves is added beside the others, called, and removed. `corrupt`:
 * nats-server is killed, and the end of its session log is damaged before it starts again.
 */
export type FaultKind = ProcessFaultKind | 'hostile-server' | 'corrupt'
/** What strikes unless something else is asked for. */
export const FAULT_KINDS: readonly FaultKind[] = [...PROCESS_FAULTS, 'hostile-server']
/** `disk-full` has to mount a file system, which not every machine allows; after `corrupt` less can be checked. */
export const ALL_FAULT_KINDS: readonly FaultKind[] = [...FAULT_KINDS, 'disk-full', 'corrupt']

/** How long a process is frozen by SIGSTOP. */
export const FROZEN_MS = 8_000
/** How long a hostile server is there. */
const HOSTILE_MS = 5_000
/** How long the disk is full: longer than it takes the services to notice. */
const FULL_MS = 6_000
/** Before damage: turns end meanwhile, which must not be touched by it. */
const BEFORE_DAMAGE_MS = 8_000
/** How much of the log is damaged at most: about the last two seconds of 20 sessions. */
const MOST_DAMAGED_BYTES = 32 * 1024
const LASTING_MS: Partial<Record<FaultKind, number>> = { stop: FROZEN_MS, 'disk-full': FULL_MS }

interface AnyFault {
  readonly target: Target
  /** Which process of that service, from 0. */
  readonly replica: number
  /** From the end of the fault before. */
  readonly pauseBeforeMs: number
  /**
   * From the end of the process until it is started again; of a frozen one, until it goes on; of a hostile server,
   * until it is removed; of a full disk, until there is room.
   */
  readonly downMs: number
}

export interface ProcessFault extends AnyFault {
  readonly kind: ProcessFaultKind
}

/** Every supervisor may run the hostile server: the target only names the service. */
interface HostileFault extends AnyFault {
  readonly kind: 'hostile-server'
  readonly server: HostileKind
}

export interface CorruptFault extends AnyFault {
  readonly kind: 'corrupt'
  readonly damage: Damage
}

export type Fault = ProcessFault | HostileFault | CorruptFault

export interface FaultPlan {
  readonly seed: number
  readonly targets: readonly Target[]
  readonly kinds: readonly FaultKind[]
  /** How many processes each target has. */
  readonly replicas: (target: Target) => number
}

const OWN_TARGET: Partial<Record<FaultKind, Target>> = {
  'hostile-server': 'mcp-supervisor',
  'disk-full': 'nats',
  corrupt: 'nats',
}

/**
 * Faults without end: the same for the same plan, every kind on every target equally often. A hostile server only
 * strikes the supervisors, a full disk and damaged data nats-server, whatever the targets are.
 */
export function* planFaults({ seed, targets, kinds, replicas }: FaultPlan): Generator<Fault> {
  const random = seededRandom(seed, 'faults')
  const nextKind = shuffleBag(random, kinds)
  const nextServer = shuffleBag(random, HOSTILE_KINDS)
  const nextDamage = shuffleBag(random, DAMAGE_KINDS)
  const nextTarget = new Map(kinds.map((kind) => [kind, shuffleBag(random, targets)]))
  for (;;) {
    const kind = nextKind()
    const target = OWN_TARGET[kind] ?? nextTarget.get(kind)?.() ?? 'nats'
    const replica = between(random, 0, replicas(target) - 1)
    const common = { target, replica, pauseBeforeMs: between(random, 200, 1_500) }
    if (kind === 'hostile-server') {
      yield { kind, server: nextServer(), downMs: HOSTILE_MS, ...common }
    } else if (kind === 'corrupt') {
      const damage = { how: nextDamage(), bytes: between(random, 1, MOST_DAMAGED_BYTES) }
      const downMs = between(random, 200, 1_500)
      yield { kind, damage, downMs, ...common, pauseBeforeMs: BEFORE_DAMAGE_MS }
    } else {
      yield { kind, downMs: LASTING_MS[kind] ?? between(random, 200, 1_500), ...common }
    }
  }
}
