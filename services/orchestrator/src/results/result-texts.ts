import type { Bus, StoredBlob } from '@mcp-host/bus'
import type { ToolFinished } from '@mcp-host/contracts'
import { parseInThread } from '@mcp-host/json/thread'
import { resultText } from './result-text.ts'

const MAX_KEPT_BYTES = 64 * 1024 * 1024

/** Larger results are parsed in a thread, since parsing blocks the event loop. */
const MAX_PARSED_BYTES = 4 * 1024 * 1024

/** The texts of results in the object store. The newest are cached, since a model reads them in parts. */
export class ResultTexts {
  readonly #blobs: Pick<Bus['blobs'], 'get'>
  readonly #maxBytes: number
  /** Cached texts by key and digest, least recently used first. */
  readonly #kept = new Map<string, { readonly bytes: number; readonly text: Promise<string> }>()

  constructor(blobs: Pick<Bus['blobs'], 'get'>, maxBytes: number) {
    this.#blobs = blobs
    this.#maxBytes = maxBytes
  }

  /** Throws `not-found` when the object has expired or was replaced, or `unavailable`. */
  async get(blob: StoredBlob): Promise<string> {
    const key = `${blob.key} ${blob.digest}`
    const kept = this.#kept.get(key) ?? { bytes: blob.bytes, text: this.#read(blob) }
    this.#kept.delete(key)
    this.#kept.set(key, kept)
    this.#makeRoom()
    try {
      return await kept.text
    } catch (error) {
      // The next call tries again.
      if (this.#kept.get(key) === kept) this.#kept.delete(key)
      throw error
    }
  }

  async #read(blob: StoredBlob): Promise<string> {
    const bytes = await this.#blobs.get(blob.key, blob)
    const result =
      bytes.length <= MAX_PARSED_BYTES
        ? JSON.parse(Buffer.from(bytes).toString())
        : await parseInThread(bytes)
    return resultText(result as Pick<ToolFinished, 'content'>)
  }

  /** Evicts texts over the limit, but never the current one. */
  #makeRoom(): void {
    let total = this.#kept.values().reduce((sum, { bytes }) => sum + bytes, 0)
    for (const [key, { bytes }] of this.#kept) {
      if (total <= this.#maxBytes || this.#kept.size === 1) return
      this.#kept.delete(key)
      total -= bytes
    }
  }
}

export function resultTexts(
  { blobs }: { readonly blobs: Pick<Bus['blobs'], 'get'> },
  { maxBytes = MAX_KEPT_BYTES }: { readonly maxBytes?: number } = {},
): ResultTexts {
  return new ResultTexts(blobs, maxBytes)
}
