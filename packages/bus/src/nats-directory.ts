import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream'
import { PubHeaders } from '@nats-io/jetstream'
import type { KV } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import type { SessionId } from '@mcp-host/contracts'
import { BusError, SessionRecord } from '@mcp-host/contracts'
import { isEndMark, keySubject, lastOfKey, wholeSeconds } from './bucket-key.ts'
import { watchBucket } from './bucket-watch.ts'
import type { DirectoryView, PutRecordOptions, SessionDirectory } from './bus.ts'
import { decode, encode } from './codec.ts'
import { isFenced, isFinal } from './nats-error.ts'
import { retryWhileUnavailable } from './retry-while-unavailable.ts'
import { EXPIRY_NOTICE_MS } from './streams.ts'

export const DIRECTORY_BUCKET = 'SESSIONS'

export interface DirectoryDeps {
  readonly connection: NatsConnection
  readonly bucket: KV
  readonly jetstream: JetStreamClient
  readonly manager: JetStreamManager
  readonly warn: (error: unknown, action: string) => void
}

/** The records of all sessions in a key-value bucket. */
export class NatsDirectory implements SessionDirectory {
  readonly #deps: DirectoryDeps

  constructor(deps: DirectoryDeps) {
    this.#deps = deps
  }

  async get(session: SessionId): Promise<{ record: SessionRecord; revision: number } | undefined> {
    const message = await this.#retryWhileUnavailable(() => this.#last(session))
    if (message === null || isEndMark(message)) return undefined
    const record = decode(SessionRecord, message.data, `record of ${session}`)
    return { record, revision: message.seq }
  }

  async put(record: SessionRecord, { revision, ttlMs }: PutRecordOptions = {}): Promise<number> {
    const subject = keySubject(DIRECTORY_BUCKET, record.id)
    const data = encode(SessionRecord, record, 'session record')
    const msgID = crypto.randomUUID()
    const publish = async (after: number | undefined): Promise<number> => {
      const { seq } = await this.#deps.jetstream.publish(subject, data, {
        msgID,
        timeout: 2_000,
        ...(after === undefined ? {} : { expect: { lastSubjectSequence: after } }),
        ...(ttlMs === undefined ? {} : { ttl: wholeSeconds(ttlMs) }),
      })
      return seq
    }
    return this.#retryWhileUnavailable(async () => {
      try {
        return await publish(revision)
      } catch (error) {
        if (!isFenced(error)) throw error
        const last = await this.#last(record.id)
        // The own write, whose answer was lost.
        if (last?.header.get(PubHeaders.MsgIdHdr) === msgID) return last.seq
        // The mark of one that is gone stands where there is none.
        if (revision === 0 && last !== null && isEndMark(last)) return publish(last.seq)
        throw error
      }
    })
  }

  async remove(session: SessionId): Promise<void> {
    // Otherwise the delete marker stays without limit.
    const options = { ttl: wholeSeconds(EXPIRY_NOTICE_MS) }
    await this.#retryWhileUnavailable(() => this.#deps.bucket.purge(session, options))
  }

  async watch(): Promise<DirectoryView> {
    const { bucket, warn } = this.#deps
    const records = new Map<SessionId, SessionRecord>()
    await watchBucket(bucket, {
      what: 'session records',
      warn,
      put: ({ key, value }) => {
        const record = decode(SessionRecord, value, `record of ${key}`)
        records.set(record.id, record)
      },
      end: (key) => void records.delete(key as SessionId),
    })
    return { records }
  }

  #last(session: SessionId) {
    return lastOfKey(this.#deps.manager, DIRECTORY_BUCKET, session)
  }

  #retryWhileUnavailable<T>(act: () => Promise<T>): Promise<T> {
    return retryWhileUnavailable(act, {
      connection: this.#deps.connection,
      isHopeless: (error) => isFenced(error) || isFinal(error),
      report: (cause) =>
        isFenced(cause)
          ? new BusError('conflict', 'another wrote the record of the session; read it again', {
              cause,
            })
          : new BusError(
              'unavailable',
              'the records of the sessions cannot be reached; try again',
              {
                cause,
              },
            ),
    })
  }
}
