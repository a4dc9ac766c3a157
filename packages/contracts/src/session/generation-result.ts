import { z } from 'zod'
import { defineEvent } from '../contract.ts'
import { ErrorInfo } from '../error.ts'
import { GenerationId } from '../ids.ts'
import { ContentBlock, Usage } from '../model/content.ts'

export const GenerationResult = z.object({
  generation: GenerationId,
  outcome: z.enum(['completed', 'failed', 'cancelled']),
  /** All that the model wrote, also before a failure. */
  content: z.array(ContentBlock),
  provider: z.string(),
  model: z.string(),
  usage: Usage.optional(),
  /** Notes for the user about the answer, such as that another model gave it. */
  notices: z.array(z.string()).optional(),
  /** Why it failed. */
  error: ErrorInfo.optional(),
})
export type GenerationResult = z.infer<typeof GenerationResult>

/** Stores the result of one generation. The first result of a generation counts. */
export const generationResult = defineEvent('s.{shard}.{session}.g', {
  from: ['llm-worker'],
  to: ['orchestrator', 'gateway'],
  durability: 'log',
  payload: GenerationResult,
})
