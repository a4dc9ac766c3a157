/** At most so many entries at once; in a key they leave room for 4 billion turns. */
const MAX_SLOTS = 2 ** 20
const TURNS = 2 ** 32

/**
 * Entries that come and go all the time, as requests under way do, under keys that it gives out: integers that
 * do not come again for a long time. In the place of a `Map` or `Set`, which every so often moves to a new table
 * that the old one refers to: as soon as one such table is in the old generation, the collector of the young one
 * keeps and copies all tables after it, with all that was ever in them.
 */
export class SlotMap<Value extends object> {
  readonly #values: (Value | undefined)[] = []
  /** Of the entry in each slot, or the last that was. */
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
