/** The number of listeners that are called in one turn of the event loop. */
const AT_ONCE = 50

type Call<Listener> = (listener: Listener) => void

/** Makes calls to all listeners in order. Many listeners are called in parts, between which the event loop runs. */
export class FairBroadcaster<Listener> implements Disposable {
  readonly #listeners: ReadonlySet<Listener>
  #waiting: Call<Listener>[] = []
  #isCalling = false

  constructor(listeners: ReadonlySet<Listener>) {
    this.#listeners = listeners
  }

  /** Calls all listeners. A listener that is added or removed meanwhile may miss the call. */
  tell(call: Call<Listener>): void {
    this.#waiting.push(call)
    if (!this.#isCalling) this.#continue()
  }

  [Symbol.dispose](): void {
    this.#waiting = []
  }

  #continue(): void {
    this.#isCalling = true
    for (let call; (call = this.#waiting.shift()) !== undefined;) {
      if (this.#callPart(call, Array.from(this.#listeners))) return
    }
    this.#isCalling = false
  }

  /** Calls the next part of the listeners. Returns whether any are left. */
  #callPart(call: Call<Listener>, listeners: readonly Listener[]): boolean {
    for (const each of listeners.slice(0, AT_ONCE)) if (this.#listeners.has(each)) call(each)
    const left = listeners.slice(AT_ONCE)
    if (left.length === 0) return false
    setImmediate(() => {
      if (!this.#callPart(call, left)) this.#continue()
    })
    return true
  }
}
