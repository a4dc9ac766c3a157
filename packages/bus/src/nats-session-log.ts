import type { JetStreamClient, JetStreamManager, JsMsg, StoredMsg } from '@nats-io/jetstream'
import { PubHeaders } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
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
import type { AppendOptions, FollowItem, SessionLog } from './bus.ts'
import { decode, encode, envelopeHeaders } from './codec.ts'
import { followSession } from './follow.ts'
import { parseEntry, parseRepublished, parseStored } from './log-entries.ts'
import { isFenced, isFinal } from './nats-error.ts'
import { SessionHub } from './session-hub.ts'
import { ACK_WAIT_MS, INPUTS_CONSUMER, SESSIONS_STREAM } from './streams.ts'

/** Longer than a cluster's election after its leader died. */
const DEFAULT_PATIENCE_MS = 30_000
const BATCH = 500
/** A read that gets nothing for so long was lost with the connection. */
const READ_QUIET_MS = 2_000

export interface SessionLogDeps {
  readonly connection: NatsConnection
  readonly jetstream: JetStreamClient
  readonly manager: JetStreamManager
  readonly warn: (error: unknown, action: string) => void
}

/** The session logs on a JetStream stream. */
export class NatsSessionLog implements SessionLog {
  readonly #deps: SessionLogDeps
  readonly #hubs = new Map<SessionId, SessionHub>()

  constructor(deps: SessionLogDeps) {
    this.#deps = deps
  }

  async append(
    session: SessionId,
    { kind, fact }: LogFact,
    { envelope, messageId, fence, patienceMs = DEFAULT_PATIENCE_MS }: AppendOptions,
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
          if (winner?.msgID === msgID) return { seq: winner.seq, duplicate: true }
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

  async read(session: SessionId, after: number): Promise<LogEntry[]> {
    const entries: LogEntry[] = []
    for (let next = after + 1; ;) {
      const batch = await this.#patiently(() => this.#readBatch(sessionLogSubjects(session), next))
      for (const message of batch) entries.push(parseStored(message))
      const last = batch.at(-1)
      if (last === undefined || batch.length < BATCH) return entries
      next = last.seq + 1
    }
  }

  async lastSequence(session: SessionId): Promise<number> {
    return (await this.#last(sessionLogSubjects(session)))?.seq ?? 0
  }

  async lastTurnEvent(session: SessionId): Promise<LogEntry | undefined> {
    const message = await this.#last(factSubject(session, 'turn'))
    return message === null ? undefined : parseStored(message)
  }

  async *follow(
    session: SessionId,
    options: { after: number; deltas: boolean; signal: AbortSignal },
  ): AsyncIterable<FollowItem> {
    const hub = this.#hub(session)
    try {
      yield* followSession(hub, (after) => this.read(session, after), options)
    } finally {
      if (hub.isUnused) {
        hub[Symbol.dispose]()
        if (this.#hubs.get(session) === hub) this.#hubs.delete(session)
      }
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

  async consumeInputs(
    handler: (entry: LogEntry) => Promise<'done' | { retryMs: number }>,
  ): Promise<AsyncDisposable> {
    const consumer = await this.#deps.jetstream.consumers.get(SESSIONS_STREAM, INPUTS_CONSUMER)
    const messages = await consumer.consume({
      max_messages: 256,
      expires: 5_000,
      idle_heartbeat: 1_000,
      callback: (message) => void this.#handleInput(message, handler),
    })
    return {
      async [Symbol.asyncDispose]() {
        await messages.close()
      },
    }
  }

  async #handleInput(
    message: JsMsg,
    handler: (entry: LogEntry) => Promise<'done' | { retryMs: number }>,
  ): Promise<void> {
    let entry: LogEntry
    try {
      const { subject, seq, data, headers } = message
      const time = Math.floor(message.info.timestampNanos / 1e6)
      entry = parseEntry({ subject, seq, time, data, headers })
    } catch (error) {
      this.#deps.warn(error, 'read input')
      // It will never be readable: it must not come back for ever.
      return message.term('not readable')
    }
    const working = setInterval(() => message.working(), ACK_WAIT_MS / 3)
    try {
      const verdict = await handler(entry)
      if (verdict === 'done') message.ack()
      else message.nak(verdict.retryMs)
    } catch (error) {
      this.#deps.warn(error, 'handle input')
      message.nak(1_000)
    } finally {
      clearInterval(working)
    }
  }

  #hub(session: SessionId): SessionHub {
    const known = this.#hubs.get(session)
    if (known !== undefined) return known
    const { connection, warn } = this.#deps
    const hub = new SessionHub({
      listen: (onEntry) =>
        this.#subscribe(liveLogSubjects(session), (message) => {
          const { entry, previous } = parseRepublished(message)
          onEntry(entry, previous)
        }),
      listenDeltas: (onDelta) =>
        this.#subscribe(fillSubject(textDelta.subject, { session }), ({ data }) =>
          onDelta(decode(textDelta.payload, data, 'text delta')),
        ),
      read: (after) => this.read(session, after),
      last: () => this.lastSequence(session),
      warn: (error) => {
        if (!connection.isClosed()) warn(error, 'follow session')
      },
    })
    this.#hubs.set(session, hub)
    return hub
  }

  #subscribe(
    subject: string,
    onMessage: (message: Parameters<typeof parseRepublished>[0]) => void,
  ): Disposable {
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

  async #last(subject: string): Promise<StoredMsg | null> {
    const { direct } = this.#deps.manager
    return this.#patiently(() => direct.getMessage(SESSIONS_STREAM, { last_by_subj: subject }))
  }

  /** Looks again while the broker is away: it changes nothing. */
  async #patiently<T>(look: () => Promise<T>): Promise<T> {
    const giveUpAt = Date.now() + DEFAULT_PATIENCE_MS
    for (;;) {
      try {
        return await look()
      } catch (error) {
        const isHopeless = isFinal(error) || this.#deps.connection.isClosed()
        if (isHopeless || Date.now() >= giveUpAt) {
          throw new BusError('unavailable', 'the session log cannot be read; try again', {
            cause: error,
          })
        }
        await delay(200)
      }
    }
  }

  /** Asked of the stream's leader: replicas may lag. */
  async #firstAfter(
    subject: string,
    after: number,
  ): Promise<{ seq: number; msgID: string } | null> {
    const query = { seq: after + 1, next_by_subj: subject }
    const message = await this.#deps.manager.streams.getMessage(SESSIONS_STREAM, query)
    return message && { seq: message.seq, msgID: message.header.get(PubHeaders.MsgIdHdr) }
  }

  /** The callback form: the iterator form leaks its subscription. */
  async #readBatch(subjects: string, from: number): Promise<StoredMsg[]> {
    const messages: StoredMsg[] = []
    const ended = Promise.withResolvers<void>()
    const quiet = setTimeout(
      () => ended.reject(new Error('the session log does not answer')),
      READ_QUIET_MS,
    )
    const batch = await this.#deps.manager.direct.getBatch(SESSIONS_STREAM, {
      seq: from,
      next_by_subj: subjects,
      batch: BATCH,
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
