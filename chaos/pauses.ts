import { quantile } from '../bench/quantile.ts'
import type { Received } from './client.ts'
import type { Fault } from './faults.ts'
import { ROLLING } from './faults.ts'

/** A fault, and the turns that were running at its time. */
export interface InjectedFault {
  readonly fault: Fault
  /** Time by `performance.now()`. */
  readonly at: number
  /** Numbers of the sessions whose turn was running, by the streams of the clients. */
  readonly sessions: readonly number[]
}

/** The pauses of clients by one kind of fault on one target, in milliseconds. */
export interface Pauses {
  readonly faults: number
  /** Number of running turns at all faults, including those that other processes serve. */
  readonly samples: number
  readonly p50: number
  readonly p95: number
  readonly max: number
  /** The upper limit. */
  readonly goal: number
}

const WINDOW_MS = 15_000
/** A session that was silent for this long before a fault still waits for the end of an earlier one. */
const MOVING_MS = 1_000

/**
 * The longest silence of a running turn after a fault, until its end or for 15 s. A silence that begins after the next
 * fault is not counted. `undefined`: the session was silent before.
 */
export function longestPause(
  received: readonly Received[],
  at: number,
  nextFaultAt = Number.POSITIVE_INFINITY,
): number | undefined {
  const first = firstAfter(received, at)
  if (at - (received[first - 1]?.at ?? 0) > MOVING_MS) return undefined
  let last = at
  let longest = 0
  for (let index = first; last < Math.min(nextFaultAt, at + WINDOW_MS); index++) {
    const next = received[index]
    const now = Math.min(next?.at ?? Number.POSITIVE_INFINITY, at + WINDOW_MS)
    longest = Math.max(longest, now - last)
    last = now
    if (next?.event.type === 'turn' && next.event.payload.state === 'done') break
  }
  return longest
}

/** The pauses by kind and target, as `kill gateway`. */
export function summarizePauses(
  injected: readonly InjectedFault[],
  sessions: readonly (readonly Received[])[],
  natsServers: number,
): Record<string, Pauses> {
  const measured = injected.map(({ fault, at, sessions: running }, index) => ({
    fault,
    pauses: running.flatMap(
      (number) => longestPause(sessions[number] ?? [], at, injected[index + 1]?.at) ?? [],
    ),
  }))
  const groups = Object.groupBy(measured, ({ fault }) => `${fault.kind} ${fault.target}`)
  const rows = Object.entries(groups).map(([name, group]) => {
    const pauses = group.flatMap((each) => each.pauses)
    const goals = group.map(({ fault }) => goalMs(fault, natsServers))
    const row = {
      faults: group.length,
      samples: pauses.length,
      p50: Math.round(quantile(pauses, 0.5)),
      p95: Math.round(quantile(pauses, 0.95)),
      max: Math.round(quantile(pauses, 1)),
      goal: Math.max(...goals),
    }
    return [name, row] as const
  })
  return Object.fromEntries(rows.toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

/** The limit for the silence of a client. */
function goalMs({ kind, target, downMs }: Fault, natsServers: number): number {
  if (kind === 'disk-full') return downMs + 10_000
  // The log is first filled up to its known end.
  if (kind === 'corrupt') return downMs + 10_000
  if (kind === ROLLING) return 3_000
  if (target === 'nats') return natsServers > 1 ? 10_000 : downMs + 6_000
  if (kind === 'stop') return 8_000
  const goals = {
    gateway: 1_200,
    orchestrator: 5_200,
    'mcp-supervisor': 1_500,
    'llm-worker': 2_000,
  }
  return goals[target]
}

/** Index of the first event after a time. */
function firstAfter(received: readonly Received[], at: number): number {
  let [low, high] = [0, received.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((received[middle]?.at ?? 0) > at) high = middle
    else low = middle + 1
  }
  return low
}
