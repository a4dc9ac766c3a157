import { z } from 'zod'
import { defineEvent } from '../contract.ts'
import { GenerationId } from '../ids.ts'

export const TextDelta = z.object({
  generation: GenerationId,
  /** The position of `text` in all text and reasoning of the generation, in UTF-16 units. */
  offset: z.number().int().nonnegative(),
  kind: z.enum(['text', 'reasoning']),
  text: z.string().min(1),
})
export type TextDelta = z.infer<typeof TextDelta>

/**
 * Sends a piece of text as the model writes it. A lost piece shows in the offset and is repaired from the snapshot.
 */
export const textDelta = defineEvent('live.d.{shard}.{session}.text', {
  from: ['llm-worker'],
  to: ['gateway'],
  durability: 'live',
  payload: TextDelta,
})
