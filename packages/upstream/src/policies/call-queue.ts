import type { CancelSignal } from '@mcp-host/async'
import { type Position, WaitingLine } from './waiting-line.ts'

/** The priority of a call when a server is saturated. */
export type CallPriority = 'high' | 'normal' | 'low'

export interface CallQueueOptions {
  /** The number of calls that run at once. */
  readonly limit: number
  /** The number of waiting calls; more are refused. Default 10,000. */
  readonly maxWaiting?: number | undefined
}

/** The queue has no room for another waiting call. */
export class QueueFullError extends Error {
  override readonly name = 'QueueFullError'
}

interface Waiter {
  /** The order of arrival. The smallest number has waited longest. */
  readonly number: number
  readonly admit: () => void
}

/** Every eighth free slot goes to the call that has waited longest, so that low priorities do not starve. */
const FAIR_SLOT = 8

/** Limits the number of concurrent calls. The others wait in the order of their priority, then of their arrival. */
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
  #waiters = 0
  #freedSlots = 0

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
   * Admits a call: at once when it returns `undefined`, otherwise when the promise resolves. The promise rejects with
   * the signal's reason when that aborts first. Throws the reason of an aborted signal, and `QueueFullError`. An admitted
   * call must call `leave` once.
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
    this.#freedSlots = (this.#freedSlots + 1) % FAIR_SLOT
    const waiters = [high, normal, low].flatMap(({ first }) => first?.value ?? [])
    if (this.#freedSlots === 0) waiters.sort((one, other) => one.number - other.number)
    // The slot is handed over, not freed, so that no newer call can take it.
    waiters[0]?.admit()
  }

  #wait(line: WaitingLine<Waiter>, signal: CancelSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const leaveLine = (): void => {
        line.leave(position)
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
      const position: Position<Waiter> = line.join({ number: this.#waiters, admit })
      this.#waiters += 1
      this.#waiting += 1
      signal?.addEventListener('abort', onAbort)
    })
  }
}
