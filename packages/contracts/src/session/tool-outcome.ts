import { z } from 'zod'
import { ToolFinished } from './tool-fact.ts'

/** The result of a tool call as clients see it: the log has more kinds of errors than its `outcome` names. */
export const ToolResult = z.object({
  outcome: z.enum(['ok', 'error', 'unknown', 'refused', 'cancelled']),
  ...ToolFinished.pick({ content: true, structuredContent: true, error: true, blob: true }).shape,
  durationMs: z.number().optional(),
})

/** The outcome of a finished call for clients. */
export function toolOutcome({
  outcome,
  error,
  isOutcomeUnknown,
}: Pick<ToolFinished, 'outcome' | 'error' | 'isOutcomeUnknown'>): Exclude<
  z.infer<typeof ToolResult>['outcome'],
  'refused'
> {
  if (error?.code === 'cancelled') return 'cancelled'
  return isOutcomeUnknown === true ? 'unknown' : outcome
}
