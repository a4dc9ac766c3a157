import type { LogEntry, TextDelta, ToolProgress } from '@mcp-host/contracts'
import { FairBroadcaster } from './fair-broadcaster.ts'
import { TextPacer } from './text-pacer.ts'

interface Numbered {
  readonly seq: number
}

/** The hub's view of the broker for one session. */
export interface SessionSource<Last extends Numbered = Numbered> {
  /**
   * Live entries as they are repeated, each with the sequence before it on its subject; and text as it is
   * written and progress of tools, where that is wanted.
   */
  listen(
    onEntry: (entry: LogEntry, previous: number) => void,
    onDelta: (delta: TextDelta) => void,
    onProgress: (progress: ToolProgress) => void,
  ): Disposable
  /** Entries after a sequence, among them all that are stored up to `through`. */
  read(after: number, through: number): Promise<LogEntry[]>
  /** The last message of the session's log, if there is one; never an old one. */
  last(): Promise<Last | null>
  /** Whether what had a sequence was lost with damaged data. */
  isLost?(seq: number): boolean
  /** Called with an error that is retried. */
  warn(error: unknown): void
}

export interface HubListener {
  entry(entry: LogEntry): void
  delta(delta: TextDelta): void
  progress(progress: ToolProgress): void
  /** The log was looked up again: all that is stored was given. */
  checked(): void
  /** The session was deleted: its log is empty. */
  purged(): void
  /** Called when the last given entry is missing: the data was damaged. */
  lost(): void
}

/** Repeating is at most once, so the log is looked up too: so long after the last sign of life, then ever less often, */
const MIN_POLL_MS = 2_000
/** and at least this often, also while text keeps coming. */
const MAX_POLL_MS = 15_000

/**
 * One session's live stream in this process, shared by all of its followers. Gives entries in order without gaps:
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
  #lastLook = Date.now()
  /** Last sequence given out; `undefined` until the start is known. */
  #seq: number | undefined
  /** So far something is known to be stored, though a look into the log may not show it yet. */
  #stored = 0
  /** More than that may be stored: it could be missed without a trace. */
  #isBlind = false
  /** A look into the log is under way; live entries are left to it. */
  #checking = false
  /** Something may have been missed since the last look began; nothing is given out before the next. */
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

  /** Resolves when nothing stored from now on can be missed, with what was the last message then. */
  opened(): Promise<Last | null> {
    return this.#opened
  }

  /** All up to here was given out, or stood in the log before; 0 until the start is known. */
  get seq(): number {
    return this.#seq ?? 0
  }

  get isUnused(): boolean {
    return this.#listeners.size === 0 && this.#holds === 0
  }

  /** Stays in use without a listener. */
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

  /** Looks up what is stored and was not given out yet. */
  check(): void {
    this.#isBlind = true
    this.#look()
  }

  #look(): void {
    if (this.#closed || this.#seq === undefined) return
    if (this.#checking) {
      this.#dirty = true
      return
    }
    void this.#catchUp()
  }

  /**
   * The connection broke. Repeats sent meanwhile are lost, and later entries may stand behind
   * it, on a subject whose own sequence shows no hole.
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
    // Entries stored between the subscription and the answer were dropped by #onLive. There are hardly ever
    // any, and thousands may come to look at once when their gateway died.
    if (this.#stored > this.#seq || this.#dirty) this.#look()
    else this.#schedule()
    return last
  }

  #onLive(entry: LogEntry, previous: number): void {
    const given = this.#seq
    if (given !== undefined && entry.seq <= given) return
    // A turn event names the last sequence its writer had read: behind that something is missing.
    const seen = entry.kind === 'turn' ? Math.max(entry.fact.seen, previous) : previous
    if (given !== undefined && !this.#checking && !this.#dirty && seen <= given) {
      this.#give(entry)
    } else {
      this.#stored = Math.max(this.#stored, entry.seq, seen)
      this.#look()
    }
  }

  #give(entry: LogEntry): void {
    if (this.#seq !== undefined && entry.seq <= this.#seq) return
    // It may end the generation.
    this.#text.flush()
    this.#seq = entry.seq
    this.#lastActivity = Date.now()
    this.#announcer.tell((listener) => listener.entry(entry))
  }

  async #catchUp(): Promise<void> {
    this.#checking = true
    this.#lastLook = Date.now()
    let isComplete: boolean
    do {
      this.#dirty = false
      try {
        if (this.#isBlind) {
          this.#isBlind = false
          const last = (await this.#source.last())?.seq ?? 0
          // The fact that said so may be lost with the rest.
          if (last === 0 && this.seq > 0) return this.#purged()
          if (last < this.seq || this.#source.isLost?.(this.seq) === true) {
            this.#seq = last
            this.#announcer.tell((listener) => listener.lost())
          }
          this.#stored = Math.max(this.#stored, last)
        }
        // Reading makes the broker go through all that others stored since: not for nothing.
        if (this.#stored > this.seq) {
          for (const entry of await this.#source.read(this.seq, this.#stored)) this.#give(entry)
        }
        isComplete = true
      } catch (error) {
        // Nothing is lost: the next look begins at the same place.
        this.#source.warn(error)
        this.#isBlind = true
        isComplete = false
      }
    } while (this.#dirty && !this.#closed)
    // In one step with the last look at #dirty: an entry between the two would be missed.
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
    const quietMs = this.#dirty ? 0 : Date.now() - this.#lastActivity
    this.#wait(Math.min(MAX_POLL_MS, Math.max(MIN_POLL_MS, quietMs)))
  }

  #wait(ms: number): void {
    if (this.#closed) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#poll(), ms)
    this.#timer.unref()
  }

  #poll(): void {
    const now = Date.now()
    const quietMs = now - this.#lastActivity
    // The next entry shows what was lost before it.
    const canWait = !this.#dirty && quietMs < MIN_POLL_MS && now - this.#lastLook < MAX_POLL_MS
    if (canWait) this.#wait(MIN_POLL_MS - quietMs)
    else this.check()
  }
}
