import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { BusError } from '@mcp-host/contracts'
import { ByteBuffer } from './byte-buffer.ts'
import type { PausableReader } from './read-budget.ts'
import { ReadBudget } from './read-budget.ts'

export interface BodyLimits {
  /** Memory for all bodies that a gateway is receiving. */
  readonly totalBytes: number
  /** Bodies up to this size are received even when that memory is used up, so that uploads do not block messages. */
  readonly smallBytes: number
  /** The rate below which a body is cut off; measured over ten seconds. */
  readonly minBytesPerSecond: number
  /** The minimum rate of larger bodies while more than half of the memory is used. */
  readonly minBytesPerSecondWhenCrowded: number
}

export const BODY_LIMITS: BodyLimits = {
  totalBytes: 128 * 1024 * 1024,
  smallBytes: 64 * 1024,
  minBytesPerSecond: 1024,
  minBytesPerSecondWhenCrowded: 64 * 1024,
}

const PERIOD_MS = 10_000
/** With more bodies than this in flight, the reader watches each one from its beginning. */
const MAX_UNWATCHED = 1_000
/** A refused client's body is discarded up to this multiple of the limit; then its connection ends. */
const MAX_DISCARDED = 4
/** The time limit for discarding such a body. */
const DISCARD_MS = 5_000
/** The limit for bodies that no route reads. */
const MAX_UNREAD_BYTES = 1024 * 1024

/** The cost of a piece besides its bytes, for the callback of the parser. */
const PIECE_COST = 4 * 1024
/** A body with more pieces than this is refused when they are too small on average. */
const MAX_TINY_PIECES = 2_048
const MIN_PIECE_BYTES = 32
/**
 * The pause between two refusals of bodies in tiny pieces: clients reconnect at once, and each refusal costs
 * milliseconds.
 */
const TINY_REFUSAL_MS = 2_000

/** Why a body is not read to its end. */
export class BodyFault extends BusError {
  readonly status: 400 | 408 | 413 | 503

  /** Whether the connection cannot be used for further requests. */
  get closes(): boolean {
    return this.status === 400 || this.status === 408
  }

  constructor(status: BodyFault['status'], message: string) {
    const code = status === 503 ? 'unavailable' : status === 408 ? 'deadline' : 'invalid'
    super(code, message, { field: 'body' })
    this.status = status
  }
}

/** A whole body. Its memory counts until it is disposed. */
export interface ReceivedBody extends Disposable {
  readonly bytes: Uint8Array<ArrayBuffer>
}

/** Called once for each body. After a fault of 400 or 408 the connection is to be closed with the answer. */
type Done = (received: ReceivedBody | BodyFault) => void

/** Reads the bodies of requests, within limits on the size, the rate and the memory of all together. */
export class BodyReader implements Disposable {
  readonly #limits: BodyLimits
  readonly #receiving = new ReceivingList()
  readonly #timer = setInterval(() => this.checkRates(), PERIOD_MS).unref()
  /** Shared with the frames of sockets. */
  readonly budget = new ReadBudget()
  #heldBytes = 0
  /** The time of the latest scheduled refusal of a body in tiny pieces. */
  #lastRefusalAt = 0

  constructor(limits: Partial<BodyLimits> = {}) {
    this.#limits = { ...BODY_LIMITS, ...limits }
  }

  /** The memory that bodies hold now. */
  get heldBytes(): number {
    return this.#heldBytes
  }

  /**
   * Receives a body, without a listener for the end or close of its request when the first piece is the whole body, as
   * usual. `checkRates` detects requests that close before their first piece.
   */
  receive(request: IncomingMessage, maxBytes: number, done: Done): void {
    const bytes = Number(request.headers['content-length'])
    const isShort = bytes > 0 && bytes <= Math.min(maxBytes, this.#limits.smallBytes)
    const receiving = new Receiving(request, done)
    if (!isShort || this.#receiving.length >= MAX_UNWATCHED) {
      return this.#listen(receiving, maxBytes)
    }
    this.#receiving.add(receiving)
    request.on('data', (piece: Uint8Array<ArrayBuffer>) => {
      if (piece.length === bytes) {
        this.#receiving.remove(receiving)
        return receiving.end(new WholeBody(piece))
      }
      if (receiving.pieces === 0) this.#watch(receiving)
      this.#take(receiving, piece, maxBytes)
    })
  }

  /** Like `receive`, but reports a body that breaks off at once. Throws `BodyFault`. */
  async read(request: IncomingMessage, maxBytes: number): Promise<ReceivedBody> {
    return new Promise((resolve, reject) => {
      const done: Done = (received) => {
        if (received instanceof BodyFault) reject(received)
        else resolve(received)
      }
      this.#listen(new Receiving(request, done), maxBytes)
    })
  }

  /** Discards the body of a request that is answered without it, up to a limit. Node would read it without limit. */
  discard(request: IncomingMessage): void {
    const { headers, readableFlowing } = request
    const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'])
    // A body that a route reads is left to that route.
    if (!hasBody || readableFlowing !== null) return
    const receiving = new Receiving(request, () => undefined)
    this.#refuse(receiving, new BodyFault(413, 'body: none is expected; send none'))
    this.#listen(receiving, MAX_UNREAD_BYTES / MAX_DISCARDED)
    // This must come before the answer is sent: after that, Node reads the rest itself.
    request.read(0)
  }

  #listen(receiving: Receiving, maxBytes: number): void {
    const { request } = receiving
    if (Number(request.headers['content-length']) > maxBytes) {
      this.#refuse(receiving, tooLarge(maxBytes))
    }
    this.#receiving.add(receiving)
    // The parser calls `push` for each piece. The `data` events follow after all pieces of one read.
    request.push = (piece: Uint8Array | null) => {
      if (piece !== null && receiving.parse(piece.length)) this.#stop(receiving)
      return !receiving.isStopped && IncomingMessage.prototype.push.call(request, piece)
    }
    request.on('data', (piece: Uint8Array<ArrayBuffer>) => this.#take(receiving, piece, maxBytes))
    this.#watch(receiving)
  }

  #watch(receiving: Receiving): void {
    const { request } = receiving
    request.on('end', () => {
      this.#receiving.remove(receiving)
      this.#finish(receiving)
    })
    request.on('close', () => {
      if (!this.#receiving.remove(receiving)) return
      this.#release(receiving)
      receiving.end(new BodyFault(400, 'body: broke off'))
    })
  }

  /** Cuts off the bodies that received too few bytes since the last call. A timer calls it. */
  checkRates(): void {
    const { totalBytes, smallBytes, minBytesPerSecond, minBytesPerSecondWhenCrowded } = this.#limits
    const isCrowded = this.#heldBytes > totalBytes / 2
    for (const receiving of this.#receiving.toArray()) {
      const isPressed = isCrowded && receiving.heldBytes > smallBytes
      const rate = isPressed ? minBytesPerSecondWhenCrowded : minBytesPerSecond
      if (receiving.hasBrought((rate * PERIOD_MS) / 1_000)) continue
      this.#receiving.remove(receiving)
      this.#release(receiving)
      receiving.cut(new BodyFault(408, `body: came at less than ${rate} bytes a second; try again`))
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
    this.budget[Symbol.dispose]()
  }

  #take(receiving: Receiving, piece: Uint8Array<ArrayBuffer>, maxBytes: number): void {
    if (receiving.isStopped) return
    receiving.receivedBytes += piece.length
    receiving.pieces += 1
    const { buffer, receivedBytes, pieces, request } = receiving
    if (receivedBytes + pieces * PIECE_COST > this.#limits.smallBytes) {
      this.budget.spend(receiving, piece.length + PIECE_COST)
    }
    if (!receiving.isOver) {
      const size = buffer.sizeWith(piece.length)
      if (receivedBytes > maxBytes) this.#refuse(receiving, tooLarge(maxBytes))
      else if (!this.#hold(receiving, size)) this.#refuse(receiving, crowded())
      else buffer.append(piece)
    } else if (receivedBytes > MAX_DISCARDED * maxBytes) request.destroy()
  }

  #hold(receiving: Receiving, size: number): boolean {
    const { totalBytes, smallBytes } = this.#limits
    const total = this.#heldBytes + size - receiving.heldBytes
    if (total > totalBytes && size > smallBytes) return false
    receiving.heldBytes = size
    this.#heldBytes = total
    return true
  }

  #release(receiving: Receiving): void {
    this.#heldBytes -= receiving.heldBytes
    receiving.heldBytes = 0
  }

  /** Refuses a body but reads on for a while: clients that are cut off while they send do not see the answer. */
  #refuse(receiving: Receiving, fault: BodyFault): void {
    const { request } = receiving
    this.#release(receiving)
    receiving.end(fault)
    setTimeout(() => {
      if (!request.complete) request.destroy()
    }, DISCARD_MS).unref()
  }

  /** Stops reading a body in tiny pieces and refuses it after a delay, since the client would come back at once. */
  #stop(receiving: Receiving): void {
    if (receiving.isStopped) return
    receiving.isStopped = true
    this.#receiving.remove(receiving)
    this.#release(receiving)
    this.budget.stop(receiving)
    skipRest(receiving.request.socket)
    const now = performance.now()
    this.#lastRefusalAt = Math.max(now, this.#lastRefusalAt + TINY_REFUSAL_MS)
    const fault = new BodyFault(400, 'body: comes in too many tiny pieces; send larger ones')
    setTimeout(() => receiving.cut(fault), this.#lastRefusalAt - now).unref()
  }

  #finish(receiving: Receiving): void {
    if (receiving.isOver) return
    receiving.end(new WholeBody(receiving.buffer.bytes(), () => this.#release(receiving)))
  }
}

class WholeBody implements ReceivedBody {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly #release: (() => void) | undefined

  constructor(bytes: Uint8Array<ArrayBuffer>, release?: () => void) {
    this.bytes = bytes
    this.#release = release
  }

  [Symbol.dispose](): void {
    this.#release?.()
  }
}

/** The state of one body in flight. */
class Receiving implements PausableReader {
  readonly request: IncomingMessage
  buffer = new ByteBuffer()
  receivedBytes = 0
  pieces = 0
  heldBytes = 0
  isOver = false
  /** Whether further pieces are ignored. */
  isStopped = false
  /** The position in the list of bodies in flight; -1 when it is not in the list. */
  index = -1
  readonly #done: Done
  #isPaused = false
  #parsedBytes = 0
  #parsedPieces = 0
  /** Bytes received at the last check of the rate; `undefined` before the first. */
  #checkedBytes: number | undefined

  constructor(request: IncomingMessage, done: Done) {
    this.request = request
    this.#done = done
  }

  /** Counts a piece that the parser found. Returns `true` when too many are tiny. */
  parse(bytes: number): boolean {
    this.#parsedBytes += bytes
    this.#parsedPieces += 1
    return (
      this.#parsedPieces > MAX_TINY_PIECES &&
      this.#parsedBytes < this.#parsedPieces * MIN_PIECE_BYTES
    )
  }

  /** Whether at least so many bytes arrived since the last call. A body has a whole period before its first check. */
  hasBrought(bytes: number): boolean {
    const before = this.#checkedBytes
    this.#checkedBytes = this.receivedBytes
    return before === undefined || this.receivedBytes - before >= bytes
  }

  /** Pauses the connection. The request would resume it after each piece, so its `_read` does nothing meanwhile. */
  pause(): void {
    const { request } = this
    // Injected requests have no connection.
    if (!(request.socket instanceof Socket)) return
    request._read = doNothing
    request.socket.pause()
    if (this.#isPaused) return
    this.#isPaused = true
    // A resume that was requested before this pause restarts reading in the next tick, and a second pause would not
    // stop it.
    process.nextTick(() => this.#isPaused && request.socket.emit('pause'))
  }

  resume(): void {
    const { request } = this
    if (!(request.socket instanceof Socket)) return
    this.#isPaused = false
    request._read = (bytes) => IncomingMessage.prototype._read.call(request, bytes)
    request.socket.resume()
  }

  end(received: ReceivedBody | BodyFault): void {
    if (this.isOver) return
    this.isOver = true
    this.buffer = new ByteBuffer()
    this.#done(received)
  }

  cut(fault: BodyFault): void {
    if (this.isOver) this.request.destroy()
    else this.end(fault)
  }
}

/** The bodies in flight, in no order. Adding and removing takes a tenth of the time of a `Set`. */
class ReceivingList {
  readonly #all: Receiving[] = []

  get length(): number {
    return this.#all.length
  }

  add(receiving: Receiving): void {
    receiving.index = this.#all.push(receiving) - 1
  }

  /** Returns whether the body was in the list. */
  remove(receiving: Receiving): boolean {
    const { index } = receiving
    const last = this.#all.at(-1)
    if (index === -1 || last === undefined) return false
    this.#all[index] = last
    last.index = index
    this.#all.pop()
    receiving.index = -1
    return true
  }

  toArray(): readonly Receiving[] {
    return this.#all.slice()
  }
}

function doNothing(): void {}

/** A property of Node's HTTP parser: its function for each piece of a body. */
const ON_BODY = 3

/**
 * Skips the remaining pieces of the current read: one read can bring 11,000 pieces, which take 15 ms. Node has no
 * public function for this. With a parser that looks different, the pieces are handled and dropped one by one.
 */
function skipRest(socket: Socket & { parser?: Record<number, unknown> | null }): void {
  const { parser } = socket
  const onBody = parser?.[ON_BODY]
  if (!parser || typeof onBody !== 'function' || onBody.name !== 'parserOnBody') return
  parser[ON_BODY] = undefined
  // Ticks run between pieces, immediates after the read. The parser serves other connections after that.
  setImmediate(() => (parser[ON_BODY] = onBody))
}

function tooLarge(maxBytes: number): BodyFault {
  return new BodyFault(413, `body: has more than ${maxBytes} bytes; send less`)
}

function crowded(): BodyFault {
  return new BodyFault(503, 'body: too much is being received right now; try again')
}
