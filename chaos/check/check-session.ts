import type { LogEntry } from '@mcp-host/contracts'
import type { PlannedTurn } from '../planned-turn.ts'
import { turnsOfLog } from './turns-of-log.ts'
import type { StreamCheck } from './stream-check.ts'
import { summarizeTurn, differencesFromPlan, isSameTurn } from './observed-turn.ts'
import type { Violation } from './violation.ts'

export interface SessionRecord {
  readonly name: string
  /** The plans of all sent messages, by message id. */
  readonly plans: ReadonlyMap<string, PlannedTurn>
  /** Messages that a gateway accepted. */
  readonly accepted: Pick<ReadonlySet<string>, 'has'>
  /** The streams of the client: more than one when it had to restart after a loss. */
  readonly streams: readonly Pick<StreamCheck, 'turns' | 'shown'>[]
  readonly log: readonly LogEntry[]
  /** Messages that are not checked, because a reported loss explains them. */
  readonly excused?: Pick<ReadonlySet<string>, 'has'>
}

/** Outcomes of tool calls when processes die. A `mark` whose process died is not repeated. */
const ALLOWED_OUTCOMES: Readonly<Record<string, readonly string[]>> = {
  mark: ['ok', 'unknown'],
  look: ['ok'],
}

/** Outcomes in a cancelled turn, where a stopped call is never an error. */
const CANCELLED_OUTCOMES: readonly string[] = ['ok', 'unknown', 'cancelled']

/** Checks the plans, the streams of the client and the log against each other, after all turns have ended. */
export function checkSession({
  name,
  plans,
  accepted,
  streams,
  log,
  excused,
}: SessionRecord): Violation[] {
  const violations: Violation[] = []
  const report = (rule: string, detail: string): void => {
    violations.push({ rule, where: name, detail })
  }
  const logTurns = turnsOfLog(log)
  for (const [id, plan] of plans) {
    if (excused?.has(id) === true) continue
    const logged = logTurns.get(id)
    const seen = streams.flatMap(({ turns }) => turns.get(id) ?? []).at(-1)
    const shown = streams.reduce((sum, stream) => sum + (stream.shown.get(id) ?? 0), 0)
    if (!accepted.has(id)) report('not accepted', id)
    else if (logged === undefined) report('lost', `${id} was accepted, but is not in the log`)
    if (shown !== 1) report('user event', `${id} was shown ${shown} times`)
    if (seen?.outcome === undefined) report('turn did not end', `${id}, for the client`)
    if (logged !== undefined && logged.outcome === undefined) {
      report('turn did not end', `${id}, in the log`)
    }
    if (seen?.outcome === undefined || logged?.outcome === undefined) continue
    if (!isSameTurn(seen, logged)) {
      report(
        'stream is not the log',
        `${id}: ${summarizeTurn(seen)} instead of ${summarizeTurn(logged)}`,
      )
    }
    const isCompleted = logged.outcome === 'completed'
    for (const { id: call, tool, outcome = 'none' } of logged.calls.values()) {
      const allowed = isCompleted ? ALLOWED_OUTCOMES[tool] : CANCELLED_OUTCOMES
      if (allowed?.includes(outcome) !== true) {
        report('tool outcome', `${tool} ${call} ended as ${outcome}`)
      }
    }
    if (!isCompleted) continue
    for (const difference of differencesFromPlan(logged, plan)) {
      report('not as planned', `${id}: ${difference}`)
    }
  }
  for (const id of [...logTurns.keys(), ...streams.flatMap(({ turns }) => [...turns.keys()])]) {
    if (!plans.has(id)) report('stray', `nobody sent ${id}`)
  }
  return violations
}
