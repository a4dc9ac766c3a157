import type { TextDelta } from '@mcp-host/contracts'

/**
 * Telling a thousand sockets takes a process so long that its other sockets have to wait. The more listen,
 * the longer text is held back for more: telling then takes about a tenth of the time, however many they are.
 */
const MS_PER_LISTENER = 0.2
const MIN_WAIT_MS = 1

/** Coalesces text that arrives faster than it can be sent to all followers. */
export class TextPacer implements Disposable {
  readonly #give: (delta: TextDelta) => void
  readonly #listeners: () => number
  /** Text that is held back. */
  #pending: TextDelta | undefined
  #timer: NodeJS.Timeout | undefined
  #lastGiven = -Infinity

  constructor(give: (delta: TextDelta) => void, listeners: () => number) {
    this.#give = give
    this.#listeners = listeners
  }

  push(delta: TextDelta): void {
    const pending = this.#pending
    if (pending !== undefined && isNext(pending, delta)) {
      this.#pending = { ...pending, text: pending.text + delta.text }
    } else {
      this.flush()
      this.#pending = delta
    }
    const waitMs = this.#lastGiven + this.#listeners() * MS_PER_LISTENER - performance.now()
    if (waitMs <= MIN_WAIT_MS) this.flush()
    else this.#timer ??= setTimeout(() => this.flush(), waitMs)
  }

  /** Gives what is held back. */
  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const delta = this.#pending
    if (delta === undefined) return
    this.#pending = undefined
    this.#lastGiven = performance.now()
    this.#give(delta)
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
  }
}

/** Whether the text of one delta goes on with that of the other. */
function isNext(delta: TextDelta, next: TextDelta): boolean {
  return (
    delta.generation === next.generation &&
    delta.kind === next.kind &&
    delta.offset + delta.text.length === next.offset
  )
}
