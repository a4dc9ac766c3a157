import { z } from 'zod'
import { defineEvent } from '../contract.ts'
import { ErrorInfo } from '../error.ts'
import { ToolCallId } from '../ids.ts'

/** A supervisor is about to run the call. Only the first start of an attempt runs. */
export const ToolStarted = z.object({
  type: z.literal('tool-started'),
  call: ToolCallId,
  attempt: z.number().int().positive(),
  supervisor: z.string(),
  /** Chosen anew by every writer, so that it can recognise its own start. */
  nonce: z.string(),
})

/** How the call ended. `error`: the tool said so, or it could not be run. */
export const ToolFinished = z.object({
  type: z.literal('tool-finished'),
  call: ToolCallId,
  server: z.string(),
  tool: z.string(),
  outcome: z.enum(['ok', 'error']),
  /** MCP content blocks, as the server sent them. */
  content: z.array(z.looseObject({ type: z.string() })),
  structuredContent: z.json().optional(),
  /** Set when the host, not the tool, reports the failure. */
  error: ErrorInfo.optional(),
  durationMs: z.number().nonnegative(),
})
export type ToolFinished = z.infer<typeof ToolFinished>

export const ToolFact = z.discriminatedUnion('type', [ToolStarted, ToolFinished])
export type ToolFact = z.infer<typeof ToolFact>

/** Start and result of a tool call. The first result of a call counts. */
export const toolFact = defineEvent('s.{shard}.{session}.t', {
  durability: 'log',
  payload: ToolFact,
})
