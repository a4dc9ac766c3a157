import type { LogEntry, LostRange } from '@mcp-host/contracts'
import type { Violation } from './violation.ts'

/** The reason why a message is not checked against the log: a reported loss explains the difference. */
export type Excuse =
  /** A client saw an event of the message that was lost. */
  | 'seen and lost'
  /** The turn began before a loss and did not end before it. */
  | 'across a loss'
  /** The message was accepted, and lost before a client saw it. */
  | 'accepted and lost'
  /** The turn ended before the client restarted its stream, which only has later events. */
  | 'over before the client came back'

export interface Evidence {
  /** The ranges that the host reported. */
  readonly lost: readonly LostRange[]
  readonly log: readonly LogEntry[]
  /** The log sequences of all events that clients received, by message id. */
  readonly places: ReadonlyMap<string, ReadonlySet<number>>
  /** The times in epoch milliseconds at which messages were accepted, by message id. */
  readonly accepted: ReadonlyMap<string, number>
  /** The log sequences after which the stream of the user restarted. */
  readonly restarts: readonly number[]
}

/** Time before a loss in which an accepted message may be lost without an event. */
const UNSEEN_MS = 20_000
/** Time after a loss in which its `accepted` frame may still arrive. */
const LATE_MS = 3_000

/** The messages that reported losses explain, with the reasons. */
export function excuses(evidence: Evidence): Map<string, Excuse> {
  const { lost, log, places, accepted } = evidence
  const inputs = new Map<string, number>()
  const ends = new Map<number, number>()
  for (const { kind, fact, seq } of log) {
    if (kind === 'input' && !inputs.has(fact.id)) inputs.set(fact.id, seq)
    if (kind === 'turn' && fact.type === 'turn-done') ends.set(fact.turn, seq)
  }
  const excuseOf = (id: string): Excuse | undefined => {
    const input = inputs.get(id)
    const end = input === undefined ? undefined : ends.get(input)
    const seen = places.get(id) ?? new Set<number>()
    if (lost.some((range) => [...seen].some((seq) => isIn(range, seq)))) return 'seen and lost'
    if (input === undefined) {
      const at = accepted.get(id)
      const isNear = (range: LostRange): boolean =>
        at !== undefined && at >= range.at - UNSEEN_MS && at <= range.at + LATE_MS
      return seen.size === 0 && lost.some(isNear) ? 'accepted and lost' : undefined
    }
    if (lost.some(({ after, through }) => input <= after && (end ?? Infinity) > through)) {
      return 'across a loss'
    }
    const wasOver = evidence.restarts.some((from) => end !== undefined && end <= from)
    return wasOver && seen.size === 0 ? 'over before the client came back' : undefined
  }
  const found = new Map<string, Excuse>()
  for (const id of new Set([...inputs.keys(), ...places.keys(), ...accepted.keys()])) {
    const excuse = excuseOf(id)
    if (excuse !== undefined) found.set(id, excuse)
  }
  return found
}

/** Checks that every seen event is stored or reported as lost, and that no lost sequence is reused. */
export function checkReported(
  where: string,
  { lost, log }: Pick<Evidence, 'lost' | 'log'>,
  seen: readonly number[],
): Violation[] {
  const stored = new Set(log.map(({ seq }) => seq))
  const isKnown = (seq: number): boolean => stored.has(seq) || lost.some((one) => isIn(one, seq))
  const gone = seen.find((seq) => !isKnown(seq))
  const reused = log.find(({ seq }) => lost.some((one) => isIn(one, seq)))
  return [
    ...(gone === undefined
      ? []
      : [{ rule: 'loss not reported', where, detail: `${gone} was seen, but is not in the log` }]),
    ...(reused === undefined
      ? []
      : [{ rule: 'lost sequence reused', where, detail: `${reused.seq} is in the log` }]),
  ]
}

/** Checks that a stream with lost events only continues after a restart. */
export function checkRestartAfterLoss(
  where: string,
  lost: readonly LostRange[],
  streams: readonly (readonly number[])[],
): Violation[] {
  return lost.flatMap((range) =>
    streams.flatMap((seqs) => {
      const seen = seqs.find((seq) => isIn(range, seq))
      const later = seqs.find((seq) => seq > range.through)
      if (seen === undefined || later === undefined) return []
      const detail = `${seen} was lost, but the stream continues with ${later}`
      return [{ rule: 'not told of a loss', where, detail }]
    }),
  )
}

export function isIn({ after, through }: LostRange, seq: number): boolean {
  return after < seq && seq <= through
}
