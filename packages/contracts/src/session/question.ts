import type { InputAnswered } from './control.ts'
import type { LogEntry } from './log-entry.ts'
import type { InputRequired } from './tool-fact.ts'
import type { ApprovalRequired } from './turn-event.ts'

/** What the user is asked: by an MCP server in the middle of a call, or by the host before one. */
export type AskedQuestion = InputRequired | ApprovalRequired

/** How a question to the user ended. `void`: its call ended, or the server took it back. */
export type QuestionEnd =
  | {
      readonly state: 'answered'
      readonly answer: InputAnswered
      /** Who answered. */
      readonly by: string
      /** Log sequence of the answer that counts. */
      readonly seq: number
    }
  | { readonly state: 'expired' | 'void' }

/** How an entry of the log ends a question that is open, if it does. Pure: the log alone decides. */
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
      // Who asked is dead: the call is run anew.
      return fact.type === 'tool-started' &&
        asked.type === 'input-required' &&
        fact.attempt > asked.attempt
        ? { state: 'void' }
        : undefined
    case 'turn':
      // One turn runs at a time: it is the question's.
      if (fact.type === 'turn-done') return { state: 'void' }
      if (fact.type !== 'tool-settled' || fact.call !== call) return undefined
      // The host refuses the call once nobody has allowed it in time.
      return {
        state: asked.type === 'approval-required' && time >= asked.expiresAt ? 'expired' : 'void',
      }
    default:
      return undefined
  }
}
