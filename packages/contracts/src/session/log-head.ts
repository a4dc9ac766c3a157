import { z } from 'zod'

/** Sequences of the log whose messages were lost with damaged data, and that nobody gets again. */
export const LostRange = z.object({
  /** The last sequence before them. */
  after: z.number().int().nonnegative(),
  /** The last of them. */
  through: z.number().int().positive(),
  /** When that was noticed, in epoch milliseconds. */
  at: z.number(),
})
export type LostRange = z.infer<typeof LostRange>

/** What is known of the end of the log besides the log itself. */
export const LogHead = z.object({
  /** At least so many sequences have been given out. */
  last: z.number().int().nonnegative(),
  /** The newest. */
  lost: z.array(LostRange),
})
export type LogHead = z.infer<typeof LogHead>
