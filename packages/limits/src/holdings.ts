/** One holder gets at most this part of the limit, or so much. */
const PART = 4
const MIN_OWN = 4

/** The amounts that principals hold of a limit that all share. One holder gets a part, so that others get some. */
export class Holdings {
  readonly limit: number
  readonly ownLimit: number
  readonly #everybody: string | undefined
  readonly #held = new Map<string, number>()
  #all = 0

  /** `everybody`: the holder that stands for all clients, and may hold all. */
  constructor(limit: number, everybody?: string) {
    this.limit = limit
    this.ownLimit = Math.min(limit, Math.max(MIN_OWN, Math.ceil(limit / PART)))
    this.#everybody = everybody
  }

  /** The limit that one more `amount` of a holder would exceed: its own one, or that of all. */
  exceeded(holder: string, amount = 1): 'own' | 'all' | undefined {
    if (this.#all + amount > this.limit) return 'all'
    if (holder === this.#everybody) return undefined
    return (this.#held.get(holder) ?? 0) + amount > this.ownLimit ? 'own' : undefined
  }

  /** Counts an amount until disposed. */
  hold(holder: string, amount = 1): Disposable {
    this.#add(holder, amount)
    let isHeld = true
    return {
      [Symbol.dispose]: () => {
        if (isHeld) this.#add(holder, -amount)
        isHeld = false
      },
    }
  }

  #add(holder: string, amount: number): void {
    this.#all += amount
    const held = (this.#held.get(holder) ?? 0) + amount
    if (held === 0) this.#held.delete(holder)
    else this.#held.set(holder, held)
  }
}
