import { z } from 'zod'
import { defineCall } from '../contract.ts'
import { GenerationId, SessionId } from '../ids.ts'
import { BlobReference } from './blob-reference.ts'
import { OfferedTool, PromptMessage } from './content.ts'

/** What a model is asked, apart from the session it is asked for. */
export const Prompt = z.object({ messages: z.array(PromptMessage), tools: z.array(OfferedTool) })

export const GenerateRequest = z.object({
  session: SessionId,
  /** Log sequence of the user message this turn answers. */
  turn: z.number().int().positive(),
  generation: GenerationId,
  /** Who is to answer, as `provider/model` or `provider`; without it the one that answers by default. */
  model: z.string().optional(),
  /** Who failed in mid-answer, as `provider/model`: others are asked first. */
  avoid: z.array(z.string()).optional(),
  system: z.string().optional(),
  temperature: z.number().optional(),
  messages: z.array(PromptMessage),
  tools: z.array(OfferedTool),
  /** Where `Prompt` is as JSON, when it is too large to stand here: the two above are then empty. */
  prompt: BlobReference.optional(),
  /** Epoch milliseconds; a generation still running then is ended as failed. */
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
