import type { TextDelta } from '@mcp-host/contracts'

/**
 * The time in which text is coalesced. Users do not notice it, and each frame saved is CPU saved in every service. Text
 * of a model with fewer than 60 tokens a second is not delayed.
 */
export const WINDOW_MS = 15

/**
 * Joins deltas in quick succession. The first after a pause is sent at once; further ones are held until the end of the
 * window.
 */
export class DeltaCoalescer implements Disposable {
  readonly #emit: (delta: TextDelta) => void
  readonly #now: () => number
  #pending: TextDelta | undefined
  #timer: NodeJS.Timeout | undefined
  #lastEmit = -Infinity

  constructor(emit: (delta: TextDelta) => void, now: () => number = () => performance.now()) {
    this.#emit = emit
    this.#now = now
  }

  push(delta: TextDelta): void {
    if (this.#pending !== undefined && this.#pending.kind !== delta.kind) this.flush()
    this.#pending =
      this.#pending === undefined
        ? delta
        : { ...this.#pending, text: this.#pending.text + delta.text }
    const waitMs = this.#lastEmit + WINDOW_MS - this.#now()
    if (waitMs <= 0) this.flush()
    else this.#timer ??= setTimeout(() => this.flush(), waitMs)
  }

  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#pending === undefined) return
    const delta = this.#pending
    this.#pending = undefined
    this.#lastEmit = this.#now()
    this.#emit(delta)
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
  }
}
