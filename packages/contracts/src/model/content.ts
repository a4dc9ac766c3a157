import { z } from 'zod'
import { JsonObject, JsonValue } from '../json-value.ts'
import { ToolCallId } from '../ids.ts'
import { Media } from './media.ts'

/** Opaque data of the provider that must be sent back with the block, such as thought signatures. */
const providerMetadata = z.record(z.string(), JsonObject).optional()

const TextBlock = z.object({ type: z.literal('text'), text: z.string(), providerMetadata })

const ReasoningBlock = z.object({
  type: z.literal('reasoning'),
  text: z.string(),
  providerMetadata,
})

/** A tool the model wants to be run. `server` and `tool` are absent when no such tool was offered. */
export const ToolCallBlock = z.object({
  type: z.literal('tool-call'),
  id: ToolCallId,
  /** The name as the model wrote it. */
  name: z.string(),
  server: z.string().optional(),
  tool: z.string().optional(),
  /** An object, or the text of the model when it is not valid JSON. */
  arguments: JsonValue,
  providerMetadata,
})
export type ToolCallBlock = z.infer<typeof ToolCallBlock>

/** A part of a model's reply. */
export const ContentBlock = z.discriminatedUnion('type', [TextBlock, ReasoningBlock, ToolCallBlock])
export type ContentBlock = z.infer<typeof ContentBlock>

/** A tool's answer as the model reads it. */
export const ToolAnswer = z.object({
  call: ToolCallId,
  name: z.string(),
  text: z.string(),
  isError: z.boolean(),
  media: z.array(Media).optional(),
})
export type ToolAnswer = z.infer<typeof ToolAnswer>

/** One message of the conversation as it is sent to a model. */
export const PromptMessage = z.discriminatedUnion('role', [
  z.object({ role: z.literal('user'), text: z.string(), media: z.array(Media).optional() }),
  z.object({ role: z.literal('assistant'), content: z.array(ContentBlock) }),
  z.object({ role: z.literal('tool'), answers: z.array(ToolAnswer) }),
])
export type PromptMessage = z.infer<typeof PromptMessage>

/** The tokens that the provider counted, with their cost. */
export const Usage = z.object({
  inputTokens: z.number().int().nonnegative().optional(),
  outputTokens: z.number().int().nonnegative().optional(),
  reasoningTokens: z.number().int().nonnegative().optional(),
  cachedInputTokens: z.number().int().nonnegative().optional(),
  /** The cost by the configured prices of the model, in their currency. */
  cost: z.number().nonnegative().optional(),
  /** Whether some of the numbers are estimates, because the provider did not count. */
  isEstimate: z.boolean().optional(),
})
export type Usage = z.infer<typeof Usage>

/** The usage of one model by several generations. */
export const ModelUsage = Usage.extend({
  provider: z.string(),
  model: z.string(),
  generations: z.number().int().nonnegative(),
})
export type ModelUsage = z.infer<typeof ModelUsage>

/** A tool as it is offered to a model. */
export const OfferedTool = z.object({
  /** Unique in the request and accepted by every provider: `^[A-Za-z_][A-Za-z0-9_-]{0,63}$`. */
  safeName: z.string(),
  server: z.string(),
  tool: z.string(),
  description: z.string().optional(),
  inputSchema: JsonObject,
})
export type OfferedTool = z.infer<typeof OfferedTool>
