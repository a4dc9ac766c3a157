import type { OutFrame } from './outbox.ts'

/** What carries frames to a gateway. */
export interface Channel {
  send(frame: OutFrame): void
  /** Asks for a sign of life. */
  ping(): void
  close(): void
}
