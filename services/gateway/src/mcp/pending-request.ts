import type { Bus, CallOptions, Frame, OpaqueReplyListener } from '@mcp-host/bus'
import type { McpReplyHead } from '@mcp-host/contracts'
import { BusError, newEnvelope, mcpRequestControl } from '@mcp-host/contracts'
import type { CancelSignal } from 'mcp-host/async'
import type { ResumePoint, ReplyListener } from './core/upstream.ts'

/** After this much silence, and again after each further period, the supervisor is pinged. */
const PING_MS = 1_500
/** Without one for so long it counts as lost: longer than the broker may be away. */
const QUIET_MS = 6_000

export interface PendingRequestOptions {
  readonly server: string
  /** Its name on the bus. */
  readonly id: string
  readonly listener: ReplyListener | undefined
  /** Its abort ends the request at the server. */
  readonly signal: CancelSignal | undefined
  readonly traceparent?: string | undefined
}

type CallBus = Pick<Bus, 'emit' | 'blobs'>

/**
 * A request that is passed on, from the first question to the answer. One object that hears of everything: closures and
 * promises of each step would take several times its memory, and so time.
 */
export class PendingRequest implements OpaqueReplyListener<McpReplyHead> {
  readonly server: string
  readonly id: string
  /** The supervisor that keeps the request, once it is resumable. */
  kept: ResumePoint | undefined
  /** The number of the last reply. */
  number = 0
  /** Whether there was a sign of life since it was asked for last. */
  isAny = false
  /** Whether the supervisor has accepted this gateway as the caller. */
  isOurs = true
  /** Whether nothing may be missing. */
  isWhole = true
  readonly #bus: CallBus
  readonly #listener: ReplyListener | undefined
  readonly #signal: CancelSignal | undefined
  readonly #traceparent: string | undefined
  #answered: PromiseWithResolvers<Frame<McpReplyHead>> | undefined
  #pingAt = 0

  constructor(bus: CallBus, { server, id, listener, signal, traceparent }: PendingRequestOptions) {
    this.#bus = bus
    this.server = server
    this.id = id
    this.#listener = listener
    this.#signal = signal
    this.#traceparent = traceparent
    signal?.addEventListener('abort', this.#leave)
  }

  /**
   * The answer to a question that is asked now. Rejects with a `BusError`, or the signal's reason when the caller
   * leaves.
   */
  ask(begin: (options: CallOptions) => void): Promise<Frame<McpReplyHead>> {
    this.checkCaller()
    this.#answered = Promise.withResolvers()
    this.#pingAt = performance.now() + PING_MS
    const envelope = newEnvelope('local', this.#traceparent)
    // A supervisor that finds the request after the deadline must not begin it.
    envelope.deadline = Date.now() + QUIET_MS
    begin({ envelope, timeoutMs: QUIET_MS })
    return this.#answered.promise
  }

  /** Throws the signal's reason when the caller has left. */
  checkCaller(): void {
    this.#signal?.throwIfAborted()
  }

  /** The caller has gone. */
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
        // It may have been begun again.
        this.number = 0
        this.#listener?.onResumable(this.kept)
        return true
      case 'stored':
        // It was too late to cancel it.
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

  /** Throws `deadline` when what was told before this did not come: the broker was away. */
  #count(number: number): void {
    if (this.isWhole && number !== this.number + 1) {
      throw new BusError('deadline', 'something was lost on the way')
    }
    this.number = number
  }
}
