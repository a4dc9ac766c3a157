import { retryDelayMs } from './retry-delay.ts'

/** What the host cannot store is sent again for so long. */
const LIMIT_MS = 30_000

interface Resend {
  readonly since: number
  readonly tries: number
  readonly timer: ReturnType<typeof setTimeout>
}

/** The frames that the host could not store on this connection, by the ids of their messages. */
export class Resends {
  readonly #resends = new Map<string, Resend>()
  readonly #send: (id: string) => void

  constructor(send: (id: string) => void) {
    this.#send = send
  }

  /** Sends a frame again soon. Returns `false` once that was done for too long. */
  add(id: string): boolean {
    const now = performance.now()
    const { since = now, tries = 0 } = this.#resends.get(id) ?? {}
    if (now - since > LIMIT_MS) return false
    const timer = setTimeout(() => this.#send(id), retryDelayMs(tries + 1))
    this.#resends.set(id, { since, tries: tries + 1, timer })
    return true
  }

  /** The frame was accepted, or refused for good. */
  delete(id: string): void {
    clearTimeout(this.#resends.get(id)?.timer)
    this.#resends.delete(id)
  }

  /** The connection is over: all frames are sent over the next one. */
  clear(): void {
    for (const { timer } of this.#resends.values()) clearTimeout(timer)
    this.#resends.clear()
  }
}
