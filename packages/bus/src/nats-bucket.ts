import { PubHeaders } from '@nats-io/jetstream'
import type { BucketDefinition } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'
import { isEndMark, keySubject, lastOfKey, removeKey, wholeSeconds } from './bucket-key.ts'
import type { BucketWatchDeps } from './bucket-watch.ts'
import { watchBucket } from './bucket-watch.ts'
import type { Bucket, BucketRecord, BucketView, Clock, PutRecordOptions } from './bus.ts'
import { ChangeEmitter } from './change-emitter.ts'
import { decode, encode } from './codec.ts'
import { isFenced } from './nats-error.ts'
import { retryWhileUnavailable } from './retry-while-unavailable.ts'

const PUBLISH_LIMIT_MS = 2_000

export interface BucketDeps extends BucketWatchDeps {
  readonly clock: Clock
}

/** Records of one kind in a key-value bucket. */
export class NatsBucket<T> implements Bucket<T> {
  readonly #deps: BucketDeps
  readonly #definition: BucketDefinition<T>

  constructor(deps: BucketDeps, definition: BucketDefinition<T>) {
    this.#deps = deps
    this.#definition = definition
  }

  now(): number {
    return this.#deps.clock.now()
  }

  async get(key: string): Promise<BucketRecord<T> | undefined> {
    const message = await this.#retry(() => this.#last(key))
    if (message === null || isEndMark(message)) return undefined
    return { record: this.#decode(key, message.data), revision: message.seq }
  }

  async put(key: string, record: T, { revision, ttlMs }: PutRecordOptions = {}): Promise<number> {
    const { name, what, record: schema } = this.#definition
    const subject = keySubject(name, key)
    const data = encode(schema, record, what)
    const msgID = crypto.randomUUID()
    const publish = async (after: number | undefined): Promise<number> => {
      const { seq } = await this.#deps.jetstream.publish(subject, data, {
        msgID,
        timeout: PUBLISH_LIMIT_MS,
        ...(after === undefined ? {} : { expect: { lastSubjectSequence: after } }),
        ...(ttlMs === undefined ? {} : { ttl: wholeSeconds(ttlMs) }),
      })
      return seq
    }
    return this.#retry(async () => {
      try {
        return await publish(revision)
      } catch (error) {
        if (!isFenced(error)) throw error
        const last = await this.#last(key)
        // The last message is this write, whose ack was lost.
        if (last?.header.get(PubHeaders.MsgIdHdr) === msgID) return last.seq
        // A deleted key leaves a mark, which counts as absent.
        if (revision === 0 && last !== null && isEndMark(last)) return publish(last.seq)
        throw error
      }
    })
  }

  async remove(key: string, revision?: number): Promise<void> {
    const { jetstream } = this.#deps
    await this.#retry(() => removeKey(jetstream, this.#definition.name, key, { revision }))
  }

  async watch(): Promise<BucketView<T>> {
    const records = new Map<string, T>()
    const changes = new ChangeEmitter()
    await watchBucket(this.#deps, this.#definition.name, {
      what: this.#definition.what,
      put: ({ key, value }) => {
        records.set(key, this.#decode(key, value))
        changes.call()
      },
      end: (key) => {
        if (records.delete(key)) changes.call()
      },
    })
    return { records, onChange: (listener) => changes.add(listener) }
  }

  #last(key: string) {
    return lastOfKey(this.#deps.manager, this.#definition.name, key)
  }

  #decode(key: string, data: Uint8Array): T {
    return decode(this.#definition.record, data, `${this.#definition.what}, ${key}`)
  }

  #retry<R>(act: () => Promise<R>): Promise<R> {
    const { what } = this.#definition
    return retryWhileUnavailable(act, {
      connection: this.#deps.connection,
      message: `${what}: cannot be reached; try again`,
      report: (cause) =>
        isFenced(cause)
          ? new BusError('conflict', `${what}: changed by another process; read again`, { cause })
          : undefined,
    })
  }
}
