import { BusError } from '@mcp-host/contracts'

/** Limits the dedicated processes of this supervisor. */
export class ProcessSlots {
  readonly #limit: number
  /** Functions that end the idle processes, least recently used first. */
  readonly #idle = new Map<object, () => Promise<void>>()
  #taken = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /**
   * Takes a slot. When all are taken, ends the process that has been idle longest. Throws `unavailable` when none is
   * idle, since another supervisor may have room.
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

  /** Marks a process as idle, so that it may be ended to make room. */
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
