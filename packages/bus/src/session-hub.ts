import type { LogEntry, TextDelta } from '@mcp-host/contracts'

/** What the hub needs of the broker for one session. */
export interface SessionSource {
  /** Live entries as they are repeated, each with the sequence before it on its subject. */
  listen(onEntry: (entry: LogEntry, previous: number) => void): Disposable
  listenDeltas(onDelta: (delta: TextDelta) => void): Disposable
  /** Entries after a sequence. */
  read(after: number): Promise<LogEntry[]>
  /** The session's last sequence, 0 when it has none. */
  last(): Promise<number>
  /** Told of what went wrong and is tried again. */
  warn(error: unknown): void
}

export interface HubListener {
  entry(entry: LogEntry): void
  delta(delta: TextDelta): void
  /** The log was looked up again: all that is stored was given. */
  checked(): void
}

/** Repeating is at most once, so the log is looked up too: this often while something happens, */
const BUSY_POLL_MS = 2_000
/** and this often when nothing did for a while. */
const IDLE_POLL_MS = 15_000

/**
 * One session's live stream in this process, shared by all who follow it. Gives entries in order and
 * without gaps: what the repetition lost is read from the log.
 */
export class SessionHub implements Disposable {
  readonly #source: SessionSource
  readonly #listeners = new Set<HubListener>()
  readonly #live: Disposable
  readonly #opened: Promise<void>
  #deltas: Disposable | undefined
  #timer: NodeJS.Timeout | undefined
  #lastActivity = Date.now()
  /** Last sequence given out; `undefined` until the start is known. */
  #seq: number | undefined
  /** A look into the log is under way; live entries are left to it. */
  #checking = false
  /** Something may have been missed since the last look began; nothing is given out before the next. */
  #dirty = false
  #closed = false

  constructor(source: SessionSource) {
    this.#source = source
    this.#live = source.listen((entry, previous) => this.#onLive(entry, previous))
    this.#opened = this.#open()
  }

  /** Resolves when nothing stored from now on can be missed. */
  async opened(): Promise<void> {
    await this.#opened
  }

  get isUnused(): boolean {
    return this.#listeners.size === 0
  }

  add(listener: HubListener, { deltas }: { deltas: boolean }): void {
    this.#listeners.add(listener)
    if (deltas) {
      this.#deltas ??= this.#source.listenDeltas((delta) => {
        this.#lastActivity = Date.now()
        for (const each of this.#listeners) each.delta(delta)
      })
    }
  }

  remove(listener: HubListener): void {
    this.#listeners.delete(listener)
  }

  /** Looks up what is stored and was not given out yet. */
  check(): void {
    if (this.#closed || this.#seq === undefined) return
    if (this.#checking) {
      this.#dirty = true
      return
    }
    void this.#catchUp()
  }

  /**
   * The connection broke. What is repeated meanwhile is lost, and what comes afterwards may stand behind
   * it, on a subject whose own sequence shows no hole.
   */
  interrupted(): void {
    this.#dirty = true
  }

  [Symbol.dispose](): void {
    this.#closed = true
    clearTimeout(this.#timer)
    this.#live[Symbol.dispose]()
    this.#deltas?.[Symbol.dispose]()
  }

  async #open(): Promise<void> {
    this.#seq = await this.#source.last()
    // Entries stored between the subscription and the answer were dropped by #onLive.
    this.check()
  }

  #onLive(entry: LogEntry, previous: number): void {
    if (this.#seq === undefined || entry.seq <= this.#seq) return
    // A turn event names the last sequence its writer had read: behind that something is missing.
    const seen = entry.kind === 'turn' ? Math.max(entry.fact.seen, previous) : previous
    if (this.#checking || this.#dirty || seen > this.#seq) this.check()
    else this.#give(entry)
  }

  #give(entry: LogEntry): void {
    if (this.#seq !== undefined && entry.seq <= this.#seq) return
    this.#seq = entry.seq
    this.#lastActivity = Date.now()
    for (const listener of this.#listeners) listener.entry(entry)
  }

  async #catchUp(): Promise<void> {
    this.#checking = true
    let isComplete: boolean
    do {
      this.#dirty = false
      try {
        for (const entry of await this.#source.read(this.#seq ?? 0)) this.#give(entry)
        isComplete = true
      } catch (error) {
        // Nothing is lost: the next look begins at the same place.
        this.#source.warn(error)
        isComplete = false
      }
    } while (this.#dirty && !this.#closed)
    // In one step with the last look at #dirty: what comes in between would be forgotten.
    this.#checking = false
    if (isComplete) for (const listener of this.#listeners) listener.checked()
    else this.#dirty = true
    this.#schedule()
  }

  #schedule(): void {
    if (this.#closed) return
    const idle = !this.#dirty && Date.now() - this.#lastActivity > IDLE_POLL_MS
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.check(), idle ? IDLE_POLL_MS : BUSY_POLL_MS)
    this.#timer.unref()
  }
}
