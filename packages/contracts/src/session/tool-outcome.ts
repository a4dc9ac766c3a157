import type { ToolFinished } from './tool-fact.ts'

/** How a finished call is reported: the log has more kinds of errors than its `outcome` can name. */
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
