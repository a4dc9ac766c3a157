/** The limit for the work that waits; more is refused. */
const MAX_WAITING = 64

/** Bounds the work that runs at the same time. More of it waits for its turn. */
export class Slots {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(count: number) {
    this.#free = count
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--
    else await this.#turn()
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#free++
      else next()
    }
  }

  #turn(): Promise<void> {
    if (this.#waiting.length >= MAX_WAITING) {
      throw new Error(`${MAX_WAITING} requests wait already; try again later`)
    }
    return new Promise((resolve) => this.#waiting.push(resolve))
  }
}
