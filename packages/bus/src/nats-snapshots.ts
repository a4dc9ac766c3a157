import type { StoredMsg } from '@nats-io/jetstream'
import { headers } from '@nats-io/transport-node'
import type { SessionId } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'
import type { Broker } from './broker.ts'
import { isEndMark, keySubject, removeKey } from './bucket-key.ts'
import type { Blobs, Snapshots, StoredBlob } from './bus.ts'
import { retryWhileUnavailable } from './retry-while-unavailable.ts'

export const SNAPSHOT_BUCKET = 'SNAPSHOTS'

/** Larger snapshots are stored as blobs, and their key takes their place: a message holds 1 MB. */
const MAX_INLINE_BYTES = 900_000
const BLOB_HEADER = 'Blob-Key'
const DIGEST_HEADER = 'Blob-Digest'

export interface SnapshotsDeps extends Broker {
  readonly blobs: Blobs
}

/** The snapshots in a key-value bucket: one request to the broker, unlike an object store. */
export class NatsSnapshots implements Snapshots {
  readonly #deps: SnapshotsDeps

  constructor(deps: SnapshotsDeps) {
    this.#deps = deps
  }

  async put(session: SessionId, bytes: Uint8Array): Promise<void> {
    if (bytes.length <= MAX_INLINE_BYTES) return this.#write(session, bytes)
    const { blobs } = this.#deps
    const before = await this.#blobKey(session)
    const stored = await blobs.put(bytes, { session })
    await this.#write(session, new Uint8Array(), stored)
    if (before !== undefined) await blobs.remove(before)
  }

  async get(session: SessionId): Promise<Uint8Array | undefined> {
    const message = await this.#last(session)
    if (message === undefined) return undefined
    const key = message.header.get(BLOB_HEADER)
    if (key === '') return message.data
    // Snapshots of earlier versions have no digest.
    const digest = message.header.get(DIGEST_HEADER) || undefined
    try {
      return await this.#deps.blobs.get(key, { digest })
    } catch (error) {
      // The snapshot was replaced meanwhile. The caller reads the whole log instead.
      if (BusError.from(error).code === 'not-found') return undefined
      throw error
    }
  }

  async remove(session: SessionId): Promise<void> {
    const key = await this.#blobKey(session)
    const { jetstream } = this.#deps
    await this.#retryWhileUnavailable(() => removeKey(jetstream, SNAPSHOT_BUCKET, session))
    if (key !== undefined) await this.#deps.blobs.remove(key)
  }

  async #write(session: SessionId, bytes: Uint8Array, stored?: StoredBlob): Promise<void> {
    const marked = headers()
    if (stored !== undefined) {
      marked.set(BLOB_HEADER, stored.key)
      marked.set(DIGEST_HEADER, stored.digest)
    }
    const subject = keySubject(SNAPSHOT_BUCKET, session)
    const options = { headers: marked, timeout: 2_000 }
    await this.#retryWhileUnavailable(() => this.#deps.jetstream.publish(subject, bytes, options))
  }

  async #blobKey(session: SessionId): Promise<string | undefined> {
    return (await this.#last(session))?.header.get(BLOB_HEADER) || undefined
  }

  async #last(session: SessionId): Promise<StoredMsg | undefined> {
    const query = { last_by_subj: keySubject(SNAPSHOT_BUCKET, session) }
    const message = await this.#retryWhileUnavailable(() =>
      // Any replica may answer: an older snapshot only means more entries to read.
      this.#deps.manager.direct.getMessage(`KV_${SNAPSHOT_BUCKET}`, query),
    )
    return message === null || isEndMark(message) ? undefined : message
  }

  #retryWhileUnavailable<T>(act: () => Promise<T>): Promise<T> {
    const message = 'the snapshots cannot be reached; try again'
    return retryWhileUnavailable(act, { connection: this.#deps.connection, message })
  }
}
