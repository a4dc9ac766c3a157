import { z } from 'zod'

/** Sequences whose messages were lost with damaged data, and which are not reused. */
export const LostRange = z.object({
  /** The last sequence before the range. */
  after: z.number().int().nonnegative(),
  /** The last sequence of the range. */
  through: z.number().int().positive(),
  /** Epoch milliseconds at which the loss was noticed. */
  at: z.number(),
})
export type LostRange = z.infer<typeof LostRange>

/** The end of the stream of logs, stored outside of it. */
export const LogHead = z.object({
  /** A lower bound of the last used sequence. */
  last: z.number().int().nonnegative(),
  /** The newest ranges. */
  lost: z.array(LostRange),
})
export type LogHead = z.infer<typeof LogHead>
