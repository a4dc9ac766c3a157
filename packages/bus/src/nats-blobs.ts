import { JetStreamApiError } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import type { ObjectStore } from '@nats-io/obj'
import { BusError } from '@mcp-host/contracts'
import type { BlobAbout, Blobs, StoredBlob } from './bus.ts'
import { isFull } from './nats-error.ts'
import { patiently, PATIENCE_MS } from './patience.ts'

export const BLOB_BUCKET = 'BLOB'

/** What is too large for a message, in an object store. */
export class NatsBlobs implements Blobs {
  readonly #store: ObjectStore
  readonly #connection: NatsConnection
  readonly #patienceMs: number

  constructor(
    store: ObjectStore,
    connection: NatsConnection,
    { patienceMs = PATIENCE_MS }: { readonly patienceMs?: number } = {},
  ) {
    this.#store = store
    this.#connection = connection
    this.#patienceMs = patienceMs
  }

  async put(bytes: Uint8Array, { session, ...about }: BlobAbout = {}): Promise<StoredBlob> {
    const key = `${session ?? 'shared'}.${crypto.randomUUID()}`
    const meta = { name: key, metadata: { ...about } }
    const { size, digest } = await this.#patiently(() => this.#store.putBlob(meta, bytes))
    return { key, bytes: size, digest }
  }

  async find(key: string): Promise<(StoredBlob & Omit<BlobAbout, 'session'>) | undefined> {
    const found = await this.#patiently(() => this.#store.info(key))
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
    const bytes = await this.#patiently(() => this.#read(key))
    if (bytes === undefined) throw new BusError('not-found', `there is no stored result "${key}"`)
    return bytes
  }

  async remove(key: string): Promise<void> {
    await this.#patiently(() => this.#store.delete(key))
  }

  /** Stops when a part does not come: then it is lost, or the broker died after it sent the others. */
  async #read(key: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const found = await this.#store.get(key)
    if (found === null) return undefined
    // The stream ends with the same error.
    found.error.catch(() => undefined)
    const bytes = new Uint8Array(found.info.size)
    let length = 0
    const write = (part: Uint8Array): void => {
      bytes.set(part, length)
      length += part.length
    }
    // The client checks the digest.
    const signal = AbortSignal.timeout(this.#patienceMs / 3)
    await found.data.pipeTo(new WritableStream({ write }), { signal })
    return bytes
  }

  /** All are safe to repeat: a blob that was half written is written over. */
  #patiently<T>(use: () => Promise<T>): Promise<T> {
    return patiently(use, {
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
