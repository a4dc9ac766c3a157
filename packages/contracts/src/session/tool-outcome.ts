import type { ToolFinished } from './tool-fact.ts'

/** The outcome of a finished call for clients: the log has more kinds of errors than its `outcome` names. */
export function toolOutcome({
  outcome,
  error,
  isOutcomeUnknown,
}: Pick<ToolFinished, 'outcome' | 'error' | 'isOutcomeUnknown'>):
  | 'ok'
  | 'error'
  | 'cancelled'
  | 'unknown' {
  if (error?.code === 'cancelled') return 'cancelled'
  return isOutcomeUnknown === true ? 'unknown' : outcome
}
