import type { Envelope } from '../envelope.ts'
import type { SessionId } from '../ids.ts'
import type { ControlFact } from './control.ts'
import { controlFact } from './control.ts'
import type { GenerationResult } from './generation-result.ts'
import { generationResult } from './generation-result.ts'
import type { ToolFact } from './tool-fact.ts'
import { toolFact } from './tool-fact.ts'
import type { TurnEvent } from './turn-event.ts'
import { turnEvent } from './turn-event.ts'
import type { UserMessage } from './user-message.ts'
import { userMessage } from './user-message.ts'

/** The kinds of fact in a session's log and the contract of each. */
export const LOG_FACTS = {
  input: userMessage,
  control: controlFact,
  turn: turnEvent,
  generation: generationResult,
  tool: toolFact,
} as const

export type LogFact =
  | { readonly kind: 'input'; readonly fact: UserMessage }
  | { readonly kind: 'control'; readonly fact: ControlFact }
  | { readonly kind: 'turn'; readonly fact: TurnEvent }
  | { readonly kind: 'generation'; readonly fact: GenerationResult }
  | { readonly kind: 'tool'; readonly fact: ToolFact }

/** A fact that this version cannot read: of a newer one, or damaged. */
export interface UnreadableFact {
  readonly kind: 'unreadable'
  readonly of: LogFact['kind']
  readonly fact: undefined
}

/** One fact in a session's log, and where it stands there. */
export type LogEntry = (LogFact | UnreadableFact) & {
  readonly session: SessionId
  /** Position in the stream; grows along a session's log, with holes. */
  readonly seq: number
  /** Epoch milliseconds at which it was stored. */
  readonly time: number
  readonly envelope: Envelope
}
