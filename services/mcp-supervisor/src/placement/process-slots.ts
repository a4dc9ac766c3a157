import { BusError } from '@mcp-host/contracts'

/** How many processes of their own sessions may have at this supervisor. */
export class ProcessSlots {
  readonly #limit: number
  /** What ends each process that has no call under way; whose last one ended first is first. */
  readonly #idle = new Map<object, () => Promise<void>>()
  #taken = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /**
   * Where all are taken it ends the process that was idle for longest. Throws `unavailable` when none is:
   * another supervisor may have room.
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
