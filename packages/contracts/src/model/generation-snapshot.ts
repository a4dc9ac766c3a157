import { z } from 'zod'
import { defineCall } from '../contract.ts'
import { TextDelta } from './text-delta.ts'

/** All text of a running generation from an offset on. Nobody answers once it is in the log. */
export const generationSnapshot = defineCall('gen.{generation}.snap', {
  answeredBy: 'one',
  request: z.object({ offset: z.number().int().nonnegative() }),
  reply: z.object({ deltas: z.array(TextDelta) }),
})
