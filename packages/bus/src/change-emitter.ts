/** Listeners that are called after each change. */
export class ChangeEmitter {
  readonly #listeners = new Set<{ readonly listener: () => void }>()

  add(listener: () => void): Disposable {
    // A new object for each call, so that the same function can be added twice.
    const entry = { listener }
    this.#listeners.add(entry)
    return { [Symbol.dispose]: () => void this.#listeners.delete(entry) }
  }

  call(): void {
    for (const { listener } of this.#listeners) listener()
  }
}
