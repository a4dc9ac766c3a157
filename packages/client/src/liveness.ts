/** The part of `silenceMs` after which a ping is sent. */
const PING_AFTER = 2 / 3
/** The time limit for the answer after a sleep, or a change of the network: the user waits. */
const AWAKE_PONG_MS = 2_000

export interface LivenessDeps {
  /** A connection on which nothing comes for so long is dead. */
  readonly silenceMs: number
  readonly ping: () => void
  /** The connection answers no more. */
  readonly onDead: () => void
  /** A network is there again, or the page is visible again, and there is no connection. */
  readonly onAwake: () => void
}

interface BrowserPage {
  readonly window: EventTarget
  readonly document: EventTarget & { readonly hidden: boolean }
}

/** Notices a dead connection, which browsers report only after minutes. */
export class Liveness implements Disposable {
  readonly #deps: LivenessDeps
  readonly #stopListening = new AbortController()
  #timer: ReturnType<typeof setTimeout> | undefined
  #isOn = false

  constructor(deps: LivenessDeps) {
    this.#deps = deps
    const wake = (): void => {
      if (this.#isOn) this.#check(AWAKE_PONG_MS)
      else deps.onAwake()
    }
    // Only browsers have them, and the types of Node do not.
    const { window, document } = globalThis as Partial<BrowserPage>
    const { signal } = this.#stopListening
    window?.addEventListener('online', wake, { signal })
    document?.addEventListener('visibilitychange', () => document.hidden || wake(), { signal })
  }

  /** A connection is there. */
  begin(): void {
    this.#isOn = true
    this.heard()
  }

  /** A frame has come: the connection is alive. */
  heard(): void {
    if (!this.#isOn) return
    clearTimeout(this.#timer)
    const pingMs = this.#deps.silenceMs * PING_AFTER
    this.#timer = setTimeout(() => this.#check(this.#deps.silenceMs - pingMs), pingMs)
  }

  /** The connection is over. */
  pause(): void {
    this.#isOn = false
    clearTimeout(this.#timer)
  }

  [Symbol.dispose](): void {
    this.pause()
    this.#stopListening.abort()
  }

  #check(limitMs: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(this.#deps.onDead, limitMs)
    this.#deps.ping()
  }
}
