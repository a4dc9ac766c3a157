const FIRST_MS = 250
const MOST_MS = 10_000

/** The delay before an attempt to connect, from 1: doubled each time, with chance so that clients come back one by one. */
export function retryDelayMs(attempt: number, random = Math.random): number {
  const most = Math.min(MOST_MS, FIRST_MS * 2 ** (attempt - 1))
  return Math.round(most * (0.5 + random() / 2))
}
