import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream'
import { JetStreamApiError } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { ALL_AUDIT, auditSubject, auditWriter, BusError } from '@mcp-host/contracts'
import { packLines, unpackLines } from './audit-lines.ts'
import type { AuditMessage, AuditState, AuditStream } from './bus.ts'
import type { DirectQuery } from './direct-get.ts'
import { directGet } from './direct-get.ts'
import { isFenced, toBusError } from './nats-error.ts'
import type { ReplyInbox } from './reply-inbox.ts'
import { retryWhileUnavailable } from './retry-while-unavailable.ts'
import { AUDIT_STREAM, ensureAudit } from './streams.ts'

const PUBLISH_LIMIT_MS = 2_000
const BATCH = 500
/** Less, since readers of the newest entries seldom read on. */
const BACK_BATCH = 100
/** JetStream's code for a stream that does not exist. */
const NO_STREAM = 10059

export interface AuditDeps {
  readonly connection: NatsConnection
  readonly jetstream: JetStreamClient
  readonly manager: JetStreamManager
  readonly inbox: ReplyInbox
  readonly api?: string
  readonly replicas: number
  /** Whether this process may create streams. */
  readonly isOwner: boolean
}

/** The audit log on a JetStream stream. */
export class NatsAudit implements AuditStream {
  readonly #deps: AuditDeps
  /** The last sequence of each writer of this process. It fences appends, so that a repeated append is stored once. */
  readonly #last = new Map<string, number>()

  constructor(deps: AuditDeps) {
    this.#deps = deps
  }

  async open({ maxAgeMs }: { readonly maxAgeMs: number }): Promise<void> {
    const { manager, replicas, isOwner } = this.#deps
    // Other processes expect that it was created, with its limit, before the services start.
    if (!isOwner) return
    try {
      await ensureAudit(manager, { replicas, maxAgeMs })
    } catch (error) {
      throw toBusError(error, 'broker')
    }
  }

  async append(writer: string, entries: readonly string[]): Promise<void> {
    const subject = auditSubject(writer)
    const data = packLines(entries)
    try {
      const { seq } = await this.#deps.jetstream.publish(subject, data, {
        expect: { lastSubjectSequence: this.#last.get(writer) ?? 0 },
        timeout: PUBLISH_LIMIT_MS,
      })
      this.#last.set(writer, seq)
    } catch (error) {
      if (isFenced(error) && (await this.#isStored(writer, data))) return
      throw new BusError('unavailable', 'the audit log cannot be written', { cause: error })
    }
  }

  async state(): Promise<AuditState | undefined> {
    try {
      const { created, config, state } = await this.#retry(() =>
        this.#deps.manager.streams.info(AUDIT_STREAM),
      )
      const maxAgeMs = config.max_age / 1e6
      return { messages: state.messages, createdAt: Date.parse(created), maxAgeMs }
    } catch (error) {
      const { cause } = BusError.from(error)
      if (cause instanceof JetStreamApiError && cause.code === NO_STREAM) return undefined
      throw error
    }
  }

  async *read({
    since,
    from: first = 1,
  }: {
    readonly since?: Date | undefined
    readonly from?: number
  } = {}): AsyncIterable<AuditMessage> {
    const from = since === undefined ? { seq: first } : { start_time: since.toISOString() }
    // The client's type lacks the time.
    let query = { next_by_subj: ALL_AUDIT, batch: BATCH, ...from } as DirectQuery
    for (let hasMore = true; hasMore;) {
      const messages = await this.#retry(() => directGet(this.#deps, AUDIT_STREAM, query))
      for (const { seq, subject, data } of messages) {
        yield { seq, writer: auditWriter(subject), entries: unpackLines(data) }
      }
      const last = messages.at(-1)
      hasMore = (last?.pending ?? 0) > 0
      query = { next_by_subj: ALL_AUDIT, batch: BATCH, seq: (last?.seq ?? 0) + 1 }
    }
  }

  async *readBack({
    since,
    from,
  }: {
    readonly since?: Date | undefined
    readonly from?: number | undefined
  } = {}): AsyncIterable<AuditMessage> {
    let end = from ?? (await this.#newest())
    while (end > 0) {
      // No message between two others is ever deleted, so this finds every one of the block.
      const start = Math.max(1, end - BACK_BATCH + 1)
      const query = { next_by_subj: ALL_AUDIT, batch: BACK_BATCH, seq: start }
      const found = await this.#retry(() => directGet(this.#deps, AUDIT_STREAM, query))
      const block = found.filter(({ seq }) => seq <= end).toReversed()
      for (const { seq, subject, data, time } of block) {
        if (since !== undefined && time < since) return
        yield { seq, writer: auditWriter(subject), entries: unpackLines(data) }
      }
      // The messages before have expired.
      if (block.length === 0) return
      end = start - 1
    }
  }

  /** The sequence of the newest message; 0 when there is none. */
  async #newest(): Promise<number> {
    const query = { last_by_subj: ALL_AUDIT }
    const [last] = await this.#retry(() => directGet(this.#deps, AUDIT_STREAM, query))
    return last?.seq ?? 0
  }

  /** Whether the writer's last message is this one, whose ack was lost. Also updates the last known sequence. */
  async #isStored(writer: string, data: Buffer): Promise<boolean> {
    const query = { last_by_subj: auditSubject(writer) }
    // The request has its own subject, since a writer may not read the entries of others.
    const last = await this.#deps.manager.direct
      .getMessage(AUDIT_STREAM, query)
      // The append fails, and the next one checks again. A lagging replica has the same effect.
      .catch(() => undefined)
    if (last === undefined) return false
    this.#last.set(writer, last?.seq ?? 0)
    return last !== null && data.equals(last.data)
  }

  #retry<T>(act: () => Promise<T>): Promise<T> {
    return retryWhileUnavailable(act, {
      connection: this.#deps.connection,
      message: 'the audit log cannot be read; try again',
    })
  }
}
