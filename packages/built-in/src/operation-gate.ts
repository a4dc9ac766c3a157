/** Limits the operations that run at the same time. The others wait for their turn. */
export class OperationGate {
  readonly #maxRunning: number
  readonly #maxWaiting: number
  readonly #waiting: (() => void)[] = []
  #running = 0

  constructor(maxRunning: number, maxWaiting: number) {
    this.#maxRunning = maxRunning
    this.#maxWaiting = maxWaiting
  }

  async run<Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    if (this.#running < this.#maxRunning) this.#running += 1
    else await this.#wait()
    try {
      signal.throwIfAborted()
      return await work()
    } finally {
      const next = this.#waiting.shift()
      // The place of this operation passes to the next one.
      if (next === undefined) this.#running -= 1
      else next()
    }
  }

  #wait(): Promise<void> {
    if (this.#waiting.length >= this.#maxWaiting) {
      throw new Error(`${this.#maxWaiting} requests wait already; try again later`)
    }
    return new Promise((resolve) => this.#waiting.push(resolve))
  }
}
