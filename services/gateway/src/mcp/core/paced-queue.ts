/** Time left to others after each piece of work, as a multiple of its own time. */
const REST = 3

/** Runs pieces of synchronous work one after another, and leaves the event loop to others between them. */
export class PacedQueue {
  readonly #maxWaiting: number
  readonly #waiting: (() => void)[] = []
  #isResting = false

  constructor(maxWaiting: number) {
    this.#maxWaiting = maxWaiting
  }

  /** Whether more work would be refused. */
  get isFull(): boolean {
    return this.#waiting.length >= this.#maxWaiting
  }

  /** Runs it at once if nothing is under way. Callers look at `isFull` before. */
  async run<Result>(work: () => Result): Promise<Result> {
    if (this.#isResting) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#isResting = true
    const startedAt = performance.now()
    try {
      return work()
    } finally {
      setTimeout(() => this.#next(), REST * (performance.now() - startedAt)).unref()
    }
  }

  #next(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#isResting = false
    else next()
  }
}
