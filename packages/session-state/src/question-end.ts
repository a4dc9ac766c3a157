import type { ApprovalRequired, InputAnswered, InputRequired, LogEntry } from '@mcp-host/contracts'

/** A question to the user, by an MCP server during a call or by the host before one. */
export type AskedQuestion = InputRequired | ApprovalRequired

/** The end of a question. `void`: its call ended, or the server withdrew it. */
export type QuestionEnd =
  | {
      readonly state: 'answered'
      readonly answer: InputAnswered
      /** The user who answered. */
      readonly by: string
      /** Log sequence of the answer that counts. */
      readonly seq: number
    }
  | { readonly state: 'expired' | 'void' }

/** The end of an open question by an entry of the log, if the entry ends it. Pure. */
export function questionEnd(
  asked: AskedQuestion,
  { kind, fact, envelope, seq, time }: LogEntry,
): QuestionEnd | undefined {
  const { id, call } = asked
  switch (kind) {
    case 'control':
      if (fact.type !== 'input-answered' || fact.id !== id) return undefined
      return { state: 'answered', answer: fact, by: envelope.principal, seq }
    case 'tool':
      if (fact.call !== call) return undefined
      if (fact.type === 'input-closed' && fact.id === id) {
        return { state: fact.reason === 'expired' ? 'expired' : 'void' }
      }
      if (fact.type === 'tool-finished') return { state: 'void' }
      // The supervisor is dead, and another runs the call again.
      return fact.type === 'tool-started' &&
        asked.type === 'input-required' &&
        fact.attempt > asked.attempt
        ? { state: 'void' }
        : undefined
    case 'turn':
      // Only one turn runs at a time, so the entry concerns the turn of the question.
      if (fact.type === 'turn-done') return { state: 'void' }
      if (fact.type !== 'tool-settled' || fact.call !== call) return undefined
      // The host refuses a call that the user does not allow in time.
      return {
        state: asked.type === 'approval-required' && time >= asked.expiresAt ? 'expired' : 'void',
      }
    default:
      return undefined
  }
}
