import { createHash } from 'node:crypto'
import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream'
import { headers } from '@nats-io/transport-node'
import { BusError } from '@mcp-host/contracts'
import { z } from 'zod'
import { isEndMark, wholeSeconds } from './bucket-key.ts'
import { decode } from './codec.ts'
import { directGet } from './direct-get.ts'
import type { ReplyInbox } from './reply-inbox.ts'
import { BLOB_BUCKET } from './streams.ts'

const CHUNK_BYTES = 128 * 1024
/** The limit for the size of one read, since the broker closes connections that do not accept 64 MiB. */
const MAX_READ_BYTES = 4 * 1024 * 1024
/** The lifetime of the marks of removed objects. */
const REMOVED_TTL = wholeSeconds(60_000)
const STREAM = `OBJ_${BLOB_BUCKET}`
/** The prefix of the subjects of metadata. */
export const META = `$O.${BLOB_BUCKET}.M.`

/** The metadata of a stored object, in the format of NATS object stores. */
const ObjectMeta = z.object({
  name: z.string(),
  nuid: z.string(),
  size: z.number(),
  chunks: z.number(),
  digest: z.string().default(''),
  deleted: z.boolean().optional(),
  metadata: z.record(z.string(), z.string()).optional(),
})
export type ObjectMeta = z.infer<typeof ObjectMeta>

export interface ObjectStoreDeps {
  readonly jetstream: JetStreamClient
  readonly manager: JetStreamManager
  readonly inbox: ReplyInbox
  readonly api?: string
}

/**
 * Values of any size on the object store of NATS. The client's own functions need consumers, and the right to purge the
 * whole store.
 */
export class ObjectStore {
  readonly #deps: ObjectStoreDeps

  constructor(deps: ObjectStoreDeps) {
    this.#deps = deps
  }

  async put(
    name: string,
    bytes: Uint8Array,
    metadata: Readonly<Record<string, string>>,
  ): Promise<ObjectMeta> {
    const nuid = crypto.randomUUID()
    const chunks = Math.ceil(bytes.length / CHUNK_BYTES)
    const hash = createHash('sha256')
    try {
      for (let start = 0; start < bytes.length; start += CHUNK_BYTES) {
        const chunk = bytes.subarray(start, start + CHUNK_BYTES)
        hash.update(chunk)
        await this.#deps.jetstream.publish(chunkSubject(nuid), chunk)
      }
      const digest = digestOf(hash.digest('base64url'))
      const meta = { name, nuid, size: bytes.length, chunks, digest, metadata }
      await this.#writeMeta(meta)
      return meta
    } catch (error) {
      // Chunks that cannot be removed expire with the store's age limit.
      await this.#removeChunks(nuid).catch(() => undefined)
      throw error
    }
  }

  /** The metadata of an object; `undefined` for a missing or removed one. */
  async find(name: string): Promise<ObjectMeta | undefined> {
    const query = { last_by_subj: metaSubject(name) }
    const message = await this.#deps.manager.streams.getMessage(STREAM, query)
    if (message === null || isEndMark(message)) return undefined
    const meta = decode(ObjectMeta, message.data, 'metadata of a blob')
    return meta.deleted === true ? undefined : meta
  }

  /**
   * Reads an object; `undefined` when it is missing or has another digest than the given one. Throws when a chunk is
   * missing, even if only the answering replica lacks it.
   */
  async get(name: string, digest?: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const found = await this.find(name)
    // The pieces are compared with the digest of the metadata.
    if (found === undefined || !isSame(found.digest, digest ?? found.digest)) return undefined
    const bytes = new Uint8Array(found.size)
    let length = 0
    for await (const piece of this.pieces(found)) {
      bytes.set(piece, length)
      length += piece.length
    }
    return bytes
  }

  /** The chunks of an object, of which it holds `maxBytes` at most. Throws before the last one if any is faulty. */
  async *pieces(
    { nuid, size, chunks, digest }: ObjectMeta,
    {
      maxBytes = MAX_READ_BYTES,
      retry = (read) => read(),
    }: {
      readonly maxBytes?: number
      readonly retry?: <T>(read: () => Promise<T>) => Promise<T>
    } = {},
  ): AsyncGenerator<Uint8Array> {
    const hash = createHash('sha256')
    const check = (): void => {
      const isWhole = isSame(digestOf(hash.digest('base64url')), digest)
      if (!isWhole) throw new BusError('unavailable', 'a stored result is damaged')
    }
    if (size === 0) check()
    for (let length = 0, seq = 1; length < size;) {
      const query = { seq, next_by_subj: chunkSubject(nuid), batch: chunks, max_bytes: maxBytes }
      const parts = await retry(async () => {
        const read = await directGet(this.#deps, STREAM, query)
        if (read.length === 0) throw new Error('a part of it is missing')
        return read
      })
      for (const part of parts) {
        hash.update(part.data)
        length += part.data.length
        seq = part.seq + 1
        if (length >= size) check()
        yield part.data
      }
    }
  }

  async remove(name: string): Promise<void> {
    const found = await this.find(name)
    if (found === undefined) return
    const { nuid } = found
    const removed = { name, nuid, size: 0, chunks: 0, digest: '', deleted: true }
    await this.#writeMeta(removed, { ttl: REMOVED_TTL })
    await this.#removeChunks(nuid)
  }

  /** The names of all objects, including removed ones. */
  async names(): Promise<string[]> {
    const query = { subjects_filter: `${META}>` }
    const { state } = await this.#deps.manager.streams.info(STREAM, query)
    return Object.keys(state.subjects ?? {}).map((subject) =>
      Buffer.from(subject.slice(META.length), 'base64url').toString(),
    )
  }

  async #writeMeta(meta: ObjectMeta, lifetime: { readonly ttl?: string } = {}): Promise<void> {
    const data = JSON.stringify({
      ...meta,
      bucket: BLOB_BUCKET,
      mtime: new Date().toISOString(),
      options: { max_chunk_size: CHUNK_BYTES },
    })
    const options = { headers: onlyOne(), ...lifetime }
    await this.#deps.jetstream.publish(metaSubject(meta.name), data, options)
  }

  /** Replaces the chunks by an empty message that expires. */
  async #removeChunks(nuid: string): Promise<void> {
    const options = { headers: onlyOne(), ttl: REMOVED_TTL }
    await this.#deps.jetstream.publish(chunkSubject(nuid), new Uint8Array(), options)
  }
}

/** Removes the earlier messages of the subject. */
function onlyOne() {
  const marked = headers()
  marked.set('Nats-Rollup', 'sub')
  return marked
}

function chunkSubject(nuid: string): string {
  return `$O.${BLOB_BUCKET}.C.${nuid}`
}

function metaSubject(name: string): string {
  const encoded = Buffer.from(name).toString('base64url')
  // Padded, as other clients do.
  return `${META}${encoded.padEnd(Math.ceil(encoded.length / 4) * 4, '=')}`
}

function digestOf(base64: string): string {
  return `SHA-256=${base64}`
}

/** Other clients of the store pad digests. */
function isSame(digest: string, other: string): boolean {
  return digest.replace(/=+$/, '') === other.replace(/=+$/, '')
}
