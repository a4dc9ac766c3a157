import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'

/** For all large bodies together: a share of the CPU that leaves room for everything else. */
const BYTES_PER_MS = 64 * 1024
const PERIOD_MS = 10
const MAX_SAVED = PERIOD_MS * BYTES_PER_MS
/** The most that one read of a socket brings. */
const READ_BYTES = 64 * 1024

/** Shares out the reading of large bodies: over the rate, connections are read in turn. */
export class ReadBudget implements Disposable {
  readonly #waiting = new Set<IncomingMessage>()
  #left = MAX_SAVED
  #filledAt = performance.now()
  #timer: NodeJS.Timeout | undefined

  /** The number of paused connections. */
  get waiting(): number {
    return this.#waiting.size
  }

  /** Counts what was read. The connection waits for its turn when the budget is used up. */
  spend(request: IncomingMessage, bytes: number): void {
    this.#left -= bytes
    if (this.#left > 0 || this.#waiting.has(request)) return
    this.#fill()
    // Injected requests have no connection.
    if (this.#left > 0 || !(request.socket instanceof Socket)) return
    this.#waiting.add(request)
    pauseReading(request)
    this.#timer ??= setInterval(() => this.#resume(), PERIOD_MS)
  }

  /** Reads a connection no more: it is to be closed. */
  stop(request: IncomingMessage): void {
    this.#waiting.delete(request)
    pauseReading(request)
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }

  #resume(): void {
    this.#fill()
    let expected = 0
    for (const request of this.#waiting) {
      if (expected >= this.#left) return
      expected += READ_BYTES
      this.#waiting.delete(request)
      resumeReading(request)
    }
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #fill(): void {
    const now = performance.now()
    this.#left = Math.min(MAX_SAVED, this.#left + (now - this.#filledAt) * BYTES_PER_MS)
    this.#filledAt = now
  }
}

/** Holds against the request, which asks its connection for more after each piece. */
function pauseReading(request: IncomingMessage): void {
  request._read = doNothing
  request.socket.pause()
}

function resumeReading(request: IncomingMessage): void {
  request._read = (bytes) => IncomingMessage.prototype._read.call(request, bytes)
  request.socket.resume()
}

function doNothing(): void {}
