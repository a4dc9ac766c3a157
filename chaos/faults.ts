import type { HostileKind } from '@mcp-host/testkit'
import { HOSTILE_KINDS } from '@mcp-host/testkit'
import type { ServiceName } from '@mcp-host/tools/host'
import { SERVICES } from '@mcp-host/tools/host'
import type { Damage } from './damage.ts'
import { DAMAGE_KINDS } from './damage.ts'
import { between, seededRandom, shuffleBag } from './random.ts'

/** The processes that a fault may strike. */
export type Target = ServiceName | 'nats'
export const TARGETS: readonly Target[] = [...SERVICES, 'nats']

/** A rolling restart. Cannot be combined with other kinds, which cause outages when each service has one instance. */
export const ROLLING = 'term-one-instance'

/** Signals to a process: SIGKILL, SIGTERM, and SIGSTOP with a later SIGCONT. */
export const PROCESS_FAULTS = ['kill', 'term', 'stop'] as const
/**
 * `disk-full`: the disk of nats-server is full for a while, and nats-server is restarted afterwards. `ROLLING`: SIGTERM
 * of the only instance, whose successor starts first.
 */
type ProcessFaultKind = (typeof PROCESS_FAULTS)[number] | 'disk-full' | typeof ROLLING

/**
 * `hostile-server`: an MCP server that misbehaves is added, called, and removed. `corrupt`: nats-server is killed, and
 * the end of its session log is damaged before the restart. `clock`: SIGTERM of a service, whose clock is moved when it
 * starts again.
 */
export type FaultKind = ProcessFaultKind | 'hostile-server' | 'corrupt' | 'clock'
/** The default kinds. */
export const FAULT_KINDS: readonly FaultKind[] = [...PROCESS_FAULTS, 'hostile-server']
/**
 * All kinds that can be combined. `disk-full` mounts a file system, which needs root. After `corrupt` less can be
 * checked.
 */
export const ALL_FAULT_KINDS: readonly FaultKind[] = [
  ...FAULT_KINDS,
  'disk-full',
  'corrupt',
  'clock',
]

/** Duration of SIGSTOP. */
export const FROZEN_MS = 8_000
/** Duration of a hostile server. */
const HOSTILE_MS = 5_000
/** Duration of a full disk, longer than the services need to notice it. */
const FULL_MS = 6_000
/** How far clocks are moved: ahead or behind. */
const OFFSETS_MS: readonly number[] = [1_000, -1_000, 5_000, -5_000, 60_000, -60_000]
/** Pause before damage. Turns that end within it must survive. */
const BEFORE_DAMAGE_MS = 8_000
/** The maximum of damaged bytes: about the last two seconds of 20 sessions. */
const MAX_DAMAGED_BYTES = 32 * 1024
const LASTING_MS: Partial<Record<FaultKind, number>> = { stop: FROZEN_MS, 'disk-full': FULL_MS }

interface AnyFault {
  readonly target: Target
  /** Index of the process within its service. */
  readonly replica: number
  /** Pause since the previous fault. */
  readonly pauseBeforeMs: number
  /**
   * Duration: from the end of a process to its restart, or that of SIGSTOP, of the hostile server or of the full disk.
   */
  readonly downMs: number
}

export interface ProcessFault extends AnyFault {
  readonly kind: ProcessFaultKind
}

/** Any supervisor may run the hostile server, so `replica` has no meaning. */
interface HostileFault extends AnyFault {
  readonly kind: 'hostile-server'
  readonly server: HostileKind
}

export interface CorruptFault extends AnyFault {
  readonly kind: 'corrupt'
  readonly damage: Damage
}

export interface ClockFault extends AnyFault {
  readonly kind: 'clock'
  readonly target: ServiceName
  readonly offsetMs: number
}

export type Fault = ProcessFault | HostileFault | CorruptFault | ClockFault

export interface FaultPlan {
  readonly seed: number
  readonly targets: readonly Target[]
  readonly kinds: readonly FaultKind[]
  /** Number of processes of each target. */
  readonly replicas: (target: Target) => number
}

const OWN_TARGET: Partial<Record<FaultKind, Target>> = {
  'hostile-server': 'mcp-supervisor',
  'disk-full': 'nats',
  corrupt: 'nats',
}

/**
 * Plans an endless sequence of faults: the same for the same plan, with every kind on every target equally often.
 * Hostile servers always strike the supervisors; a full disk and damage always strike nats-server; clocks are those of
 * any service.
 */
export function* planFaults({ seed, targets, kinds, replicas }: FaultPlan): Generator<Fault> {
  const random = seededRandom(seed, 'faults')
  const nextKind = shuffleBag(random, kinds)
  const nextServer = shuffleBag(random, HOSTILE_KINDS)
  const nextDamage = shuffleBag(random, DAMAGE_KINDS)
  const nextOffset = shuffleBag(random, OFFSETS_MS)
  const nextService = shuffleBag(random, SERVICES)
  const nextTarget = new Map(kinds.map((kind) => [kind, shuffleBag(random, targets)]))
  for (;;) {
    const kind = nextKind()
    if (kind === 'clock') {
      const service = nextService()
      yield {
        kind,
        target: service,
        replica: between(random, 0, replicas(service) - 1),
        offsetMs: nextOffset(),
        pauseBeforeMs: between(random, 200, 1_500),
        downMs: between(random, 200, 1_500),
      }
      continue
    }
    const target = OWN_TARGET[kind] ?? nextTarget.get(kind)?.() ?? 'nats'
    const replica = between(random, 0, replicas(target) - 1)
    const common = { target, replica, pauseBeforeMs: between(random, 200, 1_500) }
    if (kind === 'hostile-server') {
      yield { kind, server: nextServer(), downMs: HOSTILE_MS, ...common }
    } else if (kind === 'corrupt') {
      const damage = { how: nextDamage(), bytes: between(random, 1, MAX_DAMAGED_BYTES) }
      const downMs = between(random, 200, 1_500)
      yield { kind, damage, downMs, ...common, pauseBeforeMs: BEFORE_DAMAGE_MS }
    } else {
      yield { kind, downMs: LASTING_MS[kind] ?? between(random, 200, 1_500), ...common }
    }
  }
}
