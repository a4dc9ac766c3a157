/** The period of requests for `/health`. */
const PROBE_EVERY_MS = 1_000
/** The time of silence after which the main loop of a process counts as frozen. */
const FROZEN_MS = 10_000
/** The time from SIGTERM to SIGKILL. A loop that recovers within it answers, and stops in order. */
const GRACE_MS = 5_000
/**
 * The lateness of this process's own timer from which the machine counts as busy or suspended. Silence of other
 * processes then proves nothing.
 */
const LATE_MS = 1_000

/** The state that a process reports at `/health`. */
export interface Health {
  readonly isStopping: boolean
}

export interface WatchHealthOptions {
  /**
   * Requests the health of the process. `undefined`: it does not listen, or another process answered. Rejects without
   * an answer.
   */
  readonly probe: (signal: AbortSignal) => Promise<Health | undefined>
  /** Called once, when the process was told to stop. */
  readonly onStopping: () => void
  /** Called once per silence, when the process must get SIGTERM. */
  readonly onFrozen: () => void
  /** Called when SIGTERM has not helped. */
  readonly onStuck: () => void
}

/**
 * Watches a process until disposed, or until it is told to stop. Only silence counts as a failure: a slow answer (on a
 * busy machine) and a refused connection (of a process that stops) are signs of life.
 */
export function watchHealth(options: WatchHealthOptions): Disposable {
  const { probe, onStopping, onFrozen, onStuck } = options
  const over = new AbortController()
  let silentMs = 0
  let hasFrozen = false
  let tickedAt = Date.now()
  const hear = (health: Health | undefined): void => {
    if (over.signal.aborted) return
    silentMs = 0
    hasFrozen = false
    if (health?.isStopping !== true) return
    end()
    onStopping()
  }
  const tick = (): void => {
    const elapsedMs = Date.now() - tickedAt
    tickedAt += elapsedMs
    silentMs = elapsedMs > PROBE_EVERY_MS + LATE_MS ? 0 : silentMs + elapsedMs
    if (hasFrozen && silentMs >= FROZEN_MS + GRACE_MS) {
      end()
      onStuck()
    } else if (!hasFrozen && silentMs >= FROZEN_MS) {
      hasFrozen = true
      onFrozen()
    }
    const signal = AbortSignal.any([over.signal, AbortSignal.timeout(FROZEN_MS)])
    probe(signal).then(hear, () => undefined)
  }
  const timer = setInterval(tick, PROBE_EVERY_MS)
  function end(): void {
    clearInterval(timer)
    over.abort()
  }
  return { [Symbol.dispose]: end }
}
