import type { Bus } from '@mcp-host/bus'
import type { SessionId, SessionState } from '@mcp-host/contracts'
import { applyEntry, toSnapshot } from '@mcp-host/contracts'
import { openState } from './open-state.ts'

type ViewBus = Pick<Bus, 'sessions' | 'snapshots'>

/** So many entries are folded anew before the next snapshot is made. */
const SNAPSHOT_EVERY = 256

/** A session's state, folded from its log and kept up to date until the signal. */
export class SessionView {
  readonly #bus: ViewBus
  readonly #session: SessionId
  #state: SessionState
  #changed = Promise.withResolvers<void>()
  #failure: unknown
  readonly #listeners = new Set<() => void>()

  private constructor(bus: ViewBus, session: SessionId, state: SessionState) {
    this.#bus = bus
    this.#session = session
    this.#state = state
  }

  /** With all that is stored up to `through`. */
  static async open(
    bus: ViewBus,
    session: SessionId,
    { through, signal }: { through: number; signal: AbortSignal },
  ): Promise<SessionView> {
    const view = new SessionView(bus, session, await openState(bus, session, { through }))
    signal.addEventListener('abort', () => view.#wake(), { once: true })
    void view.#follow(signal)
    return view
  }

  get state(): SessionState {
    return this.#state
  }

  /** Calls after each entry, until disposed. */
  onEntry(listener: () => void): Disposable {
    this.#listeners.add(listener)
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) }
  }

  /** Resolves at the next entry, after `limitMs` without one, and when the signal aborts. */
  async change(limitMs: number): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => {
      if (limitMs < Infinity) timer = setTimeout(resolve, limitMs)
    })
    await Promise.race([this.#changed.promise, late])
    clearTimeout(timer)
    if (this.#failure !== undefined) throw this.#failure
  }

  /** Resolves once the log has been read up to a sequence. */
  async reach(seq: number): Promise<void> {
    while (this.#state.seq < seq) await this.change(5_000)
  }

  /** Folds the log from its beginning, for what a snapshot does not keep. */
  async readWhole(): Promise<void> {
    const { seq } = this.#state
    const state = await openState(this.#bus, this.#session, { through: seq, isWhole: true })
    // Entries may have come meanwhile, to the state that was.
    if (this.#state.seq <= state.seq) this.#state = state
    else await this.readWhole()
  }

  /** Keeps the state for whoever opens the session next, when there is much to fold. */
  async keepSnapshot(): Promise<void> {
    const state = this.#state
    if (state.entries - state.snapshotEntries < SNAPSHOT_EVERY) return
    const snapshot = toSnapshot(state)
    if (snapshot === undefined) return
    state.snapshotEntries = state.entries
    await this.#bus.snapshots.put(this.#session, Buffer.from(snapshot))
  }

  async #follow(signal: AbortSignal): Promise<void> {
    try {
      const { seq } = this.#state
      const items = this.#bus.sessions.follow(this.#session, { after: seq, deltas: false, signal })
      for await (const item of items) {
        if (item.type === 'entry') {
          applyEntry(this.#state, item.entry)
          for (const listener of this.#listeners) listener()
        }
        this.#wake()
      }
    } catch (error) {
      // Whoever waits for a change learns of it.
      this.#failure = error
      this.#changed.resolve()
    }
  }

  #wake(): void {
    const changed = this.#changed
    this.#changed = Promise.withResolvers()
    changed.resolve()
  }
}
