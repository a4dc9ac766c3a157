import { BusError, LOCAL } from '@mcp-host/contracts'
import { Holdings } from '@mcp-host/limits'

interface Idle {
  readonly principal: string
  readonly end: () => Promise<void>
}

/** What is limited, in the plural, and the setting with the limit. */
interface Counted {
  readonly what: string
  readonly setting: string
}

const PROCESSES = { what: 'processes of sessions and users', setting: 'MAX_SESSION_PROCESSES' }

/** Limits the upstreams that callers have of their own at this supervisor, and those of one principal. */
export class ProcessSlots {
  readonly #taken: Holdings
  /** The idle processes, least recently used first. */
  readonly #idle = new Map<object, Idle>()

  readonly #counted: Counted

  constructor(limit: number, counted: Counted = PROCESSES) {
    this.#taken = new Holdings(limit, LOCAL.id)
    this.#counted = counted
  }

  /**
   * Takes a slot until disposed. When all are taken, ends the process that has been idle longest; for a principal with
   * all that one may have, its own. Throws `unavailable` when none is idle, since another supervisor may have room.
   */
  async take(principal: string): Promise<Disposable> {
    for (;;) {
      const exceeded = this.#taken.exceeded(principal)
      if (exceeded === undefined) return this.#taken.hold(principal)
      const longest = Array.from(this.#idle).find(
        ([, idle]) => exceeded === 'all' || idle.principal === principal,
      )
      if (longest === undefined) throw this.#refusal(exceeded)
      const [process, { end }] = longest
      this.#idle.delete(process)
      await end()
    }
  }

  /** Marks a process as idle, so that it may be ended to make room. */
  setIdle(process: object, idle: Idle): void {
    this.#idle.set(process, idle)
  }

  setBusy(process: object): void {
    this.#idle.delete(process)
  }

  #refusal(exceeded: 'own' | 'all'): BusError {
    const { limit, ownLimit } = this.#taken
    const { what, setting } = this.#counted
    const message =
      exceeded === 'all'
        ? `all ${limit} ${what} are in use; try again later or raise ${setting}`
        : `this principal uses all ${ownLimit} of the ${limit} ${what} that it may have; end some, or raise ${setting}`
    return new BusError('unavailable', message)
  }
}
