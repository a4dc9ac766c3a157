import type { Clock } from './clock.ts'

/** The number of tokens that may be emitted before the event loop gets a turn. */
const BURST = 512

export interface PaceOptions {
  /** The rate; 0 or Infinity: no delay. */
  readonly tokensPerSecond: number
  readonly signal: AbortSignal
}

/**
 * Emits tokens on a schedule: token i is due at start + i / rate. All due tokens are emitted at once, so late timers do
 * not add up, and rates beyond the timer's resolution are kept.
 */
export async function* pace<Token>(
  clock: Clock,
  tokens: Iterable<Token>,
  { tokensPerSecond, signal }: PaceOptions,
): AsyncGenerator<Token> {
  const interval = tokensPerSecond > 0 ? 1000 / tokensPerSecond : 0
  const start = clock.now()
  let index = 0
  let burst = 0
  signal.throwIfAborted()
  for (const token of tokens) {
    const wait = interval === 0 ? 0 : start + index * interval - clock.now()
    if (wait > 0 || burst >= BURST) {
      // Timers have whole milliseconds, and could otherwise fire before the token is due.
      await clock.delay(Math.ceil(Math.max(wait, 0)), signal)
      burst = 0
    }
    signal.throwIfAborted()
    yield token
    index++
    burst++
  }
  signal.throwIfAborted()
}

/** Words, each with the white space after it. Joined they are the text again. */
export function wordTokens(text: string): string[] {
  return text.match(/^\s+|\S+\s*/g) ?? []
}
