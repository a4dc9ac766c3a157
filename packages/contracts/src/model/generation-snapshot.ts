import { z } from 'zod'
import { defineCall } from '../contract.ts'
import { TextDelta } from './text-delta.ts'

/** Reads all text of a running generation from an offset on. Without an answer it is over and in the log. */
export const generationSnapshot = defineCall('gen.{generation}.snap', {
  from: ['gateway'],
  to: ['llm-worker'],
  answeredBy: 'one',
  request: z.object({ offset: z.number().int().nonnegative() }),
  reply: z.object({ deltas: z.array(TextDelta) }),
})
