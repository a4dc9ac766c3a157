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
  WATCH_MS,
  watchClientResources,
  watchResources,
} from '@mcp-host/contracts'
import type { Params } from './core/rpc.ts'
import { isObject, RpcCode, RpcFault } from './core/rpc.ts'
import type {
  ClientMessage,
  Passed,
  PassedRequest,
  Upstream,
  WatchRequest,
} from './core/upstream.ts'

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
    const { method, era, onNotice, client, isOwn } = request
    const id = `${this.#bus.id}-${this.#count++}`
    const head: PassHead = {
      method,
      id,
      era,
      ...(onNotice && { progress: true }),
      ...(client && { client }),
    }
    const process = isOwn === true ? processOf(params, client) : undefined
    const question = { head, body: toBody(params), process }
    const answer = await this.#deliver(server, question, request)
    if (answer.head.type === 'error') {
      return { type: 'error', json: answer.body, code: answer.head.code }
    }
    if (answer.head.type !== 'stored') {
      const isRefused = answer.head.type === 'result' && answer.head.isRefused === true
      return { type: 'result', json: answer.body, ...(isRefused && { isRefused }) }
    }
    const { key } = answer.head
    try {
      return { type: 'result', json: await this.#bus.blobs.get(key) }
    } catch (error) {
      throw unknownOutcome(server, `its result cannot be read: ${BusError.from(error).message}`)
    } finally {
      this.#forget(key)
    }
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

  /** Asks until somebody takes it; once it was taken, never again. */
  async #deliver(server: string, question: Question, request: Listener): Promise<Frame<PassReply>> {
    const giveUpAt = performance.now() + PATIENCE_MS
    for (;;) {
      request.signal?.throwIfAborted()
      try {
        return await this.#find(server, question, request)
      } catch (error) {
        request.signal?.throwIfAborted()
        // Nobody was there, so nothing was begun.
        const mayWait = BusError.from(error).code === 'unavailable' && performance.now() < giveUpAt
        if (!mayWait) throw toFault(error, server)
        await sleep(RETRY_MS)
      }
    }
  }

  /** Asks the caller's own process, where it has one, else anybody who has the server. */
  async #find(server: string, question: Question, request: Listener): Promise<Frame<PassReply>> {
    const { process } = question
    if (process === undefined) return this.#ask(server, question, request)
    try {
      return await this.#ask(server, question, request, process)
    } catch (error) {
      if (BusError.from(error).code !== 'unavailable') throw error
      // Not there yet, or not any more.
      return this.#ask(server, question, request)
    }
  }

  async #ask(
    server: string,
    question: Question,
    { signal, onNotice, onAsk, traceparent }: Listener,
    process?: string,
  ): Promise<Frame<PassReply>> {
    const control = (action: 'cancel' | 'ping'): void =>
      this.#bus.emit(passControl, { server }, { id: question.head.id, action })
    const ping = setInterval(() => control('ping'), PING_MS)
    const options: PassOptions = {
      // Whoever finds it later than we wait must not begin it.
      envelope: { ...newEnvelope('local', traceparent), deadline: Date.now() + QUIET_MS },
      timeoutMs: QUIET_MS,
      onPart({ head, body }) {
        if (head.type === 'notice') onNotice?.(head.method, Buffer.from(body).toString())
        if (head.type === 'ask') onAsk?.(head.ask, head.method, Buffer.from(body).toString())
        return head.type === 'notice' || head.type === 'ask' || head.type === 'running'
      },
    }
    const answered =
      process === undefined
        ? this.#bus.pass(passRequest, { server }, question, options)
        : this.#bus.pass(passClientRequest, { server, client: process }, question, options)
    try {
      if (signal === undefined) return await answered
      const left = Promise.withResolvers<never>()
      const onAbort = (): void => {
        control('cancel')
        left.reject(signal.reason)
        // It may have been too late for that.
        answered.then(
          ({ head }) => head.type === 'stored' && this.#forget(head.key),
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

  /** Nobody else reads it; what is left ends by itself. */
  #forget(key: string): void {
    this.#bus.blobs.remove(key).catch(() => undefined)
  }
}

interface Question {
  readonly head: PassHead
  readonly body: string
  /** Which one takes it, where the caller has one of its own. */
  readonly process: string | undefined
}

type Listener = Pick<PassedRequest, 'signal' | 'onNotice' | 'onAsk' | 'traceparent'>

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
  if (code === 'deadline') return unknownOutcome(server, 'it went away during the request')
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
