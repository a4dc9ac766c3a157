import { z } from 'zod'
import { JsonValue } from '../json-value.ts'
import { defineEvent } from '../contract.ts'
import { ErrorInfo } from '../error.ts'
import { GenerationId, ToolCallId } from '../ids.ts'
import { ModelUsage } from '../model/content.ts'

const base = {
  /** Log sequence of the user message of the turn. */
  turn: z.number().int().positive(),
  /** Last log sequence that the writer had read: a reader that has read less has missed an entry. */
  seen: z.number().int().nonnegative(),
}

/** The claim of a turn by an orchestrator. Later events of earlier owners do not count. */
const TurnClaimed = z.object({
  type: z.literal('turn-claimed'),
  ...base,
  /** The id of the user message. */
  messageId: z.string(),
  orchestrator: z.string(),
  /** The number of the claim, counted from 1. */
  epoch: z.number().int().positive(),
  /** The first generation, started by the same append; absent when an earlier one continues. */
  generation: GenerationId.optional(),
  /** Configured MCP servers that were unavailable at the begin of the turn. */
  missing: z.array(z.string()).optional(),
})

const GenerationStarted = z.object({
  type: z.literal('generation-started'),
  ...base,
  generation: GenerationId,
  /**
   * A generation whose worker died, or that failed and is retried: its text becomes void. When its result is already in
   * the log, because its worker was only slow, the generation that starts here is void instead.
   */
  voids: GenerationId.optional(),
  /** Why the void generation failed, in words for the user; absent when its worker died. */
  reason: z.string().optional(),
})

/**
 * The end of a call without an answer of a server. `refused`: it reached no server. `unknown`: it was started and its
 * effect is unknown. `cancelled`: its turn was cancelled. `answered`: the host itself answered. The model reads `message`
 * in each case.
 */
const ToolSettled = z.object({
  type: z.literal('tool-settled'),
  ...base,
  call: ToolCallId,
  /** Absent when there is no such tool; `tool` is then the name that the model used. */
  server: z.string().optional(),
  tool: z.string(),
  outcome: z.enum(['refused', 'unknown', 'cancelled', 'answered']),
  message: z.string(),
})

/** The question whether a call may run. Answered like a question of a server, by `input-answered`. */
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
  arguments: JsonValue,
  /** Epoch milliseconds after which the call is refused. */
  expiresAt: z.number(),
})
export type ApprovalRequired = z.infer<typeof ApprovalRequired>

/** No orchestrator runs the turn: it waits for a user, or for another orchestrator. A claim continues it. */
const TurnWaiting = z.object({
  type: z.literal('turn-waiting'),
  ...base,
  /** `approval`: it waits for the answer of a user. `owner`: its orchestrator stops, and any other may claim it. */
  for: z.enum(['approval', 'owner']),
  /** Epoch milliseconds at which it continues in any case. */
  until: z.number(),
})

/**
 * Models are sent less of the conversation after this. `cleared`: notes instead of the tool results up to `through`.
 * `summarised`: a summary instead of everything up to `through`. `dropped`: at most an earlier summary instead of that.
 */
export const ContextCompacted = z.object({
  type: z.literal('context-compacted'),
  ...base,
  how: z.enum(['cleared', 'summarised', 'dropped']),
  /** The log sequence of a generation's result for `cleared`, otherwise of a user message. */
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

const TurnDone = z.object({
  type: z.literal('turn-done'),
  ...base,
  /** The user message's id. */
  messageId: z.string().optional(),
  outcome: TurnOutcome,
  /** A generation without a result at the end of the turn: its text is void, and a late result does not count. */
  voids: GenerationId.optional(),
  error: ErrorInfo.optional(),
  /** Text for the user instead of an answer. */
  message: z.string().optional(),
  /** Usage of the turn, void generations included. */
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

/** Stores one step of a turn. Compare-and-set chains each step to the last one, which fences out a second orchestrator. */
export const turnEvent = defineEvent('s.{shard}.{session}.ev', {
  from: ['orchestrator'],
  to: ['gateway', 'orchestrator', 'mcp-supervisor'],
  durability: 'log',
  payload: TurnEvent,
})
