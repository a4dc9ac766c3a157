/**
 * The messages of resets that say only that text was lost. A worker may be replaced before it has written any, as at a
 * cold start: then they have nothing to say to a user.
 */
export const LOST_TEXT_MESSAGES: ReadonlySet<string> = new Set([
  'The answer was interrupted and is written anew',
  'The unfinished answer was lost',
])
