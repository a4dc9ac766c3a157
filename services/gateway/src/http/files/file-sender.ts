import { Readable } from 'node:stream'
import type { Blobs, StoredBlob } from '@mcp-host/bus'
import type { SessionId } from '@mcp-host/contracts'
import { BusError, cleanType, LOCAL, UNKNOWN_TYPE } from '@mcp-host/contracts'
import { Holdings, rateLimited } from '@mcp-host/limits'
import type { FastifyReply } from 'fastify'
import type { ReadBudget } from '../../edge/read-budget.ts'

/** The types that pages show. A page of this host would run or apply others, such as scripts and style sheets. */
const SHOWN =
  /^(?:image\/(?:png|jpeg|gif|webp)|audio\/(?:aac|flac|mp4|mpeg|ogg|wav|webm|x-wav)|application\/pdf|text\/plain)$/

/** The size of a piece; the last of a file may be smaller. */
const PIECE_BYTES = 128 * 1024
/** Files that are sent at the same time: each holds up to 0.5 MB. */
const MAX_SENT = 256
/** An answer of which the client takes nothing for so long is closed. */
const UNREAD_MS = 30_000

export interface SentFile {
  readonly session: SessionId
  readonly key: string
  /** The client among whose answers this one counts. */
  readonly holder: string
}

export interface FileSenderDeps {
  readonly blobs: Pick<Blobs, 'find' | 'read'>
  /** Spreads the pieces of all files. */
  readonly budget: Pick<ReadBudget, 'turn'>
}

/** Answers with stored files, in pieces as the clients read them. */
export class FileSender {
  readonly #blobs: FileSenderDeps['blobs']
  readonly #budget: FileSenderDeps['budget']
  readonly #sent: Holdings
  readonly #unreadMs: number

  constructor(
    { blobs, budget }: FileSenderDeps,
    { maxSent = MAX_SENT, unreadMs = UNREAD_MS } = {},
  ) {
    this.#blobs = blobs
    this.#budget = budget
    this.#sent = new Holdings(maxSent, LOCAL.id)
    this.#unreadMs = unreadMs
  }

  /** Resolves at the end of the answer. Throws `not-found`, `exhausted` and `unavailable`. */
  async send(reply: FastifyReply, { session, key, holder }: SentFile): Promise<void> {
    using _held = this.#hold(holder)
    const found = key.startsWith(`${session}.`) ? await this.#blobs.find(key) : undefined
    if (found === undefined) {
      throw new BusError('not-found', `key: this session has no file "${key}"`, { field: 'key' })
    }
    // A stored file must not run scripts on this origin.
    reply.header('content-security-policy', "default-src 'none'; sandbox")
    reply.header('x-content-type-options', 'nosniff')
    reply.header('content-length', found.bytes)
    const type = cleanType(found.mimeType)
    if (SHOWN.test(type)) reply.type(type)
    else reply.type(UNKNOWN_TYPE).header('content-disposition', 'attachment')
    const { raw, request } = reply
    // The client has nothing to take while its next piece waits for its turn.
    const unread = setInterval(() => {
      if (raw.writableNeedDrain) raw.destroy()
    }, this.#unreadMs)
    raw.on('drain', () => unread.refresh())
    try {
      // Fastify would read a whole stream to answer HEAD.
      const pieces = request.method === 'HEAD' ? [] : this.#pieces(found, holder, unread)
      await reply.send(Readable.from(pieces, { objectMode: false }))
    } finally {
      clearInterval(unread)
    }
  }

  async *#pieces(
    { key, bytes }: Pick<StoredBlob, 'key' | 'bytes'>,
    holder: string,
    unread: NodeJS.Timeout,
  ): AsyncGenerator<Uint8Array> {
    let left = bytes
    const turn = (): Promise<void> => this.#budget.turn(Math.min(left, PIECE_BYTES), holder)
    await turn()
    for await (const piece of this.#blobs.read(key)) {
      unread.refresh()
      yield piece
      left -= piece.length
      if (left > 0) await turn()
    }
  }

  #hold(holder: string): Disposable {
    const exceeded = this.#sent.exceeded(holder)
    if (exceeded === 'own') {
      const reason = `${this.#sent.ownLimit} files are sent to you right now; read or close one`
      throw new BusError('exhausted', rateLimited(reason))
    }
    if (exceeded === 'all') {
      throw new BusError('unavailable', 'too many files are being sent right now; try again')
    }
    return this.#sent.hold(holder)
  }
}
