import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import type { BodyLimits } from './body-reader.ts'
import { BODY_LIMITS } from './body-reader.ts'
import type { PausableReader, ReadBudget } from './read-budget.ts'

const PERIOD_MS = 10_000
/** Time that a client has to answer the close of its socket. */
const CLOSE_LIMIT_MS = 1_000
/** Memory of a piece besides its bytes, since the library keeps a list of pieces. */
const PIECE_BYTES = 300
/** The parsing of refused messages, for all sockets together; their reading is counted elsewhere. */
const REFUSED_BYTES_PER_MS = 2_700
const MAX_REST_MS = 10_000
const REFUSED = Symbol('refused message')
/** The header of a ping or pong. */
const CONTROL_BYTES = 6

/** Tells that a whole message was parsed and refused: after a large one its socket is not read for a while. */
export function noteRefused(socket: WebSocket, bytes: number): void {
  socket.emit(REFUSED, bytes)
}

/** Limits the messages that sockets have begun to receive: their memory together, and the rate of each. */
export class UnfinishedMessages implements Disposable {
  readonly #limits: BodyLimits
  readonly #budget: ReadBudget
  /** The unfinished messages, oldest first. */
  readonly #unfinished = new Set<UnfinishedMessage>()
  readonly #timer = setInterval(() => this.checkRates(), PERIOD_MS).unref()
  #heldBytes = 0
  /** The time at which all refused messages are paid for, on the clock of `performance`. */
  #paidAt = 0

  constructor(budget: ReadBudget, limits: Partial<BodyLimits> = {}) {
    this.#budget = budget
    this.#limits = { ...BODY_LIMITS, ...limits }
  }

  /** Memory of all unfinished messages. */
  get heldBytes(): number {
    return this.#heldBytes
  }

  /** Watches a socket from its opening. The library parses each piece before the listener here counts it. */
  watch(socket: WebSocket, connection: Duplex): void {
    const message = new UnfinishedMessage(socket, connection)
    const skipControl = (data: Buffer): void => message.skip(CONTROL_BYTES + data.length)
    socket.on('message', () => (message.isFinished = true))
    socket.on(REFUSED, (bytes: number) => {
      if (bytes > this.#limits.smallBytes) message.rest(this.#restFor(bytes))
    })
    socket.on('ping', skipControl)
    socket.on('pong', skipControl)
    socket.on('error', () => {
      message.isRefused = true
      this.#release(message)
    })
    connection.on('data', (piece: Buffer) => this.#take(message, piece.length))
    connection.on('close', () => this.#release(message))
  }

  /** Closes the sockets whose unfinished message grew too slowly since the last call. A timer calls it. */
  checkRates(): void {
    const { totalBytes, smallBytes, minBytesPerSecond, minBytesPerSecondWhenCrowded } = this.#limits
    const isCrowded = this.#heldBytes > totalBytes / 2
    for (const message of this.#unfinished) {
      const isPressed = isCrowded && message.heldBytes > smallBytes
      const rate = isPressed ? minBytesPerSecondWhenCrowded : minBytesPerSecond
      if (message.hasGrown((rate * PERIOD_MS) / 1_000)) continue
      this.#close(message, 1008, `message: came at less than ${rate} bytes a second; try again`)
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }

  /** Senders of refused messages wait one after another, and nobody else waits for them. */
  #restFor(bytes: number): number {
    const now = performance.now()
    this.#paidAt = Math.max(this.#paidAt, now) + bytes / REFUSED_BYTES_PER_MS
    return Math.min(this.#paidAt - now, MAX_REST_MS)
  }

  #take(message: UnfinishedMessage, bytes: number): void {
    const { totalBytes, smallBytes } = this.#limits
    if (message.isClosed) return message.pause()
    // The library discards the rest of a refused message.
    if (message.isRefused) return this.#budget.spend(message, bytes)
    this.#heldBytes -= message.heldBytes
    message.add(bytes)
    if (message.heldBytes === 0) return void this.#unfinished.delete(message)
    // A message that is already in the set keeps its position.
    this.#unfinished.add(message)
    this.#heldBytes += message.heldBytes
    if (message.heldBytes > smallBytes) this.#budget.spend(message, bytes + PIECE_BYTES)
    if (this.#heldBytes > totalBytes) this.#closeOldest()
  }

  /**
   * Closes the sockets with the oldest messages until the others fit. Steady senders finish before they are the oldest,
   * and small messages always fit.
   */
  #closeOldest(): void {
    const { totalBytes, smallBytes } = this.#limits
    for (const message of this.#unfinished) {
      if (this.#heldBytes <= totalBytes) return
      if (message.heldBytes <= smallBytes) continue
      this.#close(message, 1013, 'message: too much is being received right now; try again later')
    }
  }

  /** Stops reading, and leaves the client time to see the reason. */
  #close(message: UnfinishedMessage, code: number, reason: string): void {
    this.#release(message)
    message.isClosed = true
    this.#budget.stop(message)
    message.socket.close(code, reason)
    setTimeout(() => message.socket.terminate(), CLOSE_LIMIT_MS).unref()
  }

  #release(message: UnfinishedMessage): void {
    if (this.#unfinished.delete(message)) this.#heldBytes -= message.heldBytes
  }
}

/** The message that a socket has begun to receive, if any. */
class UnfinishedMessage implements PausableReader {
  readonly socket: WebSocket
  /** Whether the current piece ended a message. The beginning of the next message in that piece is not counted. */
  isFinished = false
  /** Whether the library refused the message. */
  isRefused = false
  /** Whether the message is not read any further. */
  isClosed = false
  readonly #connection: Duplex
  #bytes = 0
  #pieces = 0
  /** Its bytes at the last check of the rate; `undefined` before the first one. */
  #checkedBytes: number | undefined
  #isPausedHere = false

  constructor(socket: WebSocket, connection: Duplex) {
    this.socket = socket
    this.#connection = connection
  }

  get heldBytes(): number {
    return this.#bytes + this.#pieces * PIECE_BYTES
  }

  add(bytes: number): void {
    this.#bytes += bytes
    this.#pieces += 1
    if (!this.isFinished && this.#bytes > 0) return
    this.isFinished = false
    this.#bytes = 0
    this.#pieces = 0
    this.#checkedBytes = undefined
  }

  /** Subtracts a ping or pong, which is no part of a message, before its piece is added. */
  skip(bytes: number): void {
    this.#bytes -= bytes
  }

  /** Whether the message grew by so many bytes since the last call. It has a whole period before its first check. */
  hasGrown(bytes: number): boolean {
    const before = this.#checkedBytes
    this.#checkedBytes = this.#bytes
    return before === undefined || this.#bytes - before >= bytes || this.socket.isPaused
  }

  pause(): void {
    // A socket that its message handler has paused is left to that handler.
    if (!this.socket.isPaused) this.#isPausedHere = true
    // The connection is paused again even if it is paused already, since the library resumes it after a refusal.
    this.socket.pause()
  }

  /** Pauses between two messages, when the budget does not hold it. */
  rest(ms: number): void {
    this.pause()
    setTimeout(() => this.resume(), ms).unref()
  }

  resume(): void {
    if (!this.#isPausedHere || this.isClosed) return
    this.#isPausedHere = false
    this.socket.resume()
    // After a refusal the library waits for a drain that never happens.
    if (this.isRefused) this.#connection.resume()
  }
}
