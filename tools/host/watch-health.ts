/** How often a process is asked for `/health`. */
const PROBE_EVERY_MS = 1_000
/** A process that answers nothing for so long has a frozen main loop. */
const FROZEN_MS = 10_000
/** From SIGTERM to SIGKILL. A loop that goes on meanwhile answers, and stops in order. */
const GRACE_MS = 5_000
/** A timer of our own that is so late means a busy or suspended machine, and that silence is no evidence. */
const LATE_MS = 1_000

/** What a process says of itself. */
export interface Health {
  readonly isStopping: boolean
}

export interface WatchHealthOptions {
  /** Asks the process. `undefined`: it does not listen, or another process answered. Rejects without an answer. */
  readonly probe: (signal: AbortSignal) => Promise<Health | undefined>
  /** Called once, when the process was told to stop. */
  readonly onStopping: () => void
  /** Called once per silence: the process is to be sent SIGTERM. */
  readonly onFrozen: () => void
  /** Called when SIGTERM did not help either. */
  readonly onStuck: () => void
}

/**
 * Watches a process until disposed or told of its stop. Only silence counts: a slow answer, as on a busy machine, and a
 * refused connection, as of a process that stops, are signs of life.
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
