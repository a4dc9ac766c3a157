import { z } from 'zod'
import { ToolCallId } from '../ids.ts'
import { Media } from './media.ts'

/** Opaque data of the provider that must be sent back with the block (thought signatures and such). */
const ProviderMetadata = z.record(z.string(), z.record(z.string(), z.json()))

export const TextBlock = z.object({
  type: z.literal('text'),
  text: z.string(),
  providerMetadata: ProviderMetadata.optional(),
})

export const ReasoningBlock = z.object({
  type: z.literal('reasoning'),
  text: z.string(),
  providerMetadata: ProviderMetadata.optional(),
})

/** A tool the model wants to be run. `server` and `tool` are absent when no such tool was offered. */
export const ToolCallBlock = z.object({
  type: z.literal('tool-call'),
  id: ToolCallId,
  /** The name as the model wrote it. */
  name: z.string(),
  server: z.string().optional(),
  tool: z.string().optional(),
  /** An object, or whatever the model wrote when it was not valid JSON. */
  arguments: z.json(),
  providerMetadata: ProviderMetadata.optional(),
})
export type ToolCallBlock = z.infer<typeof ToolCallBlock>

/** One piece of what a model wrote, in the order it wrote them. */
export const ContentBlock = z.discriminatedUnion('type', [TextBlock, ReasoningBlock, ToolCallBlock])
export type ContentBlock = z.infer<typeof ContentBlock>

/** A tool's answer as the model reads it. */
export const ToolAnswer = z.object({
  call: ToolCallId,
  name: z.string(),
  text: z.string(),
  isError: z.boolean(),
  /** What it has beside the text. */
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

/** Tokens as the provider counted them, and what they cost. */
export const Usage = z.object({
  inputTokens: z.number().int().nonnegative().optional(),
  outputTokens: z.number().int().nonnegative().optional(),
  reasoningTokens: z.number().int().nonnegative().optional(),
  cachedInputTokens: z.number().int().nonnegative().optional(),
  /** By the prices that are set for the model, in their currency. */
  cost: z.number().nonnegative().optional(),
  /** Set where the provider did not count and an estimate stands in, be it for a part. */
  isEstimate: z.boolean().optional(),
})
export type Usage = z.infer<typeof Usage>

/** What one model took, over some generations. */
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
  inputSchema: z.record(z.string(), z.json()),
})
export type OfferedTool = z.infer<typeof OfferedTool>
