import type { Down } from '@mcp-host/contracts'
import { retryDelayMs } from './retry-delay.ts'

/** What the host cannot store is sent again for so long. */
const LIMIT_MS = 30_000

/** Sends the frames of a connection again, in their order, after the host could not store one of them. */
export class Resend {
  readonly #sendAll: () => void
  #timer: ReturnType<typeof setTimeout> | undefined
  /** The time of the first refusal, if nothing was accepted since. */
  #since: number | undefined
  #tries = 0

  /** `sendAll`: sends all frames that are not accepted. */
  constructor(sendAll: () => void) {
    this.#sendAll = sendAll
  }

  /** Whether frames wait until they are sent again; new ones must wait behind them. */
  get isPending(): boolean {
    return this.#timer !== undefined
  }

  /** The host could not store a frame. Returns `false` where that has lasted too long. */
  begin(): boolean {
    if (this.isPending) return true
    const now = performance.now()
    this.#since ??= now
    if (now - this.#since > LIMIT_MS) {
      this.clear()
      return false
    }
    this.#tries += 1
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#sendAll()
    }, retryDelayMs(this.#tries))
    return true
  }

  /** The host has stored a frame. */
  succeed(): void {
    this.#since = undefined
    this.#tries = 0
  }

  /** The connection is over, or the frame is given up. */
  clear(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.succeed()
  }
}

/** Whether the host could not store a frame, but may store it soon. */
export function isTransient({
  code,
  reason,
}: Extract<Down, { type: 'error' }>['payload']): boolean {
  return (code === 'unavailable' || code === 'deadline') && reason !== 'maintenance'
}
