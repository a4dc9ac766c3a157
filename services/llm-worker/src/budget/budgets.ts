import type { LeaseView } from '@mcp-host/bus'
import { sleep } from '@mcp-host/async'
import type { Limits } from '../settings/llm-file.ts'
import type { SlotsBus, SlotsOptions } from './slots.ts'
import { Slots } from './slots.ts'

const RETRY_MS = 200

/** The slots of a crashed worker are free again after this time. */
const RUN_TTL_MS = 10_000
const MINUTE_MS = 60_000

/** The limits of providers, shared by all workers. */
export class Budgets {
  readonly #bus: SlotsBus
  readonly #minuteMs: number
  readonly #slots = new Map<string, Slots>()
  #view: Promise<LeaseView> | undefined

  constructor(bus: SlotsBus, { minuteMs = MINUTE_MS } = {}) {
    this.#bus = bus
    this.#minuteMs = minuteMs
  }

  /**
   * Waits until the limits of a provider allow another request, or the signal aborts. The request counts as in flight
   * until the result is disposed.
   */
  async enter(
    provider: string,
    { concurrent, requestsPerMinute }: Limits,
    signal: AbortSignal,
  ): Promise<Disposable> {
    using stack = new DisposableStack()
    if (concurrent !== undefined) {
      const options = { name: `llm.${provider}.run`, ttlMs: RUN_TTL_MS }
      const slots = await this.#of(options, concurrent, signal)
      stack.adopt(await slots.take(signal), (slot) => slots.free(slot))
    }
    if (requestsPerMinute !== undefined) {
      // Each slot is held for a whole minute, so that no minute has more requests than slots.
      const options = { name: `llm.${provider}.minute`, ttlMs: this.#minuteMs, isFixed: true }
      await (await this.#of(options, requestsPerMinute, signal)).take(signal)
    }
    return stack.move()
  }

  async #of(options: SlotsOptions, count: number, signal: AbortSignal): Promise<Slots> {
    const view = await this.#watched(signal)
    const slots = this.#slots.get(options.name) ?? new Slots(this.#bus, view, options)
    slots.count = count
    this.#slots.set(options.name, slots)
    return slots
  }

  /** Watches the holders of all slots. Waits while the broker is away, until the signal. */
  async #watched(signal: AbortSignal): Promise<LeaseView> {
    for (;;) {
      signal.throwIfAborted()
      this.#view ??= this.#bus.leases.watch('llm.>')
      const asked = this.#view
      const view = await asked.catch(() => undefined)
      if (view !== undefined) return view
      if (this.#view === asked) this.#view = undefined
      await sleep(RETRY_MS, signal)
    }
  }
}
