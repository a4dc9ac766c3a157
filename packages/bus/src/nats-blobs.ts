import { JetStreamApiError } from '@nats-io/jetstream'
import type { SessionId } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'
import type { Broker } from './broker.ts'
import type { BlobAbout, Blobs, StoredBlob } from './bus.ts'
import { isFull } from './nats-error.ts'
import { ObjectStore } from './object-store.ts'
import { retryWhileUnavailable, PATIENCE_MS } from './retry-while-unavailable.ts'
import type { ReplyInbox } from './reply-inbox.ts'

/** What one reader of pieces holds: many read at the same time. */
const PIECES_BYTES = 256 * 1024

export interface BlobsDeps extends Pick<Broker, 'connection' | 'jetstream' | 'manager' | 'api'> {
  readonly inbox: ReplyInbox
}

/** Values that are too large for a message, in an object store. */
export class NatsBlobs implements Blobs {
  readonly #connection: BlobsDeps['connection']
  readonly #store: ObjectStore
  readonly #patienceMs: number

  constructor(
    deps: BlobsDeps,
    { patienceMs = PATIENCE_MS }: { readonly patienceMs?: number } = {},
  ) {
    this.#connection = deps.connection
    this.#store = new ObjectStore(deps)
    this.#patienceMs = patienceMs
  }

  async put(bytes: Uint8Array, { session, ...about }: BlobAbout = {}): Promise<StoredBlob> {
    const key = `${session ?? 'shared'}.${crypto.randomUUID()}`
    const { size, digest } = await this.#retryWhileUnavailable(() =>
      this.#store.put(key, bytes, { ...about }),
    )
    return { key, bytes: size, digest }
  }

  async find(key: string): Promise<(StoredBlob & Omit<BlobAbout, 'session'>) | undefined> {
    const found = await this.#retryWhileUnavailable(() => this.#store.find(key))
    if (found === undefined) return undefined
    const { size, digest, metadata: { mimeType, name } = {} } = found
    return {
      key,
      bytes: size,
      digest,
      ...(mimeType === undefined ? {} : { mimeType }),
      ...(name === undefined ? {} : { name }),
    }
  }

  async get(
    key: string,
    { digest }: { readonly digest?: string | undefined } = {},
  ): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = await this.#retryWhileUnavailable(() => this.#store.get(key, digest))
    if (bytes === undefined) throw missing(key, digest)
    return bytes
  }

  async *read(key: string): AsyncGenerator<Uint8Array> {
    const found = await this.#retryWhileUnavailable(() => this.#store.find(key))
    if (found === undefined) throw missing(key)
    const retry = <T>(read: () => Promise<T>): Promise<T> => this.#retryWhileUnavailable(read)
    yield* this.#store.pieces(found, { maxBytes: PIECES_BYTES, retry })
  }

  async remove(key: string): Promise<void> {
    await this.#retryWhileUnavailable(() => this.#store.remove(key))
  }

  async removeAll(session: SessionId): Promise<void> {
    // A name is one token of the subject, so the broker cannot filter by session.
    const keys = await this.#retryWhileUnavailable(() => this.#store.names())
    for (const key of keys) {
      if (key.startsWith(`${session}.`) && (await this.find(key)) !== undefined) {
        await this.remove(key)
      }
    }
  }

  /** All operations are safe to repeat: a blob that was written in part is overwritten. */
  #retryWhileUnavailable<T>(use: () => Promise<T>): Promise<T> {
    return retryWhileUnavailable(use, {
      connection: this.#connection,
      patienceMs: this.#patienceMs,
      message: 'stored results cannot be reached; try again',
      isHopeless: (error) => isFull(error) || isRefusal(error),
      report: (cause) => {
        if (isFull(cause)) {
          const message = `nats-server has no room for results: ${cause.message}; give its store more`
          return new BusError('exhausted', message, { cause })
        }
        if (!isRefusal(cause)) return undefined
        const message = `nats-server refuses stored results: ${cause.message}; try again`
        return new BusError('unavailable', message, { cause })
      },
    })
  }
}

function missing(key: string, digest?: string): BusError {
  const version =
    digest === undefined ? '' : ` with the digest ${digest}: it was removed or replaced`
  return new BusError('not-found', `there is no stored result "${key}"${version}`)
}

function isRefusal(error: unknown): error is JetStreamApiError {
  return error instanceof JetStreamApiError && error.status < 500
}
