import type { ToolResult } from './turn.ts'

/** The outcomes of calls, in words for a user. */
export const OUTCOME_WORDS: Readonly<Record<ToolResult['outcome'], string>> = {
  ok: 'Done',
  error: 'Failed',
  refused: 'Not run',
  cancelled: 'Stopped',
  unknown: 'Outcome unknown',
}
