import type { IncomingMessage, Server } from 'node:http'
import { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { BusError } from '@mcp-host/contracts'
import type { OwnerOf } from './oldest-first.ts'
import { addressOf, OldestFirst, PIECE_BYTES, SMALL_BYTES, TOTAL_BYTES } from './oldest-first.ts'
import { PacedConnections } from './paced-connections.ts'
import { ReadBudget } from './read-budget.ts'

/** A refused body is discarded up to this multiple of its limit, and for so long; then its connection ends. */
const MAX_DISCARDED = 4
const DISCARD_MS = 5_000
/** The limit for bodies that no route reads. */
const MAX_UNREAD_BYTES = 1024 * 1024

/** A body of more chunks than this is refused when they are too small on average. */
const MAX_TINY_CHUNKS = 2_048
const MIN_CHUNK_BYTES = 32
/** The cost of a chunk besides its bytes, for the callback of the parser. */
const CHUNK_COST = 64
/** The pause between two refusals of bodies in tiny chunks: clients reconnect at once, and each costs milliseconds. */
const TINY_REFUSAL_MS = 5_000

/** Why a body is not read to its end. */
export class BodyFault extends BusError {
  readonly status: 400 | 413 | 503

  /** Whether the connection cannot be used for further requests. */
  get closes(): boolean {
    return this.status === 400
  }

  constructor(status: BodyFault['status'], message: string) {
    super(status === 503 ? 'unavailable' : 'invalid', message, { field: 'body' })
    this.status = status
  }
}

/** A whole body. Its memory counts until it is disposed. */
export interface ReceivedBody extends Disposable {
  readonly bytes: Uint8Array<ArrayBuffer>
}

/** The limit for one body, and the owner among whose bodies its reading is shared out. */
interface BodyShare {
  readonly maxBytes: number
  readonly owner: string
}

/** Reads the bodies of requests, within limits on the size and the memory of all together. */
export class BodyReader {
  readonly #budget: ReadBudget
  readonly #large: OldestFirst<Body>
  readonly #ownerOf: OwnerOf
  #connections?: PacedConnections
  /** The time of the latest scheduled refusal of a body in tiny chunks. */
  #lastRefusalAt = 0

  constructor(
    budget = new ReadBudget(),
    {
      totalBytes = TOTAL_BYTES,
      ownerOf = addressOf,
    }: { readonly totalBytes?: number; readonly ownerOf?: OwnerOf } = {},
  ) {
    this.#budget = budget
    this.#ownerOf = ownerOf
    this.#large = new OldestFirst(totalBytes, (body) => {
      body.fail(new BodyFault(503, 'body: too much is being received right now; try again'))
    })
  }

  /** Spreads the reads of connections that send tiny chunks at the same time. */
  watch(server: Server): void {
    this.#connections = new PacedConnections(server)
  }

  /** The memory that large bodies hold now. */
  get heldBytes(): number {
    return this.#large.bytes
  }

  /**
   * Calls `done` once, but not for a short body that breaks off: most bodies are a single piece, and to listen for their
   * end would take as long as to read them.
   */
  receive(
    request: IncomingMessage,
    { maxBytes, owner }: BodyShare,
    done: (received: ReceivedBody | BodyFault) => void,
  ): void {
    const length = Number(request.headers['content-length'])
    if (!(length > 0 && length <= Math.min(maxBytes, SMALL_BYTES))) {
      return void this.read(request, maxBytes, owner).then(done, done)
    }
    const pieces: Uint8Array<ArrayBuffer>[] = []
    let bytes = 0
    request.on('data', (piece: Uint8Array<ArrayBuffer>) => {
      if (piece.length === length) return done({ bytes: piece, [Symbol.dispose]: doNothing })
      pieces.push(piece)
      bytes += piece.length
      if (bytes === length) done({ bytes: Buffer.concat(pieces), [Symbol.dispose]: doNothing })
    })
  }

  /** Throws `BodyFault`. After one that closes, the connection is to be closed with the answer. */
  async read(
    request: IncomingMessage,
    maxBytes: number,
    owner = this.#ownerOf(request),
  ): Promise<ReceivedBody> {
    const isTooLarge = Number(request.headers['content-length']) > maxBytes
    return this.#begin(request, { maxBytes, owner }, isTooLarge ? tooLarge(maxBytes) : undefined)
  }

  /** Discards the body of a request that is answered without it, up to a limit. Node would read it without limit. */
  discard(request: IncomingMessage): void {
    const { headers, readableFlowing } = request
    const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'])
    // A body that a route reads is left to that route.
    if (!hasBody || readableFlowing !== null) return
    const fault = new BodyFault(413, 'body: none is expected; send none')
    const share = { maxBytes: MAX_UNREAD_BYTES / MAX_DISCARDED, owner: this.#ownerOf(request) }
    this.#begin(request, share, fault).catch(doNothing)
    // This must come before the answer is sent: after that, Node reads the rest itself.
    request.read(0)
  }

  async #begin(
    request: IncomingMessage,
    { maxBytes, owner }: BodyShare,
    fault?: BodyFault,
  ): Promise<ReceivedBody> {
    const body: Body = new Body((bytes) => this.#large.set(body, owner, bytes))
    if (fault !== undefined) body.fail(fault)
    const { socket } = request
    // Injected requests have no connection.
    const cut = (): unknown => !request.complete && socket instanceof Socket && socket.destroy()
    this.#receive(request, maxBytes, { body, owner, cut })
    try {
      return await body.received
    } catch (error) {
      // Clients that are cut off while they send do not see the answer.
      setTimeout(cut, DISCARD_MS).unref()
      throw error
    }
  }

  /** Reads to the end, also after a fault, or up to a limit. */
  #receive(
    request: IncomingMessage,
    maxBytes: number,
    { body, owner, cut }: { readonly body: Body; readonly owner: string; readonly cut: () => void },
  ): void {
    let bytes = 0
    let chunks = 0
    let cost = 0
    let isStopped = false
    request.on('data', (chunk: Uint8Array) => {
      if (isStopped) return
      bytes += chunk.length
      chunks += 1
      cost += chunk.length + CHUNK_COST
      if (chunks > MAX_TINY_CHUNKS && bytes < chunks * MIN_CHUNK_BYTES) {
        isStopped = true
        return void this.#refuseTiny(request, body)
      }
      if (bytes > MAX_DISCARDED * maxBytes) return cut()
      if (bytes > maxBytes) body.fail(tooLarge(maxBytes))
      body.add(chunk)
      // What was read already is taken first.
      if (bytes <= SMALL_BYTES || request.readableLength > 0) return
      request.pause()
      void this.#budget.turn(cost, owner).then(() => request.resume())
      cost = 0
    })
    request.on('end', () => body.end())
    request.on('close', () => body.fail(new BodyFault(400, 'body: broke off')))
  }

  /** Stops reading, and refuses the body after a delay: its client would come back at once. */
  async #refuseTiny(request: IncomingMessage, body: Body): Promise<void> {
    const { socket } = request
    this.#connections?.countTiny(socket)
    request.pause()
    // The other chunks of this read are dropped at once: that resumes the connection in the next tick.
    setImmediate(() => {
      request.read()
      // Injected requests have no connection.
      if (socket instanceof Socket) process.nextTick(() => socket.pause())
    })
    const now = performance.now()
    this.#lastRefusalAt = Math.max(now, this.#lastRefusalAt + TINY_REFUSAL_MS)
    await delay(this.#lastRefusalAt - now)
    body.fail(new BodyFault(400, 'body: comes in too many tiny pieces; send larger ones'))
  }
}

/** A body in flight. */
class Body {
  /** Is told the memory that the body holds. */
  readonly #hold: (bytes: number) => void
  readonly #result = Promise.withResolvers<ReceivedBody>()
  // Not one buffer that grows: to copy megabytes again and again would delay others.
  #pieces: Uint8Array[] = []
  #bytes = 0
  #isOver = false

  constructor(hold: (bytes: number) => void) {
    this.#hold = hold
  }

  get received(): Promise<ReceivedBody> {
    return this.#result.promise
  }

  add(piece: Uint8Array): void {
    if (this.#isOver) return
    this.#pieces.push(piece)
    this.#bytes += piece.length
    this.#hold(this.#bytes + this.#pieces.length * PIECE_BYTES)
  }

  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    const bytes = Buffer.concat(this.#pieces)
    this.#pieces = []
    this.#result.resolve({ bytes, [Symbol.dispose]: () => this.#hold(0) })
  }

  fail(fault: BodyFault): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#pieces = []
    this.#hold(0)
    this.#result.reject(fault)
  }
}

function doNothing(): void {}

function tooLarge(maxBytes: number): BodyFault {
  return new BodyFault(413, `body: has more than ${maxBytes} bytes; send less`)
}
