import type { z } from 'zod'
import type { Envelope } from '../envelope.ts'
import type { SessionId } from '../ids.ts'
import { controlFact } from './control.ts'
import { generationResult } from './generation-result.ts'
import { toolFact } from './tool-fact.ts'
import { turnEvent } from './turn-event.ts'
import { userMessage } from './user-message.ts'

/** The kinds of fact in a session's log and the contract of each. */
export const LOG_FACTS = {
  input: userMessage,
  control: controlFact,
  turn: turnEvent,
  generation: generationResult,
  tool: toolFact,
} as const

type LogFacts = typeof LOG_FACTS

/** A fact with its kind. */
export type LogFact = {
  [Kind in keyof LogFacts]: {
    readonly kind: Kind
    readonly fact: z.infer<LogFacts[Kind]['payload']>
  }
}[keyof LogFacts]

/** A fact that this version cannot read: written by a newer version, or damaged. */
export interface UnreadableFact {
  readonly kind: 'unreadable'
  readonly of: LogFact['kind']
  readonly fact: undefined
}

/** A fact as it is stored in the log of a session. */
export type LogEntry = (LogFact | UnreadableFact) & {
  readonly session: SessionId
  /** Position in the stream; grows along a session's log, with gaps. */
  readonly seq: number
  /** Epoch milliseconds at which it was stored. */
  readonly time: number
  readonly envelope: Envelope
}
