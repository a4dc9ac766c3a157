import type { LogEntry } from '@mcp-host/contracts'
import type { PlannedTurn } from '../planned-turn.ts'
import { logStories } from './log-stories.ts'
import type { StreamCheck } from './stream-check.ts'
import { brief, differencesFromPlan, isSameStory } from './turn-story.ts'
import type { Violation } from './violation.ts'

export interface SessionRecord {
  readonly name: string
  /** All that was sent, by message. */
  readonly plans: ReadonlyMap<string, PlannedTurn>
  /** Messages the gateway said it has. */
  readonly accepted: Pick<ReadonlySet<string>, 'has'>
  /** All that the client saw: more than one stream when it had to begin anew. */
  readonly streams: readonly Pick<StreamCheck, 'turns' | 'shown'>[]
  readonly log: readonly LogEntry[]
  /** Messages that are not looked at: a loss that was reported explains what became of them. */
  readonly excused?: Pick<ReadonlySet<string>, 'has'>
}

/** What a tool call of a turn may come to when processes die: a `mark` whose process died is not repeated. */
const ALLOWED_OUTCOMES: Readonly<Record<string, readonly string[]>> = {
  mark: ['ok', 'unknown'],
  look: ['ok'],
}

/** The same in a turn that was cancelled: a call that was stopped is never an error. */
const CUT_OUTCOMES: readonly string[] = ['ok', 'unknown', 'cancelled']

/** Holds what was sent, what the client saw and what the log says against each other, once all is quiet. */
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
  const stories = logStories(log)
  for (const [id, plan] of plans) {
    if (excused?.has(id) === true) continue
    const logged = stories.get(id)
    const seen = streams.flatMap(({ turns }) => turns.get(id) ?? []).at(-1)
    const shown = streams.reduce((sum, stream) => sum + (stream.shown.get(id) ?? 0), 0)
    if (!accepted.has(id)) report('not accepted', id)
    else if (logged === undefined) report('lost', `${id} was accepted and is not in the log`)
    if (shown !== 1) report('user event', `${id} was shown ${shown} times`)
    if (seen?.outcome === undefined) report('turn did not end', `${id}, for the client`)
    if (logged !== undefined && logged.outcome === undefined) {
      report('turn did not end', `${id}, in the log`)
    }
    if (seen?.outcome === undefined || logged?.outcome === undefined) continue
    if (!isSameStory(seen, logged)) {
      report('stream is not the log', `${id}: ${brief(seen)} instead of ${brief(logged)}`)
    }
    const isCompleted = logged.outcome === 'completed'
    for (const { id: call, tool, outcome = 'none' } of logged.calls.values()) {
      const allowed = isCompleted ? ALLOWED_OUTCOMES[tool] : CUT_OUTCOMES
      if (allowed?.includes(outcome) !== true) {
        report('tool outcome', `${tool} ${call} ended as ${outcome}`)
      }
    }
    if (!isCompleted) continue
    for (const difference of differencesFromPlan(logged, plan)) {
      report('not as planned', `${id}: ${difference}`)
    }
  }
  for (const id of [...stories.keys(), ...streams.flatMap(({ turns }) => [...turns.keys()])]) {
    if (!plans.has(id)) report('stray', `nobody sent ${id}`)
  }
  return violations
}
