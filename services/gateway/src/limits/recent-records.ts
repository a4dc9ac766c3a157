/** The time after which a view shows a stored record. */
const MAX_LAG_MS = 10_000

/**
 * The records of a bucket that were added here and that its view may not show yet. Limits on records count them, too:
 * additions at once would all pass a limit that counts the view alone. Additions at several gateways at once may exceed
 * it.
 */
export class RecentRecords<T> {
  readonly #added = new Map<string, { readonly record: T; readonly until: number }>()

  /** Counts a record while `store` stores it, and until the view shows it. */
  async add(id: string, record: T, store: () => Promise<unknown>): Promise<void> {
    this.#added.set(id, { record, until: Infinity })
    try {
      await store()
      this.#added.set(id, { record, until: performance.now() + MAX_LAG_MS })
    } catch (error) {
      this.#added.delete(id)
      throw error
    }
  }

  remove(id: string): void {
    this.#added.delete(id)
  }

  /** The records of the view, and those that it does not show yet. */
  with(shown: ReadonlyMap<string, T>): ReadonlyMap<string, T> {
    const now = performance.now()
    for (const [id, { until }] of this.#added) {
      if (shown.has(id) || until <= now) this.#added.delete(id)
    }
    if (this.#added.size === 0) return shown
    const added = Array.from(this.#added, ([id, { record }]) => [id, record] as const)
    return new Map([...shown, ...added])
  }
}
