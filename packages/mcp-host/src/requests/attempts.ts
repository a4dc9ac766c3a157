import type { RequestOptions } from './options.ts'

/** Attempts in all for what is safe to repeat. */
const SAFE_ATTEMPTS = 3

/** How often a request may be begun in all. */
export function attemptsOf(
  { retry }: Pick<RequestOptions, 'retry'>,
  isSafeToRepeat: boolean,
): number {
  if (retry === false) return 1
  return retry?.attempts ?? (isSafeToRepeat ? SAFE_ATTEMPTS : 1)
}
