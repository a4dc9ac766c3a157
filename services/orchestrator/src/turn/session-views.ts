import type { SessionId } from '@mcp-host/contracts'
import type { ViewBus } from './session-view.ts'
import { SessionView } from './session-view.ts'

/** The time for which an idle session stays open. */
const KEPT_MS = 10_000
/** The broker repeats a stored entry within this time. A view that lacks it by then has missed it. */
const LATE_MS = 250

/** A view while it is in use, until disposed. */
export interface UsedView extends Disposable {
  readonly view: SessionView
}

interface Opened {
  readonly session: SessionId
  readonly view: Promise<SessionView>
  readonly stop: AbortController
  users: number
  timer?: NodeJS.Timeout
}

/**
 * Keeps the sessions of this process open for a while, each opened once for all of its users: folding a long log blocks
 * the event loop, and the first token of an answer waits for it.
 */
export class SessionViews implements Disposable {
  readonly #bus: ViewBus
  readonly #opened = new Map<SessionId, Opened>()

  constructor(bus: ViewBus) {
    this.#bus = bus
  }

  /** The view with all entries up to `through`. Throws the error of the reading. */
  async use(session: SessionId, through: number): Promise<UsedView> {
    const known = this.#opened.get(session)
    const opened = known ?? this.#open(session, through)
    const used = await this.#hold(opened)
    // Entries that a new view does not have were purged.
    if (known === undefined) return used
    const reaches = (): Promise<boolean> => used.view.reaches(through, LATE_MS).catch(() => false)
    if (!used.view.isStale && (await reaches())) return used
    this.#forget(opened)
    used[Symbol.dispose]()
    return this.use(session, through)
  }

  [Symbol.dispose](): void {
    for (const opened of this.#opened.values()) this.#close(opened)
  }

  #open(session: SessionId, through: number): Opened {
    const stop = new AbortController()
    const view = SessionView.open(this.#bus, session, { through, signal: stop.signal })
    const opened = { session, view, stop, users: 0 }
    this.#opened.set(session, opened)
    return opened
  }

  async #hold(opened: Opened): Promise<UsedView> {
    clearTimeout(opened.timer)
    opened.users++
    try {
      const view = await opened.view
      return { view, [Symbol.dispose]: () => this.#release(opened, view.isStale) }
    } catch (error) {
      this.#release(opened, true)
      throw error
    }
  }

  #release(opened: Opened, isStale: boolean): void {
    if (isStale) this.#forget(opened)
    if (--opened.users > 0) return
    if (this.#opened.get(opened.session) !== opened) return this.#close(opened)
    opened.timer = setTimeout(() => this.#close(opened), KEPT_MS).unref()
  }

  /** Removes a view from those that are shared. */
  #forget(opened: Opened): void {
    if (this.#opened.get(opened.session) === opened) this.#opened.delete(opened.session)
  }

  #close(opened: Opened): void {
    clearTimeout(opened.timer)
    this.#forget(opened)
    opened.stop.abort()
  }
}
