import type { Bus } from '@mcp-host/bus'
import { BusError, newEnvelope, supervisorControl } from '@mcp-host/contracts'
import { sleep } from 'mcp-host/async'

const PROBE_MS = 200
/** One missing answer may be a subscription that is just being made; two are a death. */
const SECOND_PROBE_MS = 100
const PROBE_TIMEOUT_MS = 1_000
/** After an outage of the broker the others need a moment to be connected again. */
export const STEADY_MS = 2_000

/** Finds out when other supervisors die: their control subject goes with them. */
export class Peers {
  readonly #bus: Bus
  readonly #watched = new Map<string, { listeners: Set<() => void>; stop: AbortController }>()

  constructor(bus: Bus) {
    this.#bus = bus
  }

  /** Calls whenever a supervisor is found dead, until disposed. However many watch it, it is asked once. */
  watch(supervisor: string, onDead: () => void): Disposable {
    const known = this.#watched.get(supervisor)
    const watched = known ?? { listeners: new Set(), stop: new AbortController() }
    watched.listeners.add(onDead)
    if (known === undefined) {
      this.#watched.set(supervisor, watched)
      void this.#probe(supervisor, watched)
    }
    return {
      [Symbol.dispose]: () => {
        watched.listeners.delete(onDead)
        if (watched.listeners.size > 0 || watched.stop.signal.aborted) return
        watched.stop.abort()
        this.#watched.delete(supervisor)
      },
    }
  }

  /** Whether a supervisor does not answer twice: it is dead, or cannot reach the broker. */
  async isGone(supervisor: string): Promise<boolean> {
    if (await this.#answers(supervisor)) return false
    await sleep(SECOND_PROBE_MS)
    if (await this.#answers(supervisor)) return false
    return this.#bus.sinceOutageMs() > STEADY_MS
  }

  async #probe(
    supervisor: string,
    { listeners, stop: { signal } }: { listeners: Set<() => void>; stop: AbortController },
  ): Promise<void> {
    while (!signal.aborted) {
      if (await this.isGone(supervisor)) for (const onDead of listeners) onDead()
      // Aborted: there are no listeners left.
      await sleep(PROBE_MS, signal).catch(() => undefined)
    }
  }

  /** A late answer is no proof of death: it may be slow or frozen, and its leases will tell. */
  async #answers(supervisor: string): Promise<boolean> {
    try {
      const options = { envelope: newEnvelope('local'), timeoutMs: PROBE_TIMEOUT_MS }
      await this.#bus.call(supervisorControl, { supervisor }, { action: 'ping' }, options)
      return true
    } catch (error) {
      return BusError.from(error).code !== 'unavailable'
    }
  }
}
