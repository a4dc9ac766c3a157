import { setTimeout as delay } from 'node:timers/promises'
import type { LostRange } from '@mcp-host/contracts'
import { ALL_LOGS, BusError, LOG_PROBE, LogHead } from '@mcp-host/contracts'
import type { Broker } from './broker.ts'
import { keySubject, lastOfKey } from './bucket-key.ts'
import { decode, encode } from './codec.ts'
import { isFenced } from './nats-error.ts'
import { INPUTS_CONSUMER, SESSIONS_STREAM } from './streams.ts'

export const LOG_HEAD_BUCKET = 'LOG_HEAD'
const KEY = 'head'

/** The delay between an append and the update of the head. */
const NOTE_AFTER_MS = 250
/**
 * The number of sequences that are skipped beyond the last known one, since more may have been assigned since the last
 * note.
 */
const MARGIN = 1_000
/** The number of placeholders that are written at once. */
const BATCH = 500
/** The number of ranges that are stored. */
const MAX_LOST = 100
/**
 * The delays before the losses are read again: all processes connect within seconds of each other when the broker is
 * back.
 */
const LEARN_AFTER_MS = [1_000, 5_000]
const RETRY_MS = 200
const MAX_TRIES = 20
/** The time limit for the last note at the end. */
const CLOSE_LIMIT_MS = 1_000

export interface LogHeadDeps extends Broker {
  /** Called once by each process that detects that the end of the log is lost. */
  readonly onLoss: (range: LostRange) => void
  /** Whether this process may replace the lost end of the log. If not, another process does it. */
  readonly canRepair: boolean
}

/**
 * Stores the last sequence of the log separately, and compares the two at every connect. If the end of the log is
 * missing, as after damage to nats-server's files, placeholders are written. Otherwise the same sequences would be
 * assigned again under the cursors of clients, and nats-server 2.15 would not deliver inputs to a consumer that is
 * ahead of its stream.
 */
export class NatsLogHead {
  readonly #deps: LogHeadDeps
  #highest = 0
  #lost: readonly LostRange[] = []
  #timer: NodeJS.Timeout | undefined
  /** Set while it is unknown whether the log is complete. */
  #pending: PromiseWithResolvers<void> | undefined

  constructor(deps: LogHeadDeps) {
    this.#deps = deps
  }

  /** Notes a sequence that was stored, or that a client has seen. */
  note(seq: number): void {
    if (seq <= this.#highest) return
    this.#highest = seq
    this.#timer ??= setTimeout(() => void this.#save(), NOTE_AFTER_MS).unref()
  }

  get lost(): readonly LostRange[] {
    return this.#lost
  }

  /** Whether appends have to wait. */
  get isPending(): boolean {
    return this.#pending !== undefined
  }

  /** Whether appends may go on. Resolves once they may, or after `limitMs`. */
  async checked(limitMs: number): Promise<boolean> {
    const stop = new AbortController()
    const late = delay(limitMs, undefined, { signal: stop.signal }).catch(() => undefined)
    await Promise.race([this.#pending?.promise, late])
    stop.abort()
    return this.#pending === undefined
  }

  /** Called when the connection breaks: the log may have changed when it is back. */
  interrupted(): void {
    this.#pending ??= Promise.withResolvers()
  }

  /** Called when the connection is back. */
  async recheck(): Promise<void> {
    const pending = (this.#pending ??= Promise.withResolvers())
    for (let tries = 1; ; tries++) {
      try {
        await this.check()
        break
      } catch (error) {
        if (this.#deps.connection.isClosed()) break
        if (tries === MAX_TRIES) {
          this.#deps.warn(error, 'check the end of the log')
          break
        }
        await delay(RETRY_MS)
      }
    }
    if (this.#pending === pending) this.#pending = undefined
    pending.resolve()
  }

  /** Compares the log with the last sequence that is known to be stored. */
  async check(): Promise<void> {
    const { manager } = this.#deps
    // Read before the log: later appends of other processes are no loss.
    const highest = this.#highest
    const [head, { delivered }] = await Promise.all([
      this.#read(),
      manager.consumers.info(SESSIONS_STREAM, INPUTS_CONSUMER),
    ])
    // Read after the head, in which writers note what they have stored.
    const last = await this.#last()
    const { canRepair } = this.#deps
    const readable = canRepair ? await this.#lastReadable(last) : last
    const known = Math.max(highest, head.last, delivered.stream_seq, last)
    if (readable < known) {
      if (!canRepair)
        throw new BusError('unavailable', 'the end of the session log is being repaired')
      await this.#replace(readable, known)
    } else {
      // Another process, which knows of a longer log, may be replacing the end, so the head is read again. Appends wait
      // for that.
      const { lost } = await this.#read()
      if (lost.some(({ through }) => through > last)) return this.check()
      this.#lost = lost
    }
    for (const ms of LEARN_AFTER_MS) setTimeout(() => void this.#learn(), ms).unref()
  }

  /** Reads the losses that other processes have detected. */
  async #learn(): Promise<void> {
    if (this.#deps.connection.isClosed()) return
    try {
      this.#lost = (await this.#read()).lost
    } catch (error) {
      if (!this.#deps.connection.isClosed()) this.#deps.warn(error, 'read the head of the log')
    }
  }

  async close(): Promise<void> {
    this.#pending?.resolve()
    if (this.#timer === undefined) return
    clearTimeout(this.#timer)
    if (this.#pending !== undefined || this.#deps.connection.isClosed()) return
    await Promise.race([this.#save(), delay(CLOSE_LIMIT_MS, undefined, { ref: false })])
  }

  async #replace(last: number, known: number): Promise<void> {
    let range = { after: last, through: known + MARGIN, at: Date.now() }
    // Noted before the placeholders are written, so that a later process continues the same range.
    const { lost } = await this.#update((head) => {
      const started = head.lost.find(({ after, through }) => after <= last && through >= known)
      if (started !== undefined) {
        range = started
        return undefined
      }
      const ranges = [...head.lost, range].slice(-MAX_LOST)
      return { last: Math.max(head.last, range.through), lost: ranges }
    })
    this.#lost = lost
    this.#deps.onLoss(range)
    await this.#fill(range.through)
    this.note(range.through)
  }

  /** Writes placeholders. Other processes may do the same, since each placeholder is for one sequence. */
  async #fill(through: number): Promise<void> {
    const { jetstream, manager } = this.#deps
    for (let last = await this.#last(); last < through; last = await this.#last()) {
      const first = last
      const count = Math.min(BATCH, through - first)
      const placeholders = Array.from({ length: count }, (_, index) =>
        jetstream.publish(LOG_PROBE, new Uint8Array(), { expect: { lastSequence: first + index } }),
      )
      for (const placeholder of await Promise.allSettled(placeholders)) {
        if (placeholder.status === 'fulfilled' || isFenced(placeholder.reason)) continue
        throw placeholder.reason
      }
    }
    await manager.streams.purge(SESSIONS_STREAM, { filter: LOG_PROBE, keep: 1 })
  }

  /** The last sequence that nats-server has assigned and still knows. */
  async #last(): Promise<number> {
    return (await this.#deps.manager.streams.info(SESSIONS_STREAM)).state.last_seq
  }

  /**
   * The last sequence whose message can be read. After a clean stop nats-server stores the last sequence apart from
   * the messages, so that it survives damage to their files. Deletions never remove the last message.
   */
  async #lastReadable(last: number): Promise<number> {
    const { streams } = this.#deps.manager
    if (last === 0) return 0
    if ((await streams.getMessage(SESSIONS_STREAM, { seq: last })) !== null) return last
    return (await streams.getMessage(SESSIONS_STREAM, { last_by_subj: ALL_LOGS }))?.seq ?? 0
  }

  async #save(): Promise<void> {
    this.#timer = undefined
    const last = this.#highest
    try {
      await this.#update((head) => (head.last >= last ? undefined : { ...head, last }))
    } catch (error) {
      if (this.#deps.connection.isClosed()) return
      // The next append notes it again.
      this.#deps.warn(error, 'note the end of the log')
    }
  }

  async #read(): Promise<LogHead & { revision: number }> {
    const found = await lastOfKey(this.#deps.manager, LOG_HEAD_BUCKET, KEY)
    if (found === null) return { last: 0, lost: [], revision: 0 }
    return { ...decode(LogHead, found.data, 'the head of the log'), revision: found.seq }
  }

  /** The written head, or the stored one when `change` returns `undefined`. */
  async #update(change: (head: LogHead) => LogHead | undefined): Promise<LogHead> {
    for (let tries = 1; ; tries++) {
      const { revision, ...head } = await this.#read()
      const changed = change(head)
      if (changed === undefined) return head
      try {
        const data = encode(LogHead, changed, 'the head of the log')
        await this.#deps.jetstream.publish(keySubject(LOG_HEAD_BUCKET, KEY), data, {
          expect: { lastSubjectSequence: revision },
        })
        return changed
      } catch (error) {
        if (!isFenced(error) || tries === MAX_TRIES) throw error
      }
    }
  }
}
