/** Listeners called in one turn of the event loop. */
const AT_ONCE = 50

/**
 * Calls all listeners with each change in order. Many listeners are called in parts, between which the process does
 * other work.
 */
export class FairBroadcaster<Listener> implements Disposable {
  readonly #listeners: ReadonlySet<Listener>
  #waiting: ((listener: Listener) => void)[] = []
  #isTelling = false

  constructor(listeners: ReadonlySet<Listener>) {
    this.#listeners = listeners
  }

  /** Listeners that are added or removed meanwhile may miss it. */
  tell(news: (listener: Listener) => void): void {
    this.#waiting.push(news)
    if (!this.#isTelling) this.#goOn()
  }

  [Symbol.dispose](): void {
    this.#waiting = []
  }

  #goOn(): void {
    this.#isTelling = true
    let news = this.#waiting.shift()
    while (news !== undefined) {
      if (this.#tellPart(news, Array.from(this.#listeners))) return
      news = this.#waiting.shift()
    }
    this.#isTelling = false
  }

  /** Returns whether there are listeners left for the next part. */
  #tellPart(news: (listener: Listener) => void, listeners: readonly Listener[]): boolean {
    for (const each of listeners.slice(0, AT_ONCE)) if (this.#listeners.has(each)) news(each)
    const left = listeners.slice(AT_ONCE)
    if (left.length === 0) return false
    setImmediate(() => {
      if (!this.#tellPart(news, left)) this.#goOn()
    })
    return true
  }
}
