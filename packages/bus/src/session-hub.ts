import type { LogEntry, TextDelta, ToolProgress } from '@mcp-host/contracts'
import { FairBroadcaster } from './fair-broadcaster.ts'
import { TextPacer } from './text-pacer.ts'

interface Numbered {
  readonly seq: number
}

/** The hub's view of the broker for one session. */
export interface SessionSource<Last extends Numbered = Numbered> {
  /**
   * Delivers live entries as the broker repeats them, each with the previous sequence on its subject. If requested,
   * also delivers text as it is written, and progress of tools.
   */
  listen(
    onEntry: (entry: LogEntry, previous: number) => void,
    onDelta: (delta: TextDelta) => void,
    onProgress: (progress: ToolProgress) => void,
  ): Disposable
  /** The entries after a sequence, including all that are stored up to `through`. */
  read(after: number, through: number): Promise<LogEntry[]>
  /** The last message of the session's log from the leader; `null` when there is none. */
  last(): Promise<Last | null>
  /** Whether the entry of a sequence was lost with damaged data. */
  isLost?(seq: number): boolean
  /** Called with an error that is retried. */
  warn(error: unknown): void
}

export interface HubListener {
  entry(entry: LogEntry): void
  delta(delta: TextDelta): void
  progress(progress: ToolProgress): void
  /** Called after each check of the log: all stored entries were delivered. */
  checked(): void
  /** Called when the session was deleted and its log is empty. */
  purged(): void
  /** Called when the last delivered entry is missing, because the data was damaged. */
  lost(): void
}

/**
 * The time without activity after which the log is polled, at growing intervals. Live delivery is at most once, so
 * entries may be missing.
 */
const MIN_POLL_MS = 2_000
/** The longest time between two polls, even while text arrives. */
const MAX_POLL_MS = 15_000

/**
 * One session's live stream in this process, shared by all of its followers. Delivers entries in order without gaps:
 * entries that were lost on the live subject are read from the log.
 */
export class SessionHub<Last extends Numbered = Numbered> implements Disposable {
  readonly #source: SessionSource<Last>
  readonly #listeners = new Set<HubListener>()
  readonly #announcer = new FairBroadcaster(this.#listeners)
  #holds = 0
  readonly #live: Disposable
  readonly #opened: Promise<Last | null>
  readonly #text = new TextPacer(
    (delta) => this.#announcer.tell((listener) => listener.delta(delta)),
    () => this.#listeners.size,
  )
  #timer: NodeJS.Timeout | undefined
  #lastActivity = Date.now()
  #lastCheck = Date.now()
  /** The last delivered sequence; `undefined` until the start is known. */
  #seq: number | undefined
  /** The last sequence that is known to be stored; a lagging replica may not have it yet. */
  #stored = 0
  /** Whether later entries may be stored that no live entry has announced. */
  #isBlind = false
  /** Whether a check is in flight. It also reads live entries that arrive meanwhile. */
  #checking = false
  /**
   * Whether an entry may have been missed since the last check began. Then no entry is delivered before the next check.
   */
  #dirty = false
  #closed = false
  #isPurged = false

  constructor(source: SessionSource<Last>) {
    this.#source = source
    this.#live = source.listen(
      (entry, previous) => this.#onLive(entry, previous),
      (delta) => {
        this.#lastActivity = Date.now()
        this.#text.push(delta)
      },
      (progress) => this.#announcer.tell((listener) => listener.progress(progress)),
    )
    this.#opened = this.#open()
  }

  /** Resolves once later entries can no longer be missed, with the last message at that time. */
  opened(): Promise<Last | null> {
    return this.#opened
  }

  /** The last sequence that was delivered, or was stored before the start; 0 until the start is known. */
  get seq(): number {
    return this.#seq ?? 0
  }

  get isUnused(): boolean {
    return this.#listeners.size === 0 && this.#holds === 0
  }

  /** Keeps the hub in use without a listener, until disposed. */
  hold(): Disposable {
    this.#holds++
    return { [Symbol.dispose]: () => void this.#holds-- }
  }

  add(listener: HubListener): void {
    this.#listeners.add(listener)
    if (this.#isPurged) listener.purged()
  }

  remove(listener: HubListener): void {
    this.#listeners.delete(listener)
  }

  /** Reads stored entries that were not delivered yet. */
  check(): void {
    this.#isBlind = true
    this.#startCheck()
  }

  #startCheck(): void {
    if (this.#closed || this.#seq === undefined) return
    if (this.#checking) this.#dirty = true
    else void this.#catchUp()
  }

  /**
   * Called when the connection breaks. Live entries may then be lost, and a later entry on another subject does not
   * show the gap.
   */
  interrupted(): void {
    this.#dirty = true
    this.#isBlind = true
  }

  [Symbol.dispose](): void {
    this.#closed = true
    clearTimeout(this.#timer)
    this.#live[Symbol.dispose]()
    this.#text[Symbol.dispose]()
    this.#announcer[Symbol.dispose]()
  }

  async #open(): Promise<Last | null> {
    const last = await this.#source.last()
    this.#seq = last?.seq ?? 0
    // Entries stored between the subscription and the answer were dropped by #onLive. There are hardly any, and
    // thousands of hubs may open at once when a gateway died, so a check is not made always.
    if (this.#stored > this.#seq || this.#dirty) this.#startCheck()
    else this.#schedule()
    return last
  }

  #onLive(entry: LogEntry, previous: number): void {
    const delivered = this.#seq
    if (delivered !== undefined && entry.seq <= delivered) return
    // A turn event names the last sequence that its writer had read, so a higher one shows a gap.
    const seen = entry.kind === 'turn' ? Math.max(entry.fact.seen, previous) : previous
    if (delivered !== undefined && !this.#checking && !this.#dirty && seen <= delivered) {
      this.#deliver(entry)
    } else {
      this.#stored = Math.max(this.#stored, entry.seq, seen)
      this.#startCheck()
    }
  }

  #deliver(entry: LogEntry): void {
    if (this.#seq !== undefined && entry.seq <= this.#seq) return
    // The entry may end the generation.
    this.#text.flush()
    this.#seq = entry.seq
    this.#lastActivity = Date.now()
    this.#announcer.tell((listener) => listener.entry(entry))
  }

  async #catchUp(): Promise<void> {
    this.#checking = true
    this.#lastCheck = Date.now()
    let isComplete: boolean
    do {
      this.#dirty = false
      try {
        if (this.#isBlind) {
          this.#isBlind = false
          const last = (await this.#source.last())?.seq ?? 0
          // The control fact of the deletion may be purged with the other entries.
          if (last === 0 && this.seq > 0) return this.#purged()
          if (last < this.seq || this.#source.isLost?.(this.seq) === true) {
            this.#seq = last
            this.#announcer.tell((listener) => listener.lost())
          }
          this.#stored = Math.max(this.#stored, last)
        }
        // Unnecessary reads are avoided, since each makes the broker visit all later entries of other sessions.
        if (this.#stored > this.seq) {
          for (const entry of await this.#source.read(this.seq, this.#stored)) this.#deliver(entry)
        }
        isComplete = true
      } catch (error) {
        // Nothing is lost: the next check begins at the same sequence.
        this.#source.warn(error)
        this.#isBlind = true
        isComplete = false
      }
    } while (this.#dirty && !this.#closed)
    // In the same synchronous step as the last read of #dirty; otherwise an entry between the two would be missed.
    this.#checking = false
    if (isComplete) this.#announcer.tell((listener) => listener.checked())
    else this.#dirty = true
    this.#schedule()
  }

  #purged(): void {
    this.#closed = true
    this.#isPurged = true
    this.#announcer.tell((listener) => listener.purged())
  }

  #schedule(): void {
    const idleMs = this.#dirty ? 0 : Date.now() - this.#lastActivity
    this.#wait(Math.min(MAX_POLL_MS, Math.max(MIN_POLL_MS, idleMs)))
  }

  #wait(ms: number): void {
    if (this.#closed) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#poll(), ms)
    this.#timer.unref()
  }

  #poll(): void {
    const now = Date.now()
    const idleMs = now - this.#lastActivity
    // The next entry shows whether an earlier one was lost.
    const canWait = !this.#dirty && idleMs < MIN_POLL_MS && now - this.#lastCheck < MAX_POLL_MS
    if (canWait) this.#wait(MIN_POLL_MS - idleMs)
    else this.check()
  }
}
