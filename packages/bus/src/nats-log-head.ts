import { setTimeout as delay } from 'node:timers/promises'
import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import type { LostRange } from '@mcp-host/contracts'
import { ALL_LOGS, LOG_PROBE, LogHead } from '@mcp-host/contracts'
import { keySubject, lastOfKey } from './bucket-key.ts'
import { decode, encode } from './codec.ts'
import { isFenced } from './nats-error.ts'
import { INPUTS_CONSUMER, SESSIONS_STREAM } from './streams.ts'

export const LOG_HEAD_BUCKET = 'LOG_HEAD'
const KEY = 'head'

/** The delay between an append and the update of the head. */
const NOTE_AFTER_MS = 250
/** Sequences that are left out beyond what is known: others may have been given out since the last note. */
const MARGIN = 1_000
/** So many placeholders are on their way at once. */
const BATCH = 500
/** So many ranges are remembered. */
const MAX_LOST = 100
/** All processes connect within seconds of each other when the broker is back. */
const LEARN_AFTER_MS = [1_000, 5_000]
const RETRY_MS = 200
const MAX_TRIES = 20
/** At the end the log's head is noted once more, for so long at most. */
const CLOSE_LIMIT_MS = 1_000

export interface LogHeadDeps {
  readonly connection: NatsConnection
  readonly jetstream: JetStreamClient
  readonly manager: JetStreamManager
  readonly warn: (error: unknown, action: string) => void
  /** The end of the log is lost: said once by each process that notices. */
  readonly onLoss: (range: LostRange) => void
}

/**
 * Notes beside the log how far it goes, and compares when the connection is made, and made again. Where the end
 * of the log is missing, as after damage to nats-server's files, it writes placeholders in its place: else the
 * same sequences would be given out again under the cursors of clients, and nats-server 2.15 would not hand
 * inputs to a consumer that is ahead of its stream.
 */
export class NatsLogHead {
  readonly #deps: LogHeadDeps
  #highest = 0
  #lost: readonly LostRange[] = []
  #timer: NodeJS.Timeout | undefined
  /** While it is not known whether the log is whole. */
  #pending: PromiseWithResolvers<void> | undefined

  constructor(deps: LogHeadDeps) {
    this.#deps = deps
  }

  /** A sequence that was stored, or shown to a client. */
  note(seq: number): void {
    if (seq <= this.#highest) return
    this.#highest = seq
    this.#timer ??= setTimeout(() => void this.#save(), NOTE_AFTER_MS).unref()
  }

  get lost(): readonly LostRange[] {
    return this.#lost
  }

  /** Whether nothing may be appended yet. */
  get isPending(): boolean {
    return this.#pending !== undefined
  }

  /** Resolves when appends may go on, or after `limitMs`; whether they may. */
  async checked(limitMs: number): Promise<boolean> {
    const stop = new AbortController()
    const late = delay(limitMs, undefined, { signal: stop.signal }).catch(() => undefined)
    await Promise.race([this.#pending?.promise, late])
    stop.abort()
    return this.#pending === undefined
  }

  /** The connection broke: the log may be another when it is back. */
  interrupted(): void {
    this.#pending ??= Promise.withResolvers()
  }

  /** The connection is back. */
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

  /** Compares what is stored with what is known to have been stored. */
  async check(): Promise<void> {
    const { manager } = this.#deps
    // Before the log is read: what others append meanwhile, and this process sees, is no loss.
    const highest = this.#highest
    const [head, { delivered }] = await Promise.all([
      this.#read(),
      manager.consumers.info(SESSIONS_STREAM, INPUTS_CONSUMER),
    ])
    // After the head: writers note there what they have stored.
    const last = await this.#last()
    const readable = await this.#lastReadable(last)
    const known = Math.max(highest, head.last, delivered.stream_seq, last)
    if (readable < known) await this.#replace(readable, known)
    else {
      // Anew, because another process, which knows of a longer log, may be replacing its end: appends wait for that.
      const { lost } = await this.#read()
      if (lost.some(({ through }) => through > last)) return this.check()
      this.#lost = lost
    }
    for (const ms of LEARN_AFTER_MS) setTimeout(() => void this.#learn(), ms).unref()
  }

  /** Others, which know more, may have noticed a loss meanwhile. */
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
    // Noted before anything is written: a process that comes later goes on with the same range.
    const { lost } = await this.#update((head) => {
      const begun = head.lost.find(({ after, through }) => after <= last && through >= known)
      if (begun !== undefined) {
        range = begun
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

  /** Others may fill at the same time: each placeholder is for its own sequence. */
  async #fill(through: number): Promise<void> {
    const { jetstream, manager } = this.#deps
    for (let last = await this.#last(); last < through; last = await this.#last()) {
      const first = last
      const count = Math.min(BATCH, through - first)
      const placeholders = Array.from({ length: count }, (_, index) =>
        jetstream.publish(LOG_PROBE, new Uint8Array(), { expect: { lastSequence: first + index } }),
      )
      for (const { status, reason } of await settled(placeholders)) {
        if (status === 'rejected' && !isFenced(reason)) throw reason
      }
    }
    await manager.streams.purge(SESSIONS_STREAM, { filter: LOG_PROBE, keep: 1 })
  }

  /** The last sequence that was given out, as far as nats-server knows. */
  async #last(): Promise<number> {
    return (await this.#deps.manager.streams.info(SESSIONS_STREAM)).state.last_seq
  }

  /**
   * The last sequence whose message is there. After a clean stop nats-server notes the last sequence apart from
   * the messages, so that it stays when their files are damaged. Deletions never take the last message.
   */
  async #lastReadable(last: number): Promise<number> {
    const { streams } = this.#deps.manager
    if (last === 0 || (await streams.getMessage(SESSIONS_STREAM, { seq: last })) !== null)
      return last
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

/** As `Promise.allSettled`, with a reason that can be read of each. */
async function settled(
  promises: readonly Promise<unknown>[],
): Promise<{ status: string; reason?: unknown }[]> {
  return Promise.allSettled(promises)
}
