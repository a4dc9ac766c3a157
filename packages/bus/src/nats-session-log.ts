import type { DirectMsgRequest, MsgRequest, StoredMsg } from '@nats-io/jetstream'
import { PubHeaders } from '@nats-io/jetstream'
import type { LogEntry, LogFact, LostRange, SessionId } from '@mcp-host/contracts'
import {
  ALL_LOGS,
  BusError,
  factSubject,
  fillSubject,
  liveLogSubjects,
  liveSubjects,
  LOG_FACTS,
  LOG_PROBE,
  sessionLogSubjects,
  shardOf,
  textDelta,
  toolProgress,
} from '@mcp-host/contracts'
import { setTimeout as delay } from 'node:timers/promises'
import type { z } from 'zod'
import { type Broker, isLiveEvent, subscribe } from './broker.ts'
import type {
  AppendOptions,
  FollowItem,
  InputJobs,
  LogCounts,
  LogEnd,
  ReadOptions,
  SessionLog,
  Storage,
} from './bus.ts'
import { decode, encodeWellFormed, envelopeHeaders } from './codec.ts'
import type { InputHandler } from './consume-inputs.ts'
import { consumeInputs, handBack } from './consume-inputs.ts'
import type { DirectQuery } from './direct-get.ts'
import { directGet } from './direct-get.ts'
import { followSession } from './follow.ts'
import { parseRepublished, parseStored } from './log-entries.ts'
import { isFenced, isFinal, toBusError } from './nats-error.ts'
import { wasLost } from './log-end.ts'
import type { NatsLogHead } from './nats-log-head.ts'
import { retryWhileUnavailable, PATIENCE_MS } from './retry-while-unavailable.ts'
import type { ReplyInbox } from './reply-inbox.ts'
import { SessionHub } from './session-hub.ts'
import { INPUTS_CONSUMER, SESSIONS_STREAM } from './streams.ts'

const BATCH = 500
/**
 * Up to this number of entries is read one by one when the end is known. For a batch, the broker counts the remaining
 * messages, which visits the later entries of all sessions.
 */
const SINGLE_READS = 3
/** The time limit of one wait for the check of the log after an outage. */
const HEAD_CHECK_MS = 2_000
/** Limit for the sessions whose faults were logged, which are remembered so that each is logged once. */
const MAX_LOGGED = 1_000

export interface SessionLogDeps extends Broker {
  readonly inbox: ReplyInbox
  readonly storage: Pick<Storage, 'fault' | 'checkRoom'>
  readonly head: NatsLogHead
}

/** The session logs on a JetStream stream. */
export class NatsSessionLog implements SessionLog {
  readonly #deps: SessionLogDeps
  /** Hubs by the subject of their subscription. */
  readonly #hubs = new Map<string, SessionHub<StoredMsg>>()
  /** Sessions with unreadable entries that were logged. */
  readonly #logged = new Set<SessionId>()
  readonly #onUnreadable = (error: unknown, session: SessionId): void => {
    if (this.#logged.has(session)) return
    if (this.#logged.size >= MAX_LOGGED) this.#logged.clear()
    this.#logged.add(session)
    this.#deps.warn(error, `read session ${session}`)
  }

  constructor(deps: SessionLogDeps) {
    this.#deps = deps
  }

  get lostRanges(): readonly LostRange[] {
    return this.#deps.head.lost
  }

  async append(
    session: SessionId,
    { kind, fact }: LogFact,
    { envelope, messageId, fence, patienceMs = PATIENCE_MS }: AppendOptions,
  ): Promise<{ seq: number; duplicate: boolean }> {
    const subject = factSubject(session, kind)
    const data = encodeWellFormed(LOG_FACTS[kind].payload as z.ZodType, fact, kind)
    // The broker remembers ids per stream, not per session.
    const msgID = `${session}:${messageId}`
    const giveUpAt = Date.now() + patienceMs
    const { head } = this.#deps
    for (let attempt = 0; ; attempt++) {
      try {
        await this.#headChecked(giveUpAt - Date.now())
        const stored = await this.#deps.jetstream.publish(subject, data, {
          msgID,
          headers: envelopeHeaders(envelope),
          timeout: Math.min(2_000, Math.max(100, giveUpAt - Date.now())),
          ...(fence === undefined ? {} : { expect: { lastSubjectSequence: fence } }),
        })
        head.note(stored.seq)
        return stored
      } catch (error) {
        if (fence !== undefined && isFenced(error)) {
          // The broker checks the fence before the id, so the conflicting append may be this one, repeated.
          const rival = { seq: fence + 1, next_by_subj: subject }
          const winner = await this.#newest(rival).catch(() => null)
          if (winner?.header.get(PubHeaders.MsgIdHdr) === msgID) {
            return { seq: winner.seq, duplicate: true }
          }
          if (winner !== null) {
            throw new BusError('conflict', 'passed by another writer', { cause: error })
          }
        } else if (isFinal(error)) {
          throw new BusError('invalid', `${kind}: the broker refuses it`, { cause: error })
        }
        const pauseMs = Math.min(1_000, 50 * 2 ** attempt)
        if (Date.now() + pauseMs >= giveUpAt || this.#deps.connection.isClosed()) {
          const fault = this.#deps.storage.fault()
          const message = fault ?? 'the session log cannot be reached; try again'
          throw new BusError('unavailable', message, { cause: error })
        }
        await delay(pauseMs)
      }
    }
  }

  async read(session: SessionId, after: number, options: ReadOptions = {}): Promise<LogEntry[]> {
    const { through, limit = Infinity, until = Infinity } = options
    const end = Math.min(until, through ?? Infinity)
    const entries: LogEntry[] = []
    let last = after
    let isIncomplete = limit > 0 && last < end
    const next = () => ({ seq: last + 1, next_by_subj: sessionLogSubjects(session) })
    const take = (message: StoredMsg): boolean => {
      last = message.seq
      this.#deps.head.note(last)
      if (last > until) return false
      const entry = parseStored(message, this.#onUnreadable)
      if (entry !== undefined) entries.push(entry)
      return entries.length < limit && last < end
    }
    const singleReads = through === undefined ? 0 : SINGLE_READS
    for (let count = 0; isIncomplete && count < singleReads; count++) {
      const [message] = await this.#retryWhileUnavailable(() => this.#direct(next()))
      if (message === undefined) break
      isIncomplete = take(message)
    }
    for (let hasMore = isIncomplete; hasMore;) {
      const batch = Math.min(BATCH, limit - entries.length)
      const messages = await this.#retryWhileUnavailable(() => this.#direct({ ...next(), batch }))
      isIncomplete = messages.every(take)
      // A batch of large messages ends before it is full.
      hasMore = isIncomplete && (messages.at(-1)?.pending ?? 0) > 0
    }
    // The leader has entries that a lagging replica does not show.
    while (isIncomplete && through !== undefined) {
      const message = await this.#retryWhileUnavailable(() => this.#newest(next()))
      if (message === null) break
      isIncomplete = take(message)
    }
    return entries
  }

  async lastSequence(session: SessionId): Promise<number> {
    return (await this.#last(sessionLogSubjects(session)))?.seq ?? 0
  }

  async isDeleted(session: SessionId): Promise<boolean> {
    const last = await this.#last(factSubject(session, 'control'))
    const entry = last === null ? undefined : parseStored(last, this.#onUnreadable)
    return entry?.kind === 'control' && entry.fact.type === 'session-deleted'
  }

  async end(session: SessionId): Promise<LogEnd> {
    return this.#endAt(session, await this.#last(sessionLogSubjects(session)))
  }

  async listen(session: SessionId): Promise<LogEnd & Disposable> {
    const subject = liveSubjects(session)
    const isListening = this.#hubs.has(subject)
    const hub = this.#hub(session, subject)
    const held = hub.hold()
    const stop = (): void => {
      held[Symbol.dispose]()
      this.#tidy(subject, hub)
    }
    try {
      // A hub that existed already may have missed the latest entries.
      const last = isListening ? await this.#last(sessionLogSubjects(session)) : await hub.opened()
      return { ...(await this.#endAt(session, last)), [Symbol.dispose]: stop }
    } catch (error) {
      stop()
      throw error
    }
  }

  async purge(session: SessionId): Promise<void> {
    const { jetstream, manager } = this.#deps
    const filter = sessionLogSubjects(session)
    await this.#retryWhileUnavailable(async () => {
      await this.#headChecked(HEAD_CHECK_MS)
      // The last message of the stream is kept, since its absence would count as a loss by damaged data.
      const { seq } = await jetstream.publish(LOG_PROBE, new Uint8Array())
      await manager.streams.purge(SESSIONS_STREAM, { filter, seq })
      await manager.streams.purge(SESSIONS_STREAM, { filter: LOG_PROBE, keep: 1 })
    })
  }

  async counts(): Promise<LogCounts> {
    const { manager } = this.#deps
    const { state } = await this.#retryWhileUnavailable(() =>
      manager.streams.info(SESSIONS_STREAM, { subjects_filter: ALL_LOGS }),
    )
    const counts = new Map<SessionId, number>()
    let sum = 0
    for (const [subject, count] of Object.entries(state.subjects ?? {})) {
      const session = subject.split('.')[2] as SessionId | undefined
      sum += count
      if (session !== undefined) counts.set(session, (counts.get(session) ?? 0) + count)
    }
    // Entries stored between two pages of the answer are only included in the sum.
    return { counts, isReliable: sum <= state.messages, lost: this.#deps.head.lost }
  }

  async *follow(
    session: SessionId,
    options: { after: number; deltas: boolean; signal: AbortSignal },
  ): AsyncIterable<FollowItem> {
    const subject = options.deltas ? liveSubjects(session) : liveLogSubjects(session)
    const hub = this.#hub(session, subject)
    try {
      yield* followSession(hub, (after, page) => this.read(session, after, page), options)
    } finally {
      this.#tidy(subject, hub)
    }
  }

  /** Called when the connection breaks. */
  interrupted(): void {
    for (const hub of this.#hubs.values()) hub.interrupted()
  }

  /** Called when the connection is back. */
  checkAll(): void {
    for (const hub of this.#hubs.values()) hub.check()
  }

  consumeInputs(handler: InputHandler): Promise<InputJobs> {
    return consumeInputs({ ...this.#deps, onUnreadable: this.#onUnreadable }, handler)
  }

  async unfinishedInputs(): Promise<number> {
    try {
      const { manager } = this.#deps
      const info = await manager.consumers.info(SESSIONS_STREAM, INPUTS_CONSUMER)
      return info.num_pending + info.num_ack_pending
    } catch (error) {
      throw toBusError(error, 'broker')
    }
  }

  handBack(job: string): void {
    handBack(this.#deps.connection, job)
  }

  #hub(session: SessionId, subject: string): SessionHub<StoredMsg> {
    const known = this.#hubs.get(subject)
    if (known !== undefined) return known
    const { connection, warn } = this.#deps
    const params = { session, shard: shardOf(session) }
    const text = fillSubject(textDelta.subject, params)
    const progress = fillSubject(toolProgress.subject, params)
    const hub = new SessionHub({
      listen: (onEntry, onDelta, onProgress) =>
        subscribe(this.#deps, subject, `read ${subject}`, (message) => {
          const isEvent = isLiveEvent(message)
          if (isEvent && message.subject === text) {
            return onDelta(decode(textDelta.payload, message.data, 'text delta'))
          }
          if (isEvent && message.subject === progress) {
            return onProgress(decode(toolProgress.payload, message.data, 'tool progress'))
          }
          const live = parseRepublished(message, this.#onUnreadable)
          if (live === undefined) return
          // The head notes the sequence, since clients see it. It must not be reused even if its writer dies before
          // noting it.
          this.#deps.head.note(live.entry.seq)
          onEntry(live.entry, live.previous)
        }),
      read: (after, through) => this.read(session, after, { through }),
      last: () => this.#last(sessionLogSubjects(session)),
      isLost: (seq) => wasLost(this.#deps.head.lost, seq),
      warn: (error) => {
        if (!connection.isClosed()) warn(error, 'follow session')
      },
    })
    this.#hubs.set(subject, hub)
    return hub
  }

  #tidy(subject: string, hub: SessionHub<StoredMsg>): void {
    if (!hub.isUnused) return
    hub[Symbol.dispose]()
    if (this.#hubs.get(subject) === hub) this.#hubs.delete(subject)
  }

  /** The end of a log. `last`: its last message, usually a turn event itself. */
  async #endAt(session: SessionId, last: StoredMsg | null): Promise<LogEnd> {
    const subject = factSubject(session, 'turn')
    const turn = last === null || last.subject === subject ? last : await this.#last(subject)
    const turnEvent = turn === null ? undefined : parseStored(turn, this.#onUnreadable)
    const { lost } = this.#deps.head
    return { seq: last?.seq ?? 0, turnEvent, ...(lost.length > 0 ? { lost } : {}) }
  }

  #last(subject: string): Promise<StoredMsg | null> {
    return this.#retryWhileUnavailable(async () => {
      // Until this check, later entries may hide the loss of an end.
      await this.#headChecked(HEAD_CHECK_MS)
      return this.#newest({ last_by_subj: subject })
    })
  }

  async #headChecked(limitMs: number): Promise<void> {
    const { head } = this.#deps
    if (head.isPending && !(await head.checked(limitMs))) {
      throw new BusError('unavailable', 'the session log is being checked; try again')
    }
  }

  /** Reads the newest message. In a cluster the stream's leader is asked, since replicas may lag; that costs more. */
  async #newest(query: DirectMsgRequest & MsgRequest): Promise<StoredMsg | null> {
    const { info } = this.#deps.connection
    // The next server is unknown during a reconnect.
    if (info === undefined || info.cluster !== undefined) {
      return this.#deps.manager.streams.getMessage(SESSIONS_STREAM, query)
    }
    const [found] = await this.#direct(query)
    return found ?? null
  }

  #retryWhileUnavailable<T>(act: () => Promise<T>): Promise<T> {
    const message = 'the session log cannot be read; try again'
    return retryWhileUnavailable(act, { connection: this.#deps.connection, message })
  }

  #direct(query: DirectQuery): Promise<StoredMsg[]> {
    return directGet(this.#deps, SESSIONS_STREAM, query)
  }
}
