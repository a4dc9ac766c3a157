import { setTimeout as sleep } from 'node:timers/promises'
import type { Bus, CallOptions, Frame } from '@mcp-host/bus'
import type { PassHead, PassReply } from '@mcp-host/contracts'
import {
  BusError,
  clientMessage,
  newEnvelope,
  passClientRequest,
  passControl,
  passRequest,
  resourceUpdated,
  resumeRequest,
  WATCH_MS,
  watchClientResources,
  watchResources,
} from '@mcp-host/contracts'
import type { Params } from './core/rpc.ts'
import { isObject, RpcCode, RpcFault } from './core/rpc.ts'
import type {
  ClientMessage,
  KeptPlace,
  Passed,
  PassedRequest,
  PassListener,
  ResumedRequest,
  Upstream,
  WatchRequest,
} from './core/upstream.ts'
import { MOVED } from './core/upstream.ts'

/** After so much silence whoever runs a request is asked for a sign of life, again and again. */
const PING_MS = 1_500
/** Without one for so long it counts as lost: longer than the broker may be away. */
const QUIET_MS = 6_000
/** How long a request waits for a supervisor that has its server. */
const PATIENCE_MS = 5_000
const RETRY_MS = 100
/** A message of the bus has 1 MiB, with what goes before the parameters. */
const MAX_PARAMS_BYTES = 1_000_000

/** How soon a watch that failed, or was not kept, is tried again. */
const WATCH_AGAIN_MS = WATCH_MS / 3
const WATCH_TIMEOUT_MS = 10_000

type UpstreamBus = Pick<Bus, 'id' | 'pass' | 'call' | 'emit' | 'listen' | 'blobs'>

/** Passes requests on over the bus, to whichever supervisor has the server. */
export class BusUpstream implements Upstream {
  readonly #bus: UpstreamBus
  #count = 0

  constructor(bus: UpstreamBus) {
    this.#bus = bus
  }

  async pass(server: string, { params, ...request }: PassedRequest): Promise<Passed> {
    const { method, era, onNotice, onKept, client, isOwn } = request
    const id = `${this.#bus.id}-${this.#count++}`
    const head: PassHead = {
      method,
      id,
      era,
      ...(onNotice && { progress: true }),
      ...(onKept && { isResumable: true }),
      ...(client && { client }),
    }
    const process = isOwn === true ? processOf(params, client) : undefined
    const question = { head, body: toBody(params), process }
    const heard: Heard = { number: 0, isAny: false, isOurs: true, isWhole: true }
    return this.#passed(server, await this.#deliver(server, question, request, heard), heard)
  }

  async resume(kept: KeptPlace, { client, after, ...request }: ResumedRequest): Promise<Passed> {
    // An id that was made up must not end what others have asked for.
    const heard: Heard = { kept, number: after, isAny: false, isOurs: false, isWhole: false }
    const answer = await this.#takeUp(kept, client, request, heard, PATIENCE_MS)
    return this.#passed(kept.server, answer, heard)
  }

  answer(ask: string, { result, error }: Readonly<Record<string, unknown>>): void {
    // It begins with the server that wants it; what was made up means nothing to anybody.
    const [, server] = /^([A-Za-z0-9_-]+)\.[0-9a-f-]+$/.exec(ask) ?? []
    if (server === undefined) return
    const said = { ...(isObject(result) ? { result } : {}), ...(isError(error) ? { error } : {}) }
    this.#bus.emit(passControl, { server }, { action: 'answer', ask, ...said })
  }

  tell(server: string, client: string, action: 'roots-changed' | 'leave'): void {
    this.#bus.emit(passControl, { server }, { action, client })
  }

  watch(server: string, { uris, client, onUpdated }: WatchRequest): Disposable {
    const stack = new DisposableStack()
    stack.use(
      this.#bus.listen(resourceUpdated, { server }, ({ uri, client: meant }) => {
        if (meant === client) onUpdated(uri)
      }),
    )
    // Again and again: whoever has the server now may be another.
    const watch = (): void => void this.#watch(server, uris, client).catch(() => undefined)
    const again = setInterval(watch, WATCH_AGAIN_MS)
    stack.defer(() => clearInterval(again))
    watch()
    return stack
  }

  listen(client: string, listener: (message: ClientMessage) => void): Disposable {
    return this.#bus.listen(clientMessage, { client }, listener)
  }

  /** Where each client has a process of its own, that of this client; it is started for nobody. */
  async #watch(server: string, uris: readonly string[], client?: string): Promise<void> {
    const request = { uris: [...uris] }
    const options = { envelope: newEnvelope('local'), timeoutMs: WATCH_TIMEOUT_MS }
    if (client === undefined) await this.#bus.call(watchResources, { server }, request, options)
    else await this.#bus.call(watchClientResources, { server, client }, request, options)
  }

  async #passed(server: string, { head, body }: Frame<PassReply>, heard: Heard): Promise<Passed> {
    if (head.type === 'moved') throw MOVED
    if (head.type === 'error') return { type: 'error', json: body, code: head.code }
    if (head.type !== 'stored') {
      const isRefused = head.type === 'result' && head.isRefused === true
      return { type: 'result', json: body, ...(isRefused && { isRefused }) }
    }
    try {
      return { type: 'result', json: await this.#bus.blobs.get(head.key) }
    } catch (error) {
      throw unknownOutcome(server, `its result cannot be read: ${BusError.from(error).message}`)
    } finally {
      this.#forget(head, heard)
    }
  }

  /** Asks until somebody takes it; once it was taken, never again, unless it only reads. */
  async #deliver(
    server: string,
    question: Question,
    request: Listener & Pick<PassedRequest, 'client'>,
    heard: Heard,
  ): Promise<Frame<PassReply>> {
    const giveUpAt = performance.now() + PATIENCE_MS
    let mayRepeat = request.isReadOnly === true
    for (;;) {
      request.signal?.throwIfAborted()
      try {
        return await this.#find(server, question, request, heard)
      } catch (error) {
        request.signal?.throwIfAborted()
        const { code } = BusError.from(error)
        const { kept } = heard
        // What was said may have been lost on the way, with the answer.
        if (code === 'deadline' && kept !== undefined && request.client !== undefined) {
          return this.#takeUp(kept, request.client.id, request, heard, 0)
        }
        // Nobody was there, so nothing was begun.
        const mayWait = code === 'unavailable' && performance.now() < giveUpAt
        const isLost = code === 'deadline' && mayRepeat
        if (!mayWait && !isLost) throw toFault(error, server)
        if (isLost) mayRepeat = false
        else await sleep(RETRY_MS)
      }
    }
  }

  /** Asks the caller's own process, where it has one, else anybody who has the server. */
  async #find(
    server: string,
    question: Question,
    request: Listener,
    heard: Heard,
  ): Promise<Frame<PassReply>> {
    const { process } = question
    const { id } = question.head
    const anybody = (options: PassOptions): Promise<Frame<PassReply>> =>
      this.#bus.pass(passRequest, { server }, question, options)
    if (process === undefined) return this.#hear({ server, id }, anybody, request, heard)
    const own = (options: PassOptions): Promise<Frame<PassReply>> =>
      this.#bus.pass(passClientRequest, { server, client: process }, question, options)
    try {
      return await this.#hear({ server, id }, own, request, heard)
    } catch (error) {
      if (BusError.from(error).code !== 'unavailable') throw error
      // Not there yet, or not any more.
      return this.#hear({ server, id }, anybody, request, heard)
    }
  }

  /** Asks who keeps a request for the rest; `patienceMs`: how long they may be away. */
  async #takeUp(
    { supervisor, server, id }: KeptPlace,
    client: string,
    request: Listener,
    heard: Heard,
    patienceMs: number,
  ): Promise<Frame<PassReply>> {
    let giveUpAt = performance.now() + patienceMs
    for (;;) {
      request.signal?.throwIfAborted()
      heard.isAny = false
      // The oldest may not be kept any more.
      heard.isWhole = false
      const ask = (options: PassOptions): Promise<Frame<PassReply>> => {
        const head = { id, client, after: heard.number }
        return this.#bus.pass(resumeRequest, { supervisor }, { head, body: '' }, options)
      }
      try {
        return await this.#hear({ server, id }, ask, request, heard)
      } catch (error) {
        request.signal?.throwIfAborted()
        if (heard.isAny) giveUpAt = performance.now() + PATIENCE_MS
        const { code } = BusError.from(error)
        const isAway = code === 'unavailable' || (code === 'deadline' && heard.isAny)
        if (isAway && performance.now() < giveUpAt) await sleep(RETRY_MS)
        else if (isAway || code === 'not-found') throw unknownOutcome(server, GONE)
        else throw toFault(error, server)
      }
    }
  }

  /** Asks, and tells what comes before the answer. */
  async #hear(
    { server, id }: Pick<KeptPlace, 'server' | 'id'>,
    ask: (options: PassOptions) => Promise<Frame<PassReply>>,
    { signal, onNotice, onAsk, onKept, traceparent }: Listener,
    heard: Heard,
  ): Promise<Frame<PassReply>> {
    const control = (action: 'cancel' | 'ping'): void => {
      if (heard.isOurs) this.#bus.emit(passControl, { server }, { id, action })
    }
    const ping = setInterval(() => control('ping'), PING_MS)
    const answered = ask({
      // Whoever finds it later than we wait must not begin it.
      envelope: { ...newEnvelope('local', traceparent), deadline: Date.now() + QUIET_MS },
      timeoutMs: QUIET_MS,
      onPart({ head, body }) {
        heard.isAny = true
        heard.isOurs = true
        if ('number' in head && head.number !== undefined) count(heard, head.number)
        switch (head.type) {
          case 'notice':
            onNotice?.(head.method, Buffer.from(body).toString(), head.number)
            return true
          case 'ask':
            onAsk?.(head.ask, head.method, Buffer.from(body).toString(), head.number)
            return true
          case 'kept':
            heard.kept = { supervisor: head.supervisor, server, id }
            // It may have been begun again.
            heard.number = 0
            onKept?.(heard.kept)
            return true
          default:
            return head.type === 'running'
        }
      },
    })
    try {
      if (signal === undefined) return await answered
      const left = Promise.withResolvers<never>()
      const onAbort = (): void => {
        control('cancel')
        left.reject(signal.reason)
        // It may have been too late for that.
        answered.then(
          ({ head }) => head.type === 'stored' && this.#forget(head, heard),
          () => undefined,
        )
      }
      signal.addEventListener('abort', onAbort)
      try {
        return await Promise.race([answered, left.promise])
      } finally {
        signal.removeEventListener('abort', onAbort)
      }
    } finally {
      clearInterval(ping)
    }
  }

  /** Nobody else reads it, unless it is kept; what is left ends by itself. */
  #forget({ key }: { readonly key: string }, { kept }: Heard): void {
    if (kept === undefined) this.#bus.blobs.remove(key).catch(() => undefined)
  }
}

interface Question {
  readonly head: PassHead
  readonly body: string
  /** Which one takes it, where the caller has one of its own. */
  readonly process: string | undefined
}

type Listener = PassListener & Pick<PassedRequest, 'signal' | 'traceparent' | 'isReadOnly'>

/** What is known of a request that is under way. */
interface Heard {
  kept?: KeptPlace
  /** Of the last that was told. */
  number: number
  /** Whether there was a sign of life since it was asked for last. */
  isAny: boolean
  /** Whether whoever runs it has taken us for its caller. */
  isOurs: boolean
  /** Whether nothing may be missing. */
  isWhole: boolean
}

/** Throws `deadline` when what was told before this did not come: the broker was away. */
function count(heard: Heard, number: number): void {
  if (heard.isWhole && number !== heard.number + 1) {
    throw new BusError('deadline', 'something was lost on the way')
  }
  heard.number = number
}

const GONE = 'it went away during the request'

type PassOptions = CallOptions & { readonly onPart: (part: Frame<PassReply>) => boolean }

/** Throws `RpcFault` when it does not fit into a message of the bus. */
function toBody(params: Params): string {
  let body: string
  try {
    body = JSON.stringify(params)
  } catch {
    // What could be read cannot always be written.
    throw new RpcFault(RpcCode.invalidParams, 'params: are nested too deeply')
  }
  const bytes = Buffer.byteLength(body)
  if (bytes <= MAX_PARAMS_BYTES) return body
  const message = `params: have ${bytes} bytes as JSON, more than the ${MAX_PARAMS_BYTES} that go through; send less`
  throw new RpcFault(RpcCode.invalidParams, message)
}

/** The process of the caller's session, or the one that waits for the caller to come back. */
function processOf({ requestState }: Params, client: PassedRequest['client']): string | undefined {
  if (client !== undefined) return client.id
  if (typeof requestState !== 'string') return undefined
  return /^mcp-host\.([A-Za-z0-9_-]+)\./.exec(requestState)?.[1]
}

function isError(error: unknown): error is { code: number; message: string } {
  return (
    isObject(error) && typeof error['code'] === 'number' && typeof error['message'] === 'string'
  )
}

/** Why there was no answer, and whether it may be asked again. */
function toFault(error: unknown, server: string): RpcFault {
  if (error instanceof RpcFault) return error
  const { code, message } = BusError.from(error)
  if (code === 'deadline') return unknownOutcome(server, GONE)
  if (code !== 'unavailable') return new RpcFault(RpcCode.internal, message, { data: { server } })
  return new RpcFault(RpcCode.unavailable, `the server "${server}" is not available right now`, {
    data: { server, reason: 'unavailable', retryable: true },
  })
}

function unknownOutcome(server: string, why: string): RpcFault {
  const message = `whether the request took effect at the server "${server}" is not known: ${why}`
  return new RpcFault(RpcCode.unavailable, message, {
    data: { server, reason: 'unknown-outcome', retryable: false },
  })
}
