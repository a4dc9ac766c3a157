import type { Bus } from '@mcp-host/bus'
import type { LogEntry, SessionId } from '@mcp-host/contracts'
import type { SessionState } from '@mcp-host/session-state'
import { applyEntry, toSnapshot } from '@mcp-host/session-state'
import { openState } from './open-state.ts'

export type ViewBus = Pick<Bus, 'sessions' | 'snapshots'>

/** The number of entries between two snapshots. */
const SNAPSHOT_EVERY = 256
/**
 * The time limit for an entry that another process has written. If it does not arrive, its repetition by the broker was
 * lost.
 */
const MISSED_MS = 5_000

/** A session's state, folded from its log and kept up to date until the signal. */
export class SessionView {
  readonly #bus: ViewBus
  readonly #session: SessionId
  #state: SessionState
  readonly #openedSeq: number
  #changed = Promise.withResolvers<void>()
  #failure: unknown
  #isOutdated = false
  readonly #listeners = new Set<() => void>()

  private constructor(bus: ViewBus, session: SessionId, state: SessionState) {
    this.#bus = bus
    this.#session = session
    this.#state = state
    this.#openedSeq = state.seq
  }

  /** Opens a view with all entries up to `through`. */
  static async open(
    bus: ViewBus,
    session: SessionId,
    { through, signal }: { through: number; signal: AbortSignal },
  ): Promise<SessionView> {
    const view = new SessionView(bus, session, await openState(bus, session, { through }))
    void view.#follow(signal)
    return view
  }

  get state(): SessionState {
    return this.#state
  }

  /** Whether the next user has to open a new view: this one failed, is too large, or its log is gone. */
  get isStale(): boolean {
    return this.#failure !== undefined || this.#isOutdated || this.#state.isDeleted
  }

  /** Calls after each entry, until disposed. */
  onEntry(listener: () => void): Disposable {
    this.#listeners.add(listener)
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) }
  }

  /** Resolves at the next entry, after `limitMs` without one, and when woken. */
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

  /** Whether the log has been read up to a sequence, within `limitMs`. */
  async reaches(seq: number, limitMs: number): Promise<boolean> {
    const giveUpAt = Date.now() + limitMs
    for (
      let leftMs = limitMs;
      this.#state.seq < seq && leftMs > 0;
      leftMs = giveUpAt - Date.now()
    ) {
      await this.change(leftMs)
    }
    return this.#state.seq >= seq
  }

  /** Whether the view has missed a user message: the repeated entry was lost, and later ones do not show it. */
  misses(entry: LogEntry): boolean {
    // Entries up to the opening that are missing were purged.
    const isRead = entry.seq > this.#openedSeq && entry.seq <= this.#state.seq
    if (entry.kind !== 'input' || !isRead) return false
    const isMissed = !this.#state.messageIds.has(entry.fact.id)
    if (isMissed) this.#isOutdated = true
    return isMissed
  }

  /** Whether a turn event after `fence` is read within a time limit. If not, the view has missed it. */
  async passes(fence: number): Promise<boolean> {
    const giveUpAt = Date.now() + MISSED_MS
    while (this.#state.fence === fence && Date.now() < giveUpAt) await this.change(1_000)
    const isPassed = this.#state.fence !== fence
    if (!isPassed) this.#isOutdated = true
    return isPassed
  }

  /** Wakes all callers that wait for a change. */
  wake(): void {
    const changed = this.#changed
    this.#changed = Promise.withResolvers()
    changed.resolve()
  }

  /** Folds the log from its beginning, for data that a snapshot does not have. */
  async readWhole(): Promise<void> {
    const { seq } = this.#state
    const state = await openState(this.#bus, this.#session, { through: seq, isWhole: true })
    // Entries may have been added to the previous state meanwhile.
    while (state.seq < this.#state.seq) {
      const options = { through: this.#state.seq }
      const more = await this.#bus.sessions.read(this.#session, state.seq, options)
      if (more.length === 0) return
      for (const entry of more) applyEntry(state, entry)
    }
    this.#state = state
  }

  /** Stores a snapshot for the next user of the session, when many entries would have to be folded. */
  async keepSnapshot(): Promise<void> {
    const state = this.#state
    if (state.entries - state.snapshotEntries < SNAPSHOT_EVERY) return
    const snapshot = toSnapshot(state)
    if (snapshot === undefined) return
    state.snapshotEntries = state.entries
    await this.#bus.snapshots.put(this.#session, Buffer.from(snapshot))
    // The view is replaced, since a view that is opened from the snapshot takes less memory.
    this.#isOutdated = true
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
        this.wake()
      }
    } catch (error) {
      // Wakes the callers that wait for a change.
      this.#failure = error
      this.#changed.resolve()
    }
  }
}
