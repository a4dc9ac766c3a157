import type { SessionLog } from '@mcp-host/bus'
import type { SessionId, SessionState } from '@mcp-host/contracts'
import { applyEntry, emptySession } from '@mcp-host/contracts'

/** A session's state, folded from its log and kept up to date until the signal. */
export class SessionView {
  readonly state: SessionState
  #changed = Promise.withResolvers<void>()
  #failure: unknown

  private constructor(state: SessionState) {
    this.state = state
  }

  static async open(
    log: SessionLog,
    session: SessionId,
    signal: AbortSignal,
  ): Promise<SessionView> {
    const state = emptySession()
    for (const entry of await log.read(session, 0)) applyEntry(state, entry)
    const view = new SessionView(state)
    void view.#follow(log, session, signal)
    return view
  }

  /** Resolves at the next entry, or after `limitMs` without one. */
  async change(limitMs: number): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, limitMs)
    })
    await Promise.race([this.#changed.promise, late])
    clearTimeout(timer)
    if (this.#failure !== undefined) throw this.#failure
  }

  /** Resolves once the log has been read up to a sequence. */
  async reach(seq: number): Promise<void> {
    while (this.state.seq < seq) await this.change(5_000)
  }

  async #follow(log: SessionLog, session: SessionId, signal: AbortSignal): Promise<void> {
    try {
      const items = log.follow(session, { after: this.state.seq, deltas: false, signal })
      for await (const item of items) {
        if (item.type === 'entry') applyEntry(this.state, item.entry)
        const changed = this.#changed
        this.#changed = Promise.withResolvers()
        changed.resolve()
      }
    } catch (error) {
      // Whoever waits for a change learns of it.
      this.#failure = error
      this.#changed.resolve()
    }
  }
}
