import type { IncomingMessage } from 'node:http'

/** Bodies and messages up to this size are received at any time, so that large ones do not block them. */
export const SMALL_BYTES = 64 * 1024
/** Memory for larger bodies, and for larger messages, that are being received. */
export const TOTAL_BYTES = 128 * 1024 * 1024
/** Memory of a piece besides its bytes. */
export const PIECE_BYTES = 300

/** Names the owner of a request, among which memory and reads are shared out. */
export type OwnerOf = (request: IncomingMessage) => string

export const addressOf: OwnerOf = ({ socket }) => socket.remoteAddress ?? ''

interface Held {
  readonly owner: string
  readonly bytes: number
}

/**
 * Limits the memory of what is being received: beyond it, the oldest of the owner that holds most is given up, so that
 * the items of one owner do not end those of others.
 */
export class OldestFirst<T> {
  readonly #totalBytes: number
  readonly #giveUp: (item: T) => void
  readonly #held = new Map<T, Held>()
  #bytes = 0

  constructor(totalBytes: number, giveUp: (item: T) => void) {
    this.#totalBytes = totalBytes
    this.#giveUp = giveUp
  }

  /** The memory of all that are not small. */
  get bytes(): number {
    return this.#bytes
  }

  /** Tells the memory that an item of an owner holds now. */
  set(item: T, owner: string, bytes: number): void {
    this.#bytes -= this.#held.get(item)?.bytes ?? 0
    if (bytes <= SMALL_BYTES) return void this.#held.delete(item)
    this.#held.set(item, { owner, bytes })
    this.#bytes += bytes
    while (this.#bytes > this.#totalBytes) {
      const largest = this.#largestOwner()
      for (const [oldest, held] of this.#held) {
        if (held.owner !== largest) continue
        this.#held.delete(oldest)
        this.#bytes -= held.bytes
        this.#giveUp(oldest)
        break
      }
    }
  }

  #largestOwner(): string | undefined {
    const sums = new Map<string, number>()
    for (const { owner, bytes } of this.#held.values()) {
      sums.set(owner, (sums.get(owner) ?? 0) + bytes)
    }
    return Array.from(sums).toSorted(([, one], [, other]) => other - one)[0]?.[0]
  }
}
