import type { Clock } from '../clock.ts'

export interface FakeClock extends Clock {
  /** How long each delay was asked to take. */
  readonly delays: readonly number[]
  advance(ms: number): void
}

export interface FakeClockOptions {
  /** Every timer fires so much too late. */
  readonly lateMs?: number
  /** Runs while a delay is waiting. */
  readonly onDelay?: (index: number) => void
}

/** For tests: a delay moves the time on at once. */
export function fakeClock({ lateMs = 0, onDelay }: FakeClockOptions = {}): FakeClock {
  const delays: number[] = []
  let now = 1_000_000
  return {
    delays,
    now: () => now,
    advance: (ms) => void (now += ms),
    async delay(ms, signal) {
      signal.throwIfAborted()
      delays.push(ms)
      onDelay?.(delays.length - 1)
      signal.throwIfAborted()
      now += ms + lateMs
    },
  }
}
