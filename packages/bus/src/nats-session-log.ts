import type { JetStreamClient, JetStreamManager, StoredMsg } from '@nats-io/jetstream'
import { PubHeaders } from '@nats-io/jetstream'
import type { Msg, NatsConnection } from '@nats-io/transport-node'
import type { LogEntry, LogFact, SessionId } from '@mcp-host/contracts'
import {
  BusError,
  factSubject,
  fillSubject,
  liveLogSubjects,
  LOG_FACTS,
  sessionLogSubjects,
  textDelta,
} from '@mcp-host/contracts'
import { setTimeout as delay } from 'node:timers/promises'
import type { z } from 'zod'
import type {
  AppendOptions,
  FollowItem,
  InputJobs,
  LogEnd,
  ReadOptions,
  SessionLog,
} from './bus.ts'
import { decode, encode, envelopeHeaders } from './codec.ts'
import type { InputHandler } from './consume-inputs.ts'
import { consumeInputs, handBack } from './consume-inputs.ts'
import { followSession } from './follow.ts'
import { parseRepublished, parseStored } from './log-entries.ts'
import { isFenced, isFinal } from './nats-error.ts'
import { patiently, PATIENCE_MS } from './patience.ts'
import { SessionHub } from './session-hub.ts'
import { SESSIONS_STREAM } from './streams.ts'

const BATCH = 500
/** A read that gets nothing for so long was lost with the connection. */
const READ_QUIET_MS = 2_000
/** How many sessions are remembered as told of in the log. */
const MAX_TOLD = 1_000

export interface SessionLogDeps {
  readonly connection: NatsConnection
  readonly jetstream: JetStreamClient
  readonly manager: JetStreamManager
  readonly warn: (error: unknown, action: string) => void
}

/** The session logs on a JetStream stream. */
export class NatsSessionLog implements SessionLog {
  readonly #deps: SessionLogDeps
  readonly #hubs = new Map<SessionId, SessionHub<StoredMsg>>()
  /** Sessions of which the log said that something in them cannot be read. */
  readonly #told = new Set<SessionId>()
  readonly #onUnreadable = (error: unknown, session: SessionId): void => {
    if (this.#told.has(session)) return
    if (this.#told.size >= MAX_TOLD) this.#told.clear()
    this.#told.add(session)
    this.#deps.warn(error, `read session ${session}`)
  }

  constructor(deps: SessionLogDeps) {
    this.#deps = deps
  }

  async append(
    session: SessionId,
    { kind, fact }: LogFact,
    { envelope, messageId, fence, patienceMs = PATIENCE_MS }: AppendOptions,
  ): Promise<{ seq: number; duplicate: boolean }> {
    const subject = factSubject(session, kind)
    const data = encode(LOG_FACTS[kind].payload as z.ZodType, fact, kind)
    // The broker remembers ids per stream, not per session.
    const msgID = `${session}:${messageId}`
    const giveUpAt = Date.now() + patienceMs
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#deps.jetstream.publish(subject, data, {
          msgID,
          headers: envelopeHeaders(envelope),
          timeout: Math.min(2_000, Math.max(100, giveUpAt - Date.now())),
          ...(fence === undefined ? {} : { expect: { lastSubjectSequence: fence } }),
        })
      } catch (error) {
        if (fence !== undefined && isFenced(error)) {
          // The broker looks at the fence before the id: the append may be our own, sent again.
          const winner = await this.#firstAfter(subject, fence).catch(() => null)
          if (winner?.header.get(PubHeaders.MsgIdHdr) === msgID) {
            return { seq: winner.seq, duplicate: true }
          }
          if (winner !== null) {
            throw new BusError('conflict', `${subject}: passed by another writer`, { cause: error })
          }
        } else if (isFinal(error)) {
          throw new BusError('invalid', `${kind}: the broker refuses it`, { cause: error })
        }
        const pauseMs = Math.min(1_000, 50 * 2 ** attempt)
        if (Date.now() + pauseMs >= giveUpAt || this.#deps.connection.isClosed()) {
          const message = 'the session log cannot be reached; try again'
          throw new BusError('unavailable', message, { cause: error })
        }
        await delay(pauseMs)
      }
    }
  }

  async read(session: SessionId, after: number, options: ReadOptions = {}): Promise<LogEntry[]> {
    const { through = 0, limit = Infinity, until = Infinity } = options
    const subjects = sessionLogSubjects(session)
    const entries: LogEntry[] = []
    let last = after
    /** Whether more is wanted. */
    const take = (message: StoredMsg): boolean => {
      last = message.seq
      if (last > until) return false
      const entry = parseStored(message, this.#onUnreadable)
      if (entry !== undefined) entries.push(entry)
      return entries.length < limit
    }
    for (let hasMore = limit > 0; hasMore;) {
      const from = last + 1
      const size = Math.min(BATCH, limit - entries.length)
      const batch = await this.#patiently(() => this.#readBatch(subjects, from, size))
      // A batch of large messages ends before it is full.
      hasMore = batch.every(take) && (batch.at(-1)?.pending ?? 0) > 0
    }
    // What a replica that lags did not show yet, the leader has.
    while (last < Math.min(through, until) && entries.length < limit) {
      const next = await this.#patiently(() => this.#firstAfter(subjects, last))
      if (next === null || !take(next)) break
    }
    return entries
  }

  async lastSequence(session: SessionId): Promise<number> {
    return (await this.#last(sessionLogSubjects(session)))?.seq ?? 0
  }

  async end(session: SessionId): Promise<LogEnd> {
    return this.#endAt(session, await this.#last(sessionLogSubjects(session)))
  }

  async listen(session: SessionId): Promise<LogEnd & Disposable> {
    const isListening = this.#hubs.has(session)
    const hub = this.#hub(session)
    const held = hub.hold()
    const stop = (): void => {
      held[Symbol.dispose]()
      this.#tidy(session, hub)
    }
    try {
      // A hub may have missed what is new; one that begins has just asked.
      const last = isListening ? await this.#last(sessionLogSubjects(session)) : await hub.opened()
      return { ...(await this.#endAt(session, last)), [Symbol.dispose]: stop }
    } catch (error) {
      stop()
      throw error
    }
  }

  async purge(session: SessionId): Promise<void> {
    const filter = sessionLogSubjects(session)
    await this.#patiently(() => this.#deps.manager.streams.purge(SESSIONS_STREAM, { filter }))
  }

  async *follow(
    session: SessionId,
    options: { after: number; deltas: boolean; signal: AbortSignal },
  ): AsyncIterable<FollowItem> {
    const hub = this.#hub(session)
    try {
      yield* followSession(hub, (after, page) => this.read(session, after, page), options)
    } finally {
      this.#tidy(session, hub)
    }
  }

  /** The connection broke: from here on anything may be missed. */
  interrupted(): void {
    for (const hub of this.#hubs.values()) hub.interrupted()
  }

  /** The connection is back. */
  checkAll(): void {
    for (const hub of this.#hubs.values()) hub.check()
  }

  consumeInputs(handler: InputHandler): Promise<InputJobs> {
    return consumeInputs({ ...this.#deps, onUnreadable: this.#onUnreadable }, handler)
  }

  handBack(job: string): void {
    handBack(this.#deps.connection, job)
  }

  #hub(session: SessionId): SessionHub<StoredMsg> {
    const known = this.#hubs.get(session)
    if (known !== undefined) return known
    const { connection, warn } = this.#deps
    const hub = new SessionHub({
      listen: (onEntry) =>
        this.#subscribe(liveLogSubjects(session), (message) => {
          const live = parseRepublished(message, this.#onUnreadable)
          if (live !== undefined) onEntry(live.entry, live.previous)
        }),
      listenDeltas: (onDelta) =>
        this.#subscribe(fillSubject(textDelta.subject, { session }), ({ data }) =>
          onDelta(decode(textDelta.payload, data, 'text delta')),
        ),
      read: (after, through) => this.read(session, after, { through }),
      last: () => this.#last(sessionLogSubjects(session)),
      warn: (error) => {
        if (!connection.isClosed()) warn(error, 'follow session')
      },
    })
    this.#hubs.set(session, hub)
    return hub
  }

  #tidy(session: SessionId, hub: SessionHub<StoredMsg>): void {
    if (!hub.isUnused) return
    hub[Symbol.dispose]()
    if (this.#hubs.get(session) === hub) this.#hubs.delete(session)
  }

  /** With the last message of the log, which mostly is a step of a turn itself. */
  async #endAt(session: SessionId, last: StoredMsg | null): Promise<LogEnd> {
    const subject = factSubject(session, 'turn')
    const step = last === null || last.subject === subject ? last : await this.#last(subject)
    const turnEvent = step === null ? undefined : parseStored(step, this.#onUnreadable)
    return { seq: last?.seq ?? 0, turnEvent }
  }

  #subscribe(subject: string, onMessage: (message: Msg) => void): Disposable {
    const subscription = this.#deps.connection.subscribe(subject, {
      callback: (error, message) => {
        try {
          if (error !== null) throw error
          onMessage(message)
        } catch (cause) {
          // What was sent wrongly is left out; the stream goes on.
          this.#deps.warn(cause, `read ${subject}`)
        }
      },
    })
    return { [Symbol.dispose]: () => subscription.unsubscribe() }
  }

  /** Asked of the stream's leader, as replicas may lag. */
  #last(subject: string): Promise<StoredMsg | null> {
    const query = { last_by_subj: subject }
    return this.#patiently(() => this.#deps.manager.streams.getMessage(SESSIONS_STREAM, query))
  }

  /** Asked of the stream's leader too. */
  #firstAfter(subjects: string, after: number): Promise<StoredMsg | null> {
    const query = { seq: after + 1, next_by_subj: subjects }
    return this.#deps.manager.streams.getMessage(SESSIONS_STREAM, query)
  }

  #patiently<T>(act: () => Promise<T>): Promise<T> {
    return patiently(act, {
      connection: this.#deps.connection,
      isHopeless: isFinal,
      report: (cause) =>
        new BusError('unavailable', 'the session log cannot be read; try again', { cause }),
    })
  }

  /** The callback form: the iterator form leaks its subscription. */
  async #readBatch(subjects: string, from: number, size: number): Promise<StoredMsg[]> {
    const messages: StoredMsg[] = []
    const ended = Promise.withResolvers<void>()
    const quiet = setTimeout(
      () => ended.reject(new Error('the session log does not answer')),
      READ_QUIET_MS,
    )
    const batch = await this.#deps.manager.direct.getBatch(SESSIONS_STREAM, {
      seq: from,
      next_by_subj: subjects,
      batch: size,
      callback: (done, message) => {
        if (done === null) {
          messages.push(message)
          quiet.refresh()
        } else if (done.err === undefined || isNoMessage(done.err)) ended.resolve()
        else ended.reject(done.err)
      },
    })
    try {
      await ended.promise
      return messages
    } finally {
      clearTimeout(quiet)
      // Ends its subscription also when the batch broke off half-way.
      batch.stop()
    }
  }
}

function isNoMessage(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 404
}
