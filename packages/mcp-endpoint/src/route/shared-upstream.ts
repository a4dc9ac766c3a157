import type { CancelSignal } from '@mcp-host/async'
import type {
  ServerMessage,
  ResumePoint,
  ForwardedReply,
  ForwardedRequest,
  ResumedRequest,
  ServerLog,
  Upstream,
  WatchRequest,
} from '../upstream.ts'
import type { Params } from '../messages/json-rpc.ts'

interface Underway {
  readonly forwarded: Promise<ForwardedReply>
  /** The number of callers that wait for the reply. */
  waiting: number
  readonly abandoned: AbortController
}

/** Coalesces identical concurrent reads of servers. */
export class SharedUpstream implements Upstream {
  readonly #upstream: Upstream
  readonly #underway = new Map<string, Underway>()

  constructor(upstream: Upstream) {
    this.#upstream = upstream
  }

  forward(server: string, request: ForwardedRequest): Promise<ForwardedReply> {
    if (!isShareable(request)) return this.#upstream.forward(server, request)
    const { signal, method, params, era, caller } = request
    const key = JSON.stringify([server, era, method, params, caller?.id])
    const known = this.#underway.get(key) ?? this.#begin(key, server, request)
    known.waiting++
    if (signal === undefined) return known.forwarded
    return this.#until(signal, key, known)
  }

  resume(kept: ResumePoint, request: ResumedRequest): Promise<ForwardedReply> {
    return this.#upstream.resume(kept, request)
  }

  answer(ask: string, client: string, message: Params): void {
    this.#upstream.answer(ask, client, message)
  }

  tell(server: string, client: string, what: 'roots-changed' | 'leave'): void {
    this.#upstream.tell(server, client, what)
  }

  watch(server: string, request: WatchRequest): Disposable {
    return this.#upstream.watch(server, request)
  }

  listen(client: string, listener: (message: ServerMessage) => void): Disposable {
    return this.#upstream.listen(client, listener)
  }

  onLog(listener: (log: ServerLog) => void): Disposable {
    return this.#upstream.onLog(listener)
  }

  #begin(key: string, server: string, request: ForwardedRequest): Underway {
    const abandoned = new AbortController()
    const forwarded = this.#upstream
      .forward(server, { ...request, signal: abandoned.signal })
      .finally(() => this.#forget(key, underway))
    const underway: Underway = { forwarded, waiting: 0, abandoned }
    this.#underway.set(key, underway)
    return underway
  }

  /** Waits for the reply until the signal aborts; the last caller that leaves cancels the request. */
  async #until(signal: CancelSignal, key: string, underway: Underway): Promise<ForwardedReply> {
    const left = Promise.withResolvers<never>()
    const onAbort = (): void => {
      left.reject(signal.reason)
      if (--underway.waiting > 0) return
      this.#forget(key, underway)
      underway.abandoned.abort(signal.reason)
    }
    signal.addEventListener('abort', onAbort)
    if (signal.aborted) onAbort()
    try {
      return await Promise.race([underway.forwarded, left.promise])
    } finally {
      signal.removeEventListener('abort', onAbort)
      // No caller may be left to handle a rejection.
      underway.forwarded.catch(() => undefined)
    }
  }

  #forget(key: string, underway: Underway): void {
    if (this.#underway.get(key) === underway) this.#underway.delete(key)
  }
}

/** Whether requests can be coalesced: read-only, and without messages to the caller. */
function isShareable({ isReadOnly, isOwn, client, listener, params }: ForwardedRequest): boolean {
  const isPlain = client === undefined && listener === undefined && isOwn !== true
  return isReadOnly === true && isPlain && params['requestState'] === undefined
}
