import type { InputAnswered } from './control.ts'
import type { LogEntry } from './log-entry.ts'
import type { InputRequired } from './tool-fact.ts'

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
  { id, call, attempt }: InputRequired,
  { kind, fact, envelope, seq }: LogEntry,
): QuestionEnd | undefined {
  switch (kind) {
    case 'control':
      if (fact.id !== id) return undefined
      return { state: 'answered', answer: fact, by: envelope.principal, seq }
    case 'tool':
      if (fact.call !== call) return undefined
      if (fact.type === 'input-closed' && fact.id === id) {
        return { state: fact.reason === 'expired' ? 'expired' : 'void' }
      }
      if (fact.type === 'tool-finished') return { state: 'void' }
      // Who asked is dead: the call is run anew.
      return fact.type === 'tool-started' && fact.attempt > attempt ? { state: 'void' } : undefined
    case 'turn':
      return fact.type === 'tool-settled' && fact.call === call ? { state: 'void' } : undefined
    default:
      return undefined
  }
}
