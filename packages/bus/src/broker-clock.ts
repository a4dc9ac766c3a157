import { z } from 'zod'
import type { Broker } from './broker.ts'
import type { Clock } from './bus.ts'
import { SESSIONS_STREAM } from './streams.ts'

const EVERY_MS = 5_000
/** The answers of one measurement; the quickest one counts. */
const SAMPLES = 3
/** A slower answer says too little about the broker's time. */
const MAX_ROUND_TRIP_MS = 1_000
/** The smallest offset that is reported, and the smallest change of a reported offset. */
const REPORTED_MS = 500

export interface BrokerClockDeps {
  /** Asks the broker for its time, in epoch milliseconds. */
  readonly ask: () => Promise<number>
  /** Called when the offset becomes large, changes much, or becomes small again. */
  readonly onOffset: (offsetMs: number, isLarge: boolean) => void
  readonly wall?: () => number
  readonly monotonic?: () => number
}

/**
 * The broker's clock, followed by the monotonic clock of this process between measurements. Processes compare times by
 * it, since the clocks of their machines may differ.
 */
export class BrokerClock implements Clock, Disposable {
  readonly #deps: Required<BrokerClockDeps>
  #timer: NodeJS.Timeout | undefined
  /** The broker's time minus the monotonic time; until the first measurement that of this process. */
  #base: number
  /** The wall time minus the monotonic time at the last measurement. */
  #wallBase: number
  #measuring: Promise<void> | undefined
  #reportedMs = 0

  constructor({ wall = Date.now, monotonic = () => performance.now(), ...deps }: BrokerClockDeps) {
    this.#deps = { ...deps, wall, monotonic }
    this.#wallBase = wall() - monotonic()
    this.#base = this.#wallBase
  }

  now(): number {
    return Math.round(this.#deps.monotonic() + this.#base)
  }

  offsetMs(): number {
    return this.#deps.wall() - this.now()
  }

  state(): 'right' | 'wrong' {
    return this.#reportedMs === 0 ? 'right' : 'wrong'
  }

  /**
   * Whether a time seems to be over. The broker is asked first, since its clock may have been set and the monotonic
   * clock stops while a machine is suspended.
   */
  async isOver(time: number): Promise<boolean> {
    await this.measure()
    return this.now() > time
  }

  /** Whether `isOver` has to be asked: the time seems to be over, or this machine was suspended or its clock set. */
  mayBeOver(time: number): boolean {
    const { wall, monotonic } = this.#deps
    const moved = wall() - monotonic() - this.#wallBase
    return this.now() > time || (time < Infinity && Math.abs(moved) >= REPORTED_MS)
  }

  /** Measures now, and then regularly until disposed. */
  async start(): Promise<void> {
    await this.measure()
    this.#timer = setInterval(() => void this.measure(), EVERY_MS).unref()
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }

  /** Asks the broker for its time. Without an answer the last measurement counts. Never throws. */
  measure(): Promise<void> {
    this.#measuring ??= this.#measure().finally(() => {
      this.#measuring = undefined
    })
    return this.#measuring
  }

  async #measure(): Promise<void> {
    const { ask, wall, monotonic } = this.#deps
    let quickest = MAX_ROUND_TRIP_MS
    for (let each = 0; each < SAMPLES; each++) {
      const before = monotonic()
      // Calls fail by themselves while the broker is away.
      const time = await ask().catch(() => undefined)
      const roundTrip = monotonic() - before
      if (time === undefined) return
      if (roundTrip >= quickest) continue
      quickest = roundTrip
      this.#base = time - before - roundTrip / 2
      this.#wallBase = wall() - monotonic()
    }
    this.#report(this.offsetMs())
  }

  #report(offsetMs: number): void {
    const isLarge = Math.abs(offsetMs) >= REPORTED_MS
    const wasLarge = this.state() === 'wrong'
    if (isLarge === wasLarge && (!isLarge || Math.abs(offsetMs - this.#reportedMs) < REPORTED_MS)) {
      return
    }
    this.#reportedMs = isLarge ? offsetMs : 0
    this.#deps.onOffset(offsetMs, isLarge)
  }
}

const Timed = z.object({ ts: z.string() })

/** The time of the leader of the session logs, in epoch milliseconds. Every service may ask for it. */
export async function brokerTime({ manager }: Pick<Broker, 'manager'>): Promise<number> {
  return Date.parse(Timed.parse(await manager.streams.info(SESSIONS_STREAM)).ts)
}
