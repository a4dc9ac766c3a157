/** The pause after each piece of work, as a multiple of its duration. */
const REST = 3

/** Runs pieces of synchronous work one after another, with pauses in which the event loop does other work. */
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

  /** Runs the work at once if none is in flight. Callers check `isFull` first. */
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
