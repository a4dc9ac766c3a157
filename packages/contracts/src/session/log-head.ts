import { z } from 'zod'

/** Sequences whose messages were lost with damaged data, and that are not used again. */
export const LostRange = z.object({
  /** The last sequence before them. */
  after: z.number().int().nonnegative(),
  /** The last of them. */
  through: z.number().int().positive(),
  /** When that was noticed, in epoch milliseconds. */
  at: z.number(),
})
export type LostRange = z.infer<typeof LostRange>

/** The end of the log as it is stored outside of it. */
export const LogHead = z.object({
  /** At least so many sequences have been given out. */
  last: z.number().int().nonnegative(),
  /** The newest. */
  lost: z.array(LostRange),
})
export type LogHead = z.infer<typeof LogHead>
