import type { Lease, Leases, LeaseView } from '@mcp-host/bus'

/** After a worker has held a slot for this time, it frees the slot for all workers, even if its own requests wait. */
const TURN_MS = 2_000
/** The time for which this worker then does not try to take the slot. */
const STAND_BACK_MS = 100
/** The period of checks in addition to change notices. */
const LOOK_MS = 1_000

export interface SlotsOptions {
  /** The name of the slots, such as `llm.gemini.run`. All workers that use the name share them. */
  readonly name: string
  /** The time for which a slot outlives its holder. With `isFixed`, each slot is held for exactly this time. */
  readonly ttlMs: number
  readonly isFixed?: boolean
}

export interface SlotsBus {
  readonly id: string
  readonly leases: Leases
}

/** A semaphore of `count` slots shared by all workers. Each slot is a lease; waiting requests get them in order. */
export class Slots {
  readonly #leases: Leases
  readonly #id: string
  readonly #view: LeaseView
  readonly #options: SlotsOptions
  /** The number of slots, which may change. A holder beyond the new number keeps its slot. */
  count = 0
  readonly #waiting = new Set<PromiseWithResolvers<Lease>>()
  /** Slots that this worker holds, with the time when it took them. The view may not have them yet. */
  readonly #own = new Map<string, number>()
  #isHandingOut = false
  #wake: () => void = () => undefined

  constructor({ id, leases }: SlotsBus, view: LeaseView, options: SlotsOptions) {
    this.#leases = leases
    this.#id = id
    this.#view = view
    this.#options = options
    view.onChange(() => this.#wake())
  }

  /** Waits for a slot, until the signal. Return the slot with `free`. */
  async take(signal: AbortSignal): Promise<Lease> {
    signal.throwIfAborted()
    const waiter = Promise.withResolvers<Lease>()
    const onAbort = (): void => {
      this.#waiting.delete(waiter)
      waiter.reject(signal.reason as Error)
    }
    signal.addEventListener('abort', onAbort, { once: true })
    this.#waiting.add(waiter)
    if (!this.#isHandingOut) void this.#handOut()
    try {
      return await waiter.promise
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }

  /**
   * Gives a slot to the longest waiting request of this worker, else to any worker. After `TURN_MS` all workers compete
   * for it.
   */
  free(slot: Lease): void {
    const [first] = this.#waiting
    const isOurTurn = performance.now() - (this.#own.get(slot.key) ?? 0) < TURN_MS
    if (first !== undefined && isOurTurn && slot.isHeld && this.#isWithin(slot.key)) {
      this.#waiting.delete(first)
      first.resolve(slot)
      return
    }
    const wait = first === undefined ? 0 : STAND_BACK_MS
    void slot.release().then(() =>
      setTimeout(() => {
        this.#own.delete(slot.key)
        this.#wake()
      }, wait),
    )
  }

  async #handOut(): Promise<void> {
    this.#isHandingOut = true
    while (this.#waiting.size > 0) {
      // While the broker is away no slot can be acquired. Each waiting request has its own deadline.
      const slot = await this.#acquire().catch(() => undefined)
      if (slot === undefined) await this.#change()
      else this.#give(slot)
    }
    this.#isHandingOut = false
  }

  #give(slot: Lease): void {
    this.#own.set(slot.key, performance.now())
    slot.lost.addEventListener('abort', () => void this.#own.delete(slot.key), { once: true })
    this.free(slot)
  }

  /** Acquires a slot that seems free; `undefined` when there is none. */
  async #acquire(): Promise<Lease | undefined> {
    const { ttlMs, isFixed = false } = this.#options
    const { count } = this
    const start = Math.floor(Math.random() * count)
    for (let index = 0; index < count; index++) {
      const key = this.#key((start + index) % count)
      // A slot that this worker holds without an entry in `#own` may be taken: the reply to its write was lost.
      const holder = this.#view.holders.get(key)?.holder ?? this.#id
      if (this.#own.has(key) || holder !== this.#id) continue
      const slot = await this.#leases.acquire(key, { ttlMs, isFixed })
      if (slot !== undefined) return slot
    }
    return undefined
  }

  #key(index: number): string {
    return `${this.#options.name}.${index}`
  }

  #isWithin(key: string): boolean {
    return Number(key.slice(this.#options.name.length + 1)) < this.count
  }

  #change(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, LOOK_MS)
    this.#wake = resolve
    return promise.finally(() => clearTimeout(timer))
  }
}
