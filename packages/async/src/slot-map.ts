/** The maximum number of entries. A key combines a slot with the count of `add` calls, modulo `COUNTS`. */
const MAX_SLOTS = 2 ** 20
const COUNTS = 2 ** 32

/**
 * Short-lived entries, such as requests in flight, under integer keys that are not reused for a long time. A `Map` or
 * `Set` moves to a new table from time to time, and would keep ended entries in memory: once a table is in the old
 * generation, the scavenger keeps all later ones (decision 0030).
 */
export class SlotMap<Value extends object> {
  readonly #values: (Value | undefined)[] = []
  /** The key of the current or last entry of each slot. */
  readonly #keys: number[] = []
  readonly #free: number[] = []
  #added = 0

  get size(): number {
    return this.#values.length - this.#free.length
  }

  /** Adds an entry and returns its key. Throws `RangeError` when there are a million already. */
  add(value: Value): number {
    const slot = this.#free.pop() ?? this.#values.length
    if (slot === MAX_SLOTS) throw new RangeError(`there are ${MAX_SLOTS} entries already`)
    this.#added = (this.#added + 1) % COUNTS
    const key = this.#added * MAX_SLOTS + slot
    this.#values[slot] = value
    this.#keys[slot] = key
    return key
  }

  get(key: number): Value | undefined {
    const slot = key % MAX_SLOTS
    return this.#keys[slot] === key ? this.#values[slot] : undefined
  }

  /** Deletes an entry and returns whether it existed. */
  delete(key: number): boolean {
    if (this.get(key) === undefined) return false
    const slot = key % MAX_SLOTS
    this.#values[slot] = undefined
    this.#free.push(slot)
    return true
  }

  /** The entries in no order. Entries that are added or deleted meanwhile may be included. */
  *values(): Generator<Value> {
    for (const value of this.#values) if (value !== undefined) yield value
  }
}
