/**
 * The storage of a browser or tab, which never throws. Browsers that block cookies refuse it, and its room is limited:
 * what it does not take lasts as long as the page.
 */
class SafeStorage {
  readonly #name: 'localStorage' | 'sessionStorage'
  /** What the browser has refused. */
  readonly #refused = new Map<string, string>()

  constructor(name: 'localStorage' | 'sessionStorage') {
    this.#name = name
  }

  /** All keys. */
  get keys(): readonly string[] {
    const stored = this.#attempt((storage) =>
      Array.from({ length: storage.length }, (_, index) => storage.key(index) ?? ''),
    )
    return [...(stored ?? []), ...this.#refused.keys()]
  }

  get length(): number {
    return this.keys.length
  }

  key(index: number): string | null {
    return this.keys[index] ?? null
  }

  getItem(key: string): string | null {
    return this.#refused.get(key) ?? this.#attempt((storage) => storage.getItem(key)) ?? null
  }

  setItem(key: string, value: string): void {
    this.removeItem(key)
    const isStored = this.#attempt((storage) => {
      storage.setItem(key, value)
      return true
    })
    if (isStored !== true) this.#refused.set(key, value)
  }

  removeItem(key: string): void {
    this.#refused.delete(key)
    this.#attempt((storage) => storage.removeItem(key))
  }

  #attempt<Result>(action: (storage: Storage) => Result): Result | undefined {
    try {
      return action(globalThis[this.#name])
    } catch {
      // The page keeps the value.
      return undefined
    }
  }
}

/** Shared by the tabs of this browser. */
export const browserStorage = new SafeStorage('localStorage')
/** Of this tab alone. */
export const tabStorage = new SafeStorage('sessionStorage')
