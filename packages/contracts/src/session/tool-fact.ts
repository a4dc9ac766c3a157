import { z } from 'zod'
import { JsonObject, JsonValue } from '../json-value.ts'
import { defineEvent } from '../contract.ts'
import { ErrorInfo } from '../error.ts'
import { ToolCallId } from '../ids.ts'
import { ModelUsage } from '../model/content.ts'
import { BlobReference } from '../model/media.ts'

/** A supervisor is about to run the call. Only the first start of an attempt runs. */
export const ToolStarted = z.object({
  type: z.literal('tool-started'),
  call: ToolCallId,
  attempt: z.number().int().positive(),
  supervisor: z.string(),
  /** Random, so that the writer recognises its own start. */
  nonce: z.string(),
})
export type ToolStarted = z.infer<typeof ToolStarted>

/** The end of a call. `error`: the tool reported one, or could not be run. */
export const ToolFinished = z.object({
  type: z.literal('tool-finished'),
  call: ToolCallId,
  server: z.string(),
  tool: z.string(),
  outcome: z.enum(['ok', 'error']),
  /** For an `error`: the connection to the server was lost during the call, which may have taken effect. */
  isOutcomeUnknown: z.boolean().optional(),
  /** MCP content blocks, as the server sent them. */
  content: z.array(z.looseObject({ type: z.string() })),
  structuredContent: JsonValue.optional(),
  /** Set when the host, not the tool, reports the failure. */
  error: ErrorInfo.optional(),
  /** The whole result, when it is too large for the log: `content` is then an excerpt of it. */
  blob: BlobReference.optional(),
  durationMs: z.number().nonnegative(),
  /** Usage of models for sampling requests during the call. */
  usage: z.array(ModelUsage).optional(),
})
export type ToolFinished = z.infer<typeof ToolFinished>

/**
 * A question of a server to the user. Open until it is answered, it expires or its call ends, whichever is first in
 * the log.
 */
export const InputRequired = z.object({
  type: z.literal('input-required'),
  call: ToolCallId,
  attempt: z.number().int().positive(),
  server: z.string(),
  tool: z.string(),
  /** The question's id, unique. */
  id: z.string(),
  kind: z.literal('elicitation'),
  /** `form`: the answer has the fields of `requestedSchema`; `url`: the user visits `url`. */
  mode: z.enum(['form', 'url']),
  message: z.string(),
  requestedSchema: JsonObject.optional(),
  url: z.string().optional(),
  /** Epoch milliseconds. */
  expiresAt: z.number(),
})
export type InputRequired = z.infer<typeof InputRequired>

/** The end of a question without an answer. */
const InputClosed = z.object({
  type: z.literal('input-closed'),
  call: ToolCallId,
  id: z.string(),
  /** `withdrawn`: the server took it back. */
  reason: z.enum(['expired', 'withdrawn']),
})

export const ToolFact = z.discriminatedUnion('type', [
  ToolStarted,
  ToolFinished,
  InputRequired,
  InputClosed,
])
export type ToolFact = z.infer<typeof ToolFact>

/** Stores the start or result of a tool call, or a question that the call asks. The first result of a call counts. */
export const toolFact = defineEvent('s.{shard}.{session}.t', {
  from: ['mcp-supervisor'],
  to: ['orchestrator', 'gateway'],
  durability: 'log',
  payload: ToolFact,
})
