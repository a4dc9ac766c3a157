import type { Bus } from '@mcp-host/bus'
import { BusError, newEnvelope, supervisorControl } from '@mcp-host/contracts'
import { pause, sleep } from '@mcp-host/async'

const PROBE_MS = 200
/** The delay before the second probe. One missing answer may be due to a new subscription; two prove a death. */
const SECOND_PROBE_MS = 100
const PROBE_TIMEOUT_MS = 1_000
/** The time after an outage of the broker in which other supervisors reconnect. */
export const STEADY_MS = 2_000

interface WatchedPeer {
  readonly listeners: Set<() => void>
  readonly stop: AbortController
}

/** Detects the death of other supervisors: the control subject of a dead one has no listener. */
export class Peers {
  readonly #bus: Bus
  readonly #watched = new Map<string, WatchedPeer>()

  constructor(bus: Bus) {
    this.#bus = bus
  }

  /** Calls back whenever a supervisor is found dead, until disposed. All watchers of a supervisor share its probes. */
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

  /** Whether a supervisor left two pings unanswered: it is dead, or cannot reach the broker. */
  async isGone(supervisor: string): Promise<boolean> {
    if (await this.#answers(supervisor)) return false
    await sleep(SECOND_PROBE_MS)
    if (await this.#answers(supervisor)) return false
    return this.#bus.sinceOutageMs() > STEADY_MS
  }

  async #probe(supervisor: string, { listeners, stop: { signal } }: WatchedPeer): Promise<void> {
    while (!signal.aborted) {
      if (await this.isGone(supervisor)) for (const onDead of listeners) onDead()
      await pause(PROBE_MS, signal)
    }
  }

  /**
   * Whether a supervisor listens. A late answer proves no death, since a supervisor may be slow, or frozen until its
   * leases expire.
   */
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
