import { z } from 'zod'
import { defineCall } from '../contract.ts'
import { GenerationId, SessionId } from '../ids.ts'
import { OfferedTool, PromptMessage } from './content.ts'
import { BlobReference } from './media.ts'

/** The messages and tools that a model is sent. */
export const Prompt = z.object({ messages: z.array(PromptMessage), tools: z.array(OfferedTool) })

export const GenerateRequest = z.object({
  session: SessionId,
  /** Log sequence of the user message of the turn. */
  turn: z.number().int().positive(),
  generation: GenerationId,
  /** As `provider/model` or `provider`; absent for the default model. */
  model: z.string().optional(),
  /** Models that failed in mid-answer, as `provider/model`: others are asked first. */
  avoid: z.array(z.string()).optional(),
  system: z.string().optional(),
  temperature: z.number().optional(),
  ...Prompt.shape,
  /** The JSON of a `Prompt` that is too large for this message: `messages` and `tools` are then empty. */
  prompt: BlobReference.optional(),
  /** A generation that takes longer fails, in milliseconds. */
  limitMs: z.number().positive().optional(),
  /** The end of that time in epoch milliseconds, for workers of earlier versions. */
  deadline: z.number(),
})
export type GenerateRequest = z.infer<typeof GenerateRequest>

/**
 * Asks any worker for one reply of a model. The answer says only that a worker accepted it: text arrives as
 * `textDelta`, the whole as `generationResult` in the log of the session.
 */
export const generate = defineCall('llm.gen', {
  from: ['orchestrator'],
  to: ['llm-worker'],
  answeredBy: 'group',
  request: GenerateRequest,
  reply: z.object({ worker: z.string() }),
})
