import type { Bus, CallOptions, Frame, OpaqueReplyListener } from '@mcp-host/bus'
import type { Caller, McpReplyHead } from '@mcp-host/contracts'
import { BusError, mcpRequestControl, newEnvelope, NOBODY } from '@mcp-host/contracts'
import type { CancelSignal } from '@mcp-host/async'
import type { ReplyListener, ResumePoint } from '@mcp-host/mcp-endpoint'

/** The period of silence after which the supervisor is pinged. */
const PING_MS = 1_500
/** The period of silence after which the request counts as lost. It is longer than an outage of the broker may be. */
const QUIET_MS = 6_000

export interface PendingRequestOptions {
  readonly server: string
  /** The request's name on the bus. */
  readonly id: string
  readonly listener: ReplyListener | undefined
  /** Its abort ends the request at the server. */
  readonly signal: CancelSignal | undefined
  readonly traceparent?: string | undefined
  readonly caller?: Caller | undefined
}

type CallBus = Pick<Bus, 'emit' | 'blobs'>

/**
 * A request that was sent, until its answer. A single object handles all events: closures and promises for each step would
 * take several times its memory and time.
 */
export class PendingRequest implements OpaqueReplyListener<McpReplyHead> {
  readonly server: string
  readonly id: string
  /** The supervisor that keeps the request, once it is resumable. */
  kept: ResumePoint | undefined
  /** The number of the last reply. */
  number = 0
  /** Whether anything arrived since the request was last sent. */
  isAny = false
  /** Whether the supervisor has accepted this gateway as the caller. */
  isOurs = true
  /** Whether all earlier replies must have arrived. */
  isWhole = true
  readonly #bus: CallBus
  readonly #listener: ReplyListener | undefined
  readonly #signal: CancelSignal | undefined
  readonly #traceparent: string | undefined
  readonly #caller: Caller
  #answered: PromiseWithResolvers<Frame<McpReplyHead>> | undefined
  #pingAt = 0

  constructor(
    bus: CallBus,
    { server, id, listener, signal, traceparent, caller }: PendingRequestOptions,
  ) {
    this.#bus = bus
    this.server = server
    this.id = id
    this.#listener = listener
    this.#signal = signal
    this.#traceparent = traceparent
    this.#caller = caller ?? NOBODY
    signal?.addEventListener('abort', this.#leave)
  }

  /**
   * Sends the request and waits for its answer. Rejects with a `BusError`, or with the signal's reason when the caller
   * leaves.
   */
  ask(begin: (options: CallOptions) => void): Promise<Frame<McpReplyHead>> {
    this.checkCaller()
    this.#answered = Promise.withResolvers()
    this.#pingAt = performance.now() + PING_MS
    const envelope = newEnvelope(this.#caller, this.#traceparent)
    // A supervisor that was frozen must not begin the request later.
    begin({ envelope, timeoutMs: QUIET_MS, expires: true })
    return this.#answered.promise
  }

  /** Throws the signal's reason when the caller has left. */
  checkCaller(): void {
    this.#signal?.throwIfAborted()
  }

  /** Called when the caller has gone. */
  end(): void {
    this.#signal?.removeEventListener('abort', this.#leave)
  }

  onAnswer(answer: Frame<McpReplyHead>): boolean {
    const { head, body } = answer
    this.isAny = true
    this.isOurs = true
    if ('number' in head && head.number !== undefined) this.#count(head.number)
    switch (head.type) {
      case 'running':
        return true
      case 'notice':
        this.#listener?.onNotice(head.method, Buffer.from(body).toString(), head.number)
        return true
      case 'ask':
        this.#listener?.onAsk(head.ask, head.method, Buffer.from(body).toString(), head.number)
        return true
      case 'kept':
        this.kept = { supervisor: head.supervisor, server: this.server, id: this.id }
        // The request may have been sent again.
        this.number = 0
        this.#listener?.onResumable(this.kept)
        return true
      case 'stored':
        // The request had already ended.
        if (this.#signal?.aborted === true) this.forget(head.key)
        break
      default:
    }
    this.#answered?.resolve(answer)
    return false
  }

  onFailure(error: BusError): void {
    this.#answered?.reject(error)
  }

  onWaiting(): void {
    const now = performance.now()
    if (now < this.#pingAt || this.#signal?.aborted === true) return
    this.#pingAt = now + PING_MS
    this.#control('ping')
  }

  /** Removes a stored result, unless the request is resumable; otherwise it expires. */
  forget(key: string): void {
    if (this.kept === undefined) this.#bus.blobs.remove(key).catch(() => undefined)
  }

  readonly #leave = (): void => {
    this.#control('cancel')
    this.#answered?.reject(this.#signal?.reason)
  }

  #control(action: 'cancel' | 'ping'): void {
    const { server, id } = this
    if (this.isOurs) this.#bus.emit(mcpRequestControl, { server }, { id, action })
  }

  /** Throws `deadline` when replies before this one are missing: the broker was away. */
  #count(number: number): void {
    if (this.isWhole && number !== this.number + 1) {
      throw new BusError('deadline', 'something was lost on the way')
    }
    this.number = number
  }
}
