import type { GenerationId, LogEntry, ToolCallId, TurnEvent } from '@mcp-host/contracts'
import type { AskedQuestion } from './question-end.ts'

/**
 * Whether a generation is void from its start. It replaced a generation that seemed dead, but whose result was stored
 * before this start.
 */
export function isStillborn(
  { voids, reason }: Extract<TurnEvent, { type: 'generation-started' }>,
  hasResult: (replaced: GenerationId) => boolean,
): boolean {
  return reason === undefined && voids !== undefined && hasResult(voids)
}

/** Whether a question belongs to an abandoned attempt of its call, so that it needs no answer. */
export function isAbandoned(asked: AskedQuestion, newestAttempt: number): boolean {
  return asked.type === 'input-required' && asked.attempt < newestAttempt
}

/** The question that an entry asks the user, if any. */
export function askedBy({ kind, fact }: LogEntry): AskedQuestion | undefined {
  if (kind === 'turn') return fact.type === 'approval-required' ? fact : undefined
  return kind === 'tool' && fact.type === 'input-required' ? fact : undefined
}

/** The tool call that an entry answers: by its result, or by closing it without one. The first answer counts. */
export function answeredBy({ kind, fact }: LogEntry): ToolCallId | undefined {
  if (kind === 'tool') return fact.type === 'tool-finished' ? fact.call : undefined
  return kind === 'turn' && fact.type === 'tool-settled' ? fact.call : undefined
}

/** The nonce of the start that runs an attempt of a call: the first one; `undefined` once the call has ended. */
export function winningStart(
  entries: readonly LogEntry[],
  call: ToolCallId,
  attempt: number,
): string | undefined {
  if (entries.some((entry) => endsCall(entry, call))) return undefined
  for (const { kind, fact } of entries) {
    if (kind !== 'tool' || fact.type !== 'tool-started') continue
    if (fact.call === call && fact.attempt === attempt) return fact.nonce
  }
  return undefined
}

/** Whether an entry after the generation of a call ends the call. */
function endsCall(entry: LogEntry, call: ToolCallId): boolean {
  const { kind, fact } = entry
  if (answeredBy(entry) === call) return true
  // Only one turn runs at a time, so the entry concerns the turn of the call.
  if (kind === 'turn') return fact.type === 'turn-done'
  if (kind !== 'control') return false
  if (fact.type === 'call-cancel-requested') return fact.call === call
  // A cancel without a message id is for the running turn. With an id it may be for a queued turn.
  return (
    fact.type === 'session-deleted' ||
    (fact.type === 'cancel-requested' && fact.messageId === undefined)
  )
}
