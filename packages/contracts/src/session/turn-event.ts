import { z } from 'zod'
import { defineEvent } from '../contract.ts'
import { ErrorInfo } from '../error.ts'
import { GenerationId, ToolCallId } from '../ids.ts'

const base = {
  /** Log sequence of the user message this turn answers. */
  turn: z.number().int().positive(),
  /** Last log sequence its writer had read: a reader that has not come so far has missed something. */
  seen: z.number().int().nonnegative(),
}

/** An orchestrator took the turn; nothing an earlier owner writes counts from here on. */
export const TurnClaimed = z.object({
  type: z.literal('turn-claimed'),
  ...base,
  /** The user message's own id. */
  messageId: z.string(),
  orchestrator: z.string(),
  /** Counts the owners of this turn, from 1. */
  epoch: z.number().int().positive(),
  /** The first generation, started by the same append; absent when a running one goes on. */
  generation: GenerationId.optional(),
})

export const GenerationStarted = z.object({
  type: z.literal('generation-started'),
  ...base,
  generation: GenerationId,
  /** A generation whose worker died: its text is to be forgotten. */
  voids: GenerationId.optional(),
})

/**
 * A call that gets no answer of a server. `refused`: it never reached one. `unknown`: it was started and
 * whether it took effect cannot be known. The model is told either way.
 */
export const ToolSettled = z.object({
  type: z.literal('tool-settled'),
  ...base,
  call: ToolCallId,
  /** Absent when there is no such tool; `tool` is then what the model called it. */
  server: z.string().optional(),
  tool: z.string(),
  outcome: z.enum(['refused', 'unknown']),
  message: z.string(),
})

/** How a turn ended. `limit`: the model wanted more tool calls than a turn may make. */
export const TurnOutcome = z.enum(['completed', 'failed', 'limit'])
export type TurnOutcome = z.infer<typeof TurnOutcome>

export const TurnDone = z.object({
  type: z.literal('turn-done'),
  ...base,
  outcome: TurnOutcome,
  error: ErrorInfo.optional(),
})

export const TurnEvent = z.discriminatedUnion('type', [
  TurnClaimed,
  GenerationStarted,
  ToolSettled,
  TurnDone,
])
export type TurnEvent = z.infer<typeof TurnEvent>

/** A step of a turn. Every one is chained to the one before by compare-and-set: this is the fence. */
export const turnEvent = defineEvent('s.{shard}.{session}.ev', {
  durability: 'log',
  payload: TurnEvent,
})
