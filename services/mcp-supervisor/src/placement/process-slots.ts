import { BusError } from '@mcp-host/contracts'

/** Limits the dedicated processes of this supervisor. */
export class ProcessSlots {
  readonly #limit: number
  /** Ends each idle process; the least recently used is first. */
  readonly #idle = new Map<object, () => Promise<void>>()
  #taken = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /**
   * Takes a slot; when all are taken, ends the process that was idle for longest. Throws `unavailable` when none is
   * idle: another supervisor may have room.
   */
  async take(): Promise<void> {
    while (this.#taken >= this.#limit) {
      const [longest] = this.#idle
      if (longest === undefined) {
        const message = `all ${this.#limit} processes that sessions may have of their own are in use; try again later or raise MAX_SESSION_PROCESSES`
        throw new BusError('unavailable', message)
      }
      const [process, end] = longest
      this.#idle.delete(process)
      await end()
    }
    this.#taken++
  }

  /** From now on it may be ended to make room. */
  setIdle(process: object, end: () => Promise<void>): void {
    this.#idle.set(process, end)
  }

  setBusy(process: object): void {
    this.#idle.delete(process)
  }

  give(): void {
    this.#taken--
  }
}
