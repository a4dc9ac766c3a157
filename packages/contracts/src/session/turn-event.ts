import { z } from 'zod'
import { defineEvent } from '../contract.ts'
import { ErrorInfo } from '../error.ts'
import { GenerationId, ToolCallId } from '../ids.ts'
import { ModelUsage } from '../model/content.ts'

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
  /** Configured MCP servers that could not be used when the turn began. */
  missing: z.array(z.string()).optional(),
})

export const GenerationStarted = z.object({
  type: z.literal('generation-started'),
  ...base,
  generation: GenerationId,
  /**
   * A generation whose worker died, or that failed and is tried again: its text is to be forgotten. When
   * its worker was only taken for dead, and its result stands before this, it is this one that is void.
   */
  voids: GenerationId.optional(),
  /** Why that one failed, in words for the user; absent when its worker died. */
  reason: z.string().optional(),
})

/**
 * A call without an answer of a server. `refused`: it reached none. `unknown`: it was started and its effect is
 * unknown. `cancelled`: its turn was cancelled. `answered`: the host itself answered. The model is told in each case.
 */
export const ToolSettled = z.object({
  type: z.literal('tool-settled'),
  ...base,
  call: ToolCallId,
  /** Absent when there is no such tool; `tool` is then what the model called it. */
  server: z.string().optional(),
  tool: z.string(),
  outcome: z.enum(['refused', 'unknown', 'cancelled', 'answered']),
  message: z.string(),
})

/** A call waits for the user's permission; answered like a question of a server, by `input-answered`. */
export const ApprovalRequired = z.object({
  type: z.literal('approval-required'),
  ...base,
  call: ToolCallId,
  server: z.string(),
  tool: z.string(),
  /** The question's id, unique. */
  id: z.string(),
  message: z.string(),
  /** Arguments of the call. */
  arguments: z.json(),
  /** Epoch milliseconds after which the call is refused. */
  expiresAt: z.number(),
})
export type ApprovalRequired = z.infer<typeof ApprovalRequired>

/** No orchestrator runs the turn: it waits for a user, or for another orchestrator. A claim continues it. */
export const TurnWaiting = z.object({
  type: z.literal('turn-waiting'),
  ...base,
  /** `approval`: nothing to do before an answer comes. `owner`: its orchestrator stops, any other may claim it. */
  for: z.enum(['approval', 'owner']),
  /** Epoch milliseconds at which it goes on in any case. */
  until: z.number(),
})

/**
 * From here on models are sent less of the conversation. `cleared`: of the tool results up to `through` only
 * that they were there. `summarised`: of all up to `through` only the summary. `dropped`: nothing of it but an earlier summary.
 */
export const ContextCompacted = z.object({
  type: z.literal('context-compacted'),
  ...base,
  how: z.enum(['cleared', 'summarised', 'dropped']),
  /** With `cleared` a generation's result, else a user message: its log sequence. */
  through: z.number().int().positive(),
  summary: z.string().optional(),
  /** Estimates. */
  tokensBefore: z.number().int().nonnegative(),
  tokensAfter: z.number().int().nonnegative(),
  /** Usage of the summary. */
  usage: ModelUsage.optional(),
})
export type ContextCompacted = z.infer<typeof ContextCompacted>

/** The end of a turn. `limit`: it reached its limit of tool calls, tokens or time; `cancelled`: a user ended it. */
export const TurnOutcome = z.enum(['completed', 'failed', 'limit', 'cancelled'])
export type TurnOutcome = z.infer<typeof TurnOutcome>

export const TurnDone = z.object({
  type: z.literal('turn-done'),
  ...base,
  /** The user message's id. */
  messageId: z.string().optional(),
  outcome: TurnOutcome,
  /** A generation that had no result when the turn ended: clients forget its text, and a result that comes late counts for nothing. */
  voids: GenerationId.optional(),
  error: ErrorInfo.optional(),
  /** Text for the user instead of an answer. */
  message: z.string().optional(),
  /** Usage of the turn, with its abandoned generations. */
  usage: z.array(ModelUsage).optional(),
})

export type TurnWaiting = z.infer<typeof TurnWaiting>
export type TurnDone = z.infer<typeof TurnDone>

export const TurnEvent = z.discriminatedUnion('type', [
  TurnClaimed,
  GenerationStarted,
  ToolSettled,
  ApprovalRequired,
  TurnWaiting,
  ContextCompacted,
  TurnDone,
])
export type TurnEvent = z.infer<typeof TurnEvent>

/**
 * Stores one step of a turn. Each step is chained to the one before by compare-and-set, which fences out a second orchestrator.
 */
export const turnEvent = defineEvent('s.{shard}.{session}.ev', {
  from: ['orchestrator'],
  to: ['gateway', 'orchestrator', 'mcp-supervisor'],
  durability: 'log',
  payload: TurnEvent,
})
