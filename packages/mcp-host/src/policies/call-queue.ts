import type { CancelSignal } from '../async/cancellation.ts'
import { type Place, WaitingLine } from './waiting-line.ts'

/** Which call goes first when a server is saturated. */
export type CallPriority = 'high' | 'normal' | 'low'

export interface CallQueueOptions {
  /** So many calls run at once. */
  readonly limit: number
  /** More than so many waiting calls are refused; default 10,000. */
  readonly maxWaiting?: number | undefined
}

/** More calls wait already than the queue may hold. */
export class QueueFullError extends Error {
  override readonly name = 'QueueFullError'
}

interface Waiter {
  /** Counts up with each waiter: the smallest has waited longest. */
  readonly ticket: number
  readonly admit: () => void
}

/** Every eighth free slot goes to the call that has waited longest. */
const FAIR_TURN = 8

/**
 * Lets a limited number of calls run. The others wait: the higher priority first, within it first
 * come, first served. Every eighth free slot goes to the call that has waited longest, of
 * whatever priority, so that even under a flood of urgent calls everyone's turn comes.
 */
export class CallQueue {
  readonly #limit: number
  readonly #maxWaiting: number
  readonly #lines: Readonly<Record<CallPriority, WaitingLine<Waiter>>> = {
    high: new WaitingLine(),
    normal: new WaitingLine(),
    low: new WaitingLine(),
  }
  #running = 0
  #waiting = 0
  #tickets = 0
  #turns = 0

  constructor({ limit, maxWaiting = 10_000 }: CallQueueOptions) {
    this.#limit = limit
    this.#maxWaiting = maxWaiting
  }

  get running(): number {
    return this.#running
  }

  /** Whether the next call has to wait. */
  get isFull(): boolean {
    return this.#running >= this.#limit
  }

  get waiting(): number {
    return this.#waiting
  }

  /**
   * `undefined`: the call may run at once. Otherwise it may when the promise resolves, however the
   * signal stands by then; the promise rejects with the signal's reason when that comes first.
   * Throws the reason of a signal that is aborted already, and `QueueFullError`. A call that was admitted
   * calls `leave` once.
   */
  enter(priority: CallPriority, signal?: CancelSignal): Promise<void> | undefined {
    signal?.throwIfAborted()
    if (this.#running < this.#limit) {
      this.#running += 1
      return undefined
    }
    if (this.#waiting >= this.#maxWaiting) {
      throw new QueueFullError(`${this.#waiting} calls are waiting already; try again later`)
    }
    return this.#wait(this.#lines[priority], signal)
  }

  leave(): void {
    const { high, normal, low } = this.#lines
    if (this.#waiting === 0) {
      this.#running -= 1
      return
    }
    this.#turns = (this.#turns + 1) % FAIR_TURN
    const waiters = [high, normal, low].flatMap(({ first }) => first?.value ?? [])
    // The slot is handed over, not freed, so that no newer call can take it.
    const next = this.#turns === 0 ? waiters.toSorted((a, b) => a.ticket - b.ticket)[0] : waiters[0]
    next?.admit()
  }

  #wait(line: WaitingLine<Waiter>, signal: CancelSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const leaveLine = (): void => {
        line.leave(place)
        this.#waiting -= 1
        signal?.removeEventListener('abort', onAbort)
      }
      const onAbort = (): void => {
        leaveLine()
        reject(signal?.reason)
      }
      const admit = (): void => {
        leaveLine()
        resolve()
      }
      const place: Place<Waiter> = line.join({ ticket: this.#tickets, admit })
      this.#tickets += 1
      this.#waiting += 1
      signal?.addEventListener('abort', onAbort)
    })
  }
}
