import type { ToolFinished } from './tool-fact.ts'

/** How a finished call is reported. The log has a stopped call as an error with the code `cancelled`. */
export function toolOutcome({
  outcome,
  error,
}: Pick<ToolFinished, 'outcome' | 'error'>): 'ok' | 'error' | 'cancelled' {
  return error?.code === 'cancelled' ? 'cancelled' : outcome
}
