/** At most so many entries at once; in a key they leave room for 4 billion turns. */
const MAX_SLOTS = 2 ** 20
const TURNS = 2 ** 32

/**
 * Entries with a short life, such as requests in flight, under integer keys that are not reused for a long time.
 * Replaces a `Map` or `Set`, which moves to a new table every so often: once one such table is in the old generation,
 * the scavenger keeps and copies all tables after it, with all of their former entries.
 */
export class SlotMap<Value extends object> {
  readonly #values: (Value | undefined)[] = []
  /** The key of the present or last entry of each slot. */
  readonly #keys: number[] = []
  readonly #free: number[] = []
  #turn = 0

  get size(): number {
    return this.#values.length - this.#free.length
  }

  /** The key of a new entry. Throws `RangeError` when there are a million already. */
  add(value: Value): number {
    const slot = this.#free.pop() ?? this.#values.length
    if (slot === MAX_SLOTS) throw new RangeError(`there are ${MAX_SLOTS} entries already`)
    this.#turn = (this.#turn + 1) % TURNS
    const key = this.#turn * MAX_SLOTS + slot
    this.#values[slot] = value
    this.#keys[slot] = key
    return key
  }

  get(key: number): Value | undefined {
    const slot = key % MAX_SLOTS
    return this.#keys[slot] === key ? this.#values[slot] : undefined
  }

  /** Whether it was there. */
  delete(key: number): boolean {
    if (this.get(key) === undefined) return false
    const slot = key % MAX_SLOTS
    this.#values[slot] = undefined
    this.#free.push(slot)
    return true
  }

  /** In no order. What is added or deleted meanwhile may be left out or not. */
  *values(): Generator<Value> {
    for (const value of this.#values) if (value !== undefined) yield value
  }
}
