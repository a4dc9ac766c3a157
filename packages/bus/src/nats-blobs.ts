import { createHash } from 'node:crypto'
import type { JetStreamManager } from '@nats-io/jetstream'
import { JetStreamApiError } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import type { ObjectStore } from '@nats-io/obj'
import type { SessionId } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'
import type { BlobAbout, Blobs, StoredBlob } from './bus.ts'
import { directGet } from './direct-get.ts'
import { isFull } from './nats-error.ts'
import { retryWhileUnavailable, PATIENCE_MS } from './retry-while-unavailable.ts'
import type { ReplyInbox } from './reply-inbox.ts'

export const BLOB_BUCKET = 'BLOB'

/** The broker closes connections that do not take 64 MiB. */
const MAX_READ_BYTES = 4 * 1024 * 1024

export interface BlobsDeps {
  readonly store: ObjectStore
  readonly connection: NatsConnection
  readonly manager: JetStreamManager
  readonly inbox: ReplyInbox
}

/** Values that are too large for a message, in an object store. */
export class NatsBlobs implements Blobs {
  readonly #store: ObjectStore
  readonly #connection: NatsConnection
  readonly #manager: JetStreamManager
  readonly #inbox: ReplyInbox
  readonly #patienceMs: number

  constructor(
    { store, connection, manager, inbox }: BlobsDeps,
    { patienceMs = PATIENCE_MS }: { readonly patienceMs?: number } = {},
  ) {
    this.#store = store
    this.#connection = connection
    this.#manager = manager
    this.#inbox = inbox
    this.#patienceMs = patienceMs
  }

  async put(bytes: Uint8Array, { session, ...about }: BlobAbout = {}): Promise<StoredBlob> {
    const key = `${session ?? 'shared'}.${crypto.randomUUID()}`
    const meta = { name: key, metadata: { ...about } }
    const { size, digest } = await this.#retryWhileUnavailable(() =>
      this.#store.putBlob(meta, bytes),
    )
    return { key, bytes: size, digest }
  }

  async find(key: string): Promise<(StoredBlob & Omit<BlobAbout, 'session'>) | undefined> {
    const found = await this.#retryWhileUnavailable(() => this.#store.info(key))
    if (found === null || found.deleted) return undefined
    const { size, digest, metadata: { mimeType, name } = {} } = found
    return {
      key,
      bytes: size,
      digest,
      ...(mimeType === undefined ? {} : { mimeType }),
      ...(name === undefined ? {} : { name }),
    }
  }

  async get(key: string): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = await this.#retryWhileUnavailable(() => this.#read(key))
    if (bytes === undefined) throw new BusError('not-found', `there is no stored result "${key}"`)
    return bytes
  }

  async remove(key: string): Promise<void> {
    await this.#retryWhileUnavailable(() => this.#store.delete(key))
  }

  async removeAll(session: SessionId): Promise<void> {
    const prefix = `$O.${BLOB_BUCKET}.M.`
    // Names are one token of the subject, so the broker cannot choose those of a session.
    const { state } = await this.#retryWhileUnavailable(() =>
      this.#manager.streams.info(`OBJ_${BLOB_BUCKET}`, { subjects_filter: `${prefix}>` }),
    )
    for (const subject of Object.keys(state.subjects ?? {})) {
      const key = Buffer.from(subject.slice(prefix.length), 'base64url').toString()
      if (key.startsWith(`${session}.`) && (await this.find(key)) !== undefined) {
        await this.remove(key)
      }
    }
  }

  /**
   * Straight from the store. The client's own way leaves a consumer behind for five minutes, of which the broker
   * has 1,000 at most. Throws when a part is not there, or not yet at the replica that answers.
   */
  async #read(key: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const found = await this.#store.info(key)
    if (found === null || found.deleted) return undefined
    const { nuid, size, chunks, digest } = found
    const bytes = new Uint8Array(size)
    const hash = createHash('sha256')
    for (let length = 0, seq = 1; length < size;) {
      const parts = await directGet(this.#inbox, `OBJ_${BLOB_BUCKET}`, {
        seq,
        next_by_subj: `$O.${BLOB_BUCKET}.C.${nuid}`,
        batch: chunks,
        max_bytes: MAX_READ_BYTES,
      })
      if (parts.length === 0) throw new Error('a part of it is missing')
      for (const part of parts) {
        bytes.set(part.data, length)
        hash.update(part.data)
        length += part.data.length
        seq = part.seq + 1
      }
    }
    const isWhole = `SHA-256=${hash.digest('base64url')}` === digest.replace(/=+$/, '')
    if (!isWhole) throw new Error('its digest is another')
    return bytes
  }

  /** All are safe to repeat: a blob that was half written is written over. */
  #retryWhileUnavailable<T>(use: () => Promise<T>): Promise<T> {
    return retryWhileUnavailable(use, {
      connection: this.#connection,
      patienceMs: this.#patienceMs,
      isHopeless: (error) => isFull(error) || refusal(error) !== undefined,
      report: (cause) => {
        if (isFull(cause)) {
          const message = `nats-server has no room for results: ${cause.message}; give its store more`
          return new BusError('exhausted', message, { cause })
        }
        const said = refusal(cause)?.message
        const message =
          said === undefined
            ? 'stored results cannot be reached; try again'
            : `nats-server refuses stored results: ${said}; try again`
        return new BusError('unavailable', message, { cause })
      },
    })
  }
}

function refusal(error: unknown): JetStreamApiError | undefined {
  return error instanceof JetStreamApiError && error.status < 500 ? error : undefined
}
