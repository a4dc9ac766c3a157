import type { SessionId } from '@mcp-host/contracts'
import { defineBucket, SessionRecord } from '@mcp-host/contracts'
import type { DirectoryView, PutRecordOptions, SessionDirectory } from './bus.ts'
import type { BucketDeps } from './nats-bucket.ts'
import { NatsBucket } from './nats-bucket.ts'

export const DIRECTORY_BUCKET = 'SESSIONS'

const sessionRecords = defineBucket(DIRECTORY_BUCKET, {
  record: SessionRecord,
  what: 'the records of the sessions',
})

/** The records of all sessions in a key-value bucket. */
export class NatsDirectory implements SessionDirectory {
  readonly #bucket: NatsBucket<SessionRecord>

  constructor(deps: BucketDeps) {
    this.#bucket = new NatsBucket(deps, sessionRecords)
  }

  get(session: SessionId): ReturnType<SessionDirectory['get']> {
    return this.#bucket.get(session)
  }

  put(record: SessionRecord, options?: PutRecordOptions): Promise<number> {
    return this.#bucket.put(record.id, record, options)
  }

  remove(session: SessionId): Promise<void> {
    return this.#bucket.remove(session)
  }

  async watch(): Promise<DirectoryView> {
    const { records } = await this.#bucket.watch()
    // Every record is stored under its id.
    return { records: records as ReadonlyMap<SessionId, SessionRecord> }
  }
}
