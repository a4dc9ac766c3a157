import { setTimeout as delay } from 'node:timers/promises'
import { JetStreamApiError } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import type { ObjectStore } from '@nats-io/obj'
import type { SessionId } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'
import type { Blobs, StoredBlob } from './bus.ts'
import { isFull } from './nats-error.ts'

export const BLOB_BUCKET = 'BLOB'

/** How long a blob is kept, from its writing on; the store of an earlier version keeps them for ever. */
export const BLOB_MAX_AGE_MS = 30 * 24 * 3_600_000

/** Longer than a cluster's election after its leader died. */
const PATIENCE_MS = 30_000

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

  async put(bytes: Uint8Array, about: { session?: SessionId } = {}): Promise<StoredBlob> {
    const key = `${about.session ?? 'shared'}.${crypto.randomUUID()}`
    const { size, digest } = await this.#patiently(() => this.#store.putBlob({ name: key }, bytes))
    return { key, bytes: size, digest }
  }

  async get(key: string): Promise<Uint8Array> {
    const bytes = await this.#patiently(() => this.#read(key))
    if (bytes === undefined) throw new BusError('not-found', `there is no stored result "${key}"`)
    return bytes
  }

  /** Stops when a part does not come: then it is lost, or the broker died after it sent the others. */
  async #read(key: string): Promise<Uint8Array | undefined> {
    const found = await this.#store.get(key)
    if (found === null) return undefined
    // The stream ends with the same error.
    found.error.catch(() => undefined)
    const parts: Uint8Array[] = []
    const sink = new WritableStream<Uint8Array>({ write: (part) => void parts.push(part) })
    // The client checks the digest.
    await found.data.pipeTo(sink, { signal: AbortSignal.timeout(this.#patienceMs / 3) })
    return Buffer.concat(parts)
  }

  /** Both are safe to repeat: a blob that was half written is written over. */
  async #patiently<T>(use: () => Promise<T>): Promise<T> {
    const giveUpAt = Date.now() + this.#patienceMs
    for (;;) {
      try {
        return await use()
      } catch (error) {
        if (isFull(error)) {
          const message = `nats-server has no room for results: ${error.message}; give its store more`
          throw new BusError('exhausted', message, { cause: error })
        }
        const refusal = error instanceof JetStreamApiError ? error : undefined
        const isRefused = refusal !== undefined && refusal.status < 500
        if (isRefused || this.#connection.isClosed() || Date.now() >= giveUpAt) {
          const message =
            refusal === undefined
              ? 'stored results cannot be reached; try again'
              : `nats-server refuses stored results: ${refusal.message}; try again`
          throw new BusError('unavailable', message, { cause: error })
        }
        await delay(200)
      }
    }
  }
}
