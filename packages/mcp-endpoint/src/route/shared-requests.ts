import type { CancelSignal } from '@mcp-host/async'
import type {
  ServerMessage,
  ResumePoint,
  ServerReply,
  OutgoingRequest,
  ResumedRequest,
  ServerLog,
  Servers,
  WatchRequest,
} from '../servers.ts'
import type { Params } from '../messages/json-rpc.ts'

interface Underway {
  readonly answer: Promise<ServerReply>
  /** The number of callers that wait for the reply. */
  waiting: number
  readonly abandoned: AbortController
}

/** Coalesces identical concurrent reads of servers. */
export class SharedRequests implements Servers {
  readonly #servers: Servers
  readonly #underway = new Map<string, Underway>()

  constructor(servers: Servers) {
    this.#servers = servers
  }

  send(server: string, request: OutgoingRequest): Promise<ServerReply> {
    if (!isShareable(request)) return this.#servers.send(server, request)
    const { signal, method, params, era, caller } = request
    const key = JSON.stringify([server, era, method, params, caller?.id])
    const known = this.#underway.get(key) ?? this.#begin(key, server, request)
    known.waiting++
    if (signal === undefined) return known.answer
    return this.#until(signal, key, known)
  }

  resume(kept: ResumePoint, request: ResumedRequest): Promise<ServerReply> {
    return this.#servers.resume(kept, request)
  }

  answer(ask: string, client: string, message: Params): void {
    this.#servers.answer(ask, client, message)
  }

  tell(server: string, client: string, what: 'roots-changed' | 'leave'): void {
    this.#servers.tell(server, client, what)
  }

  watch(server: string, request: WatchRequest): Disposable {
    return this.#servers.watch(server, request)
  }

  listen(client: string, listener: (message: ServerMessage) => void): Disposable {
    return this.#servers.listen(client, listener)
  }

  onLog(listener: (log: ServerLog) => void): Disposable {
    return this.#servers.onLog(listener)
  }

  #begin(key: string, server: string, request: OutgoingRequest): Underway {
    const abandoned = new AbortController()
    const answer = this.#servers
      .send(server, { ...request, signal: abandoned.signal })
      .finally(() => this.#forget(key, underway))
    const underway: Underway = { answer, waiting: 0, abandoned }
    this.#underway.set(key, underway)
    return underway
  }

  /** Waits for the reply until the signal aborts; the last caller that leaves cancels the request. */
  async #until(signal: CancelSignal, key: string, underway: Underway): Promise<ServerReply> {
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
      return await Promise.race([underway.answer, left.promise])
    } finally {
      signal.removeEventListener('abort', onAbort)
      // No caller may be left to handle a rejection.
      underway.answer.catch(() => undefined)
    }
  }

  #forget(key: string, underway: Underway): void {
    if (this.#underway.get(key) === underway) this.#underway.delete(key)
  }
}

/** Whether requests can be coalesced: read-only, and without messages to the caller. */
function isShareable({ isReadOnly, isOwn, client, listener, params }: OutgoingRequest): boolean {
  const isPlain = client === undefined && listener === undefined && isOwn !== true
  return isReadOnly === true && isPlain && params['requestState'] === undefined
}
