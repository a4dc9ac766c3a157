import type { CancelSignal } from 'mcp-host/async'
import { Cancellation } from 'mcp-host/async'
import type { JsonRpcMessage, McpHeaders, JsonRpcNotification, JsonRpcRequest } from './classify.ts'
import { classify, idOf } from './classify.ts'
import type { Approvals } from './approvals.ts'
import type { Clients } from './clients.ts'
import { clientOf } from './clients.ts'
import type { LastEvent } from './event-id.ts'
import { readEventId } from './event-id.ts'
import type { EventQueue } from './event-queue.ts'
import { sessionStream, subscriptionStream } from './notification-streams.ts'
import { failure, joined, OPENED, success, toMessage } from './messages.ts'
import type { VirtualServer } from './virtual-server.ts'
import type { MergedListing } from './merged-listing.ts'
import type { ServerInfo } from './answer-locally.ts'
import { answerLocally } from './answer-locally.ts'
import type { ClientVirtualServers } from './client-virtual-servers.ts'
import type { Route } from './route-request.ts'
import { mayBeListedLater, routeRequest } from './route-request.ts'
import { checkDepth, parseMessage } from './parse-message.ts'
import { forwardRoute, withLinks } from './forward-route.ts'
import { checkParameters } from './parameter-headers.ts'
import { RequestStream } from './request-stream.ts'
import type { Params, JsonRpcId } from './json-rpc.ts'
import { isObject } from 'mcp-host/json'
import { JsonRpcCode, JsonRpcError } from './json-rpc.ts'
import type { ClientSession } from './session.ts'
import type { SignSession } from './signed-id.ts'
import { newSession, readSession } from './session.ts'
import { changeSession, isSessionRequest } from './session-requests.ts'
import { retryUntilListed } from './retry-until-listed.ts'
import type { ForwardedReply, ForwardedRequest, Upstream } from './upstream.ts'
import { MOVED } from './upstream.ts'

/** A request of HTTP, in plain values. */
export interface EndpointRequest {
  readonly method: string
  readonly header: (name: string) => string | undefined
  readonly body: Uint8Array
  /** The message on transports other than HTTP, which have no headers. */
  readonly message?: unknown
  /** Aborts when the caller has left. */
  readonly signal: CancelSignal
  /** Aborts when endless streams must end. */
  readonly closing: AbortSignal
}

/** Its answer. A stream is one of server-sent events. */
export interface EndpointReply {
  readonly status: number
  /** The body is a JSON-RPC error. */
  readonly isError?: boolean
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array | AsyncIterable<Uint8Array>
}

export interface EndpointDeps {
  readonly upstream: Upstream
  readonly clients: Clients
  readonly serverInfo: ServerInfo
  /** Signs the ids of sessions: one that a client made up is unknown, and leaves nothing behind. */
  readonly signSession: SignSession
  /** Set where tools require the approval of a user. */
  readonly approvals?: Approvals | undefined
  /** The virtual servers of clients with dedicated processes. */
  readonly clientVirtualServers?: ClientVirtualServers
  /** Called once per answered request; batches count as none. */
  readonly onAnswered?: (method: string, isError: boolean, seconds: number) => void
}

export interface EndpointOptions {
  /** The duration of a request's stream before a client that can resume has to. Default: unlimited. */
  readonly streamMs?: number
}

const JSON_TYPE = { 'content-type': 'application/json' }
const EVENT_STREAM = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  // Some proxies hold back what they may.
  'x-accel-buffering': 'no',
}
/** A client with larger batches is faulty. */
const MAX_BATCH = 100
const MAX_KNOWN_SESSIONS = 1_000
const SESSION_HEADER = 'mcp-session-id'
const LOG_LEVEL_KEY = 'io.modelcontextprotocol/logLevel'

const bytes = new TextEncoder()

/** Answers what MCP clients of both eras ask, for one mount. It knows no Node, no bus and no other request. */
export class McpEndpoint {
  readonly #deps: EndpointDeps
  readonly #streamMs: number
  /** Parsed session ids, cached because every request carries one. */
  readonly #sessions = new Map<string, ClientSession>()

  constructor(deps: EndpointDeps, { streamMs = 0 }: EndpointOptions = {}) {
    this.#deps = deps
    this.#streamMs = streamMs
  }

  /** Never rejects. Not an async function, which would cost a promise per request. */
  handle(exchange: EndpointRequest, virtualServer: VirtualServer): Promise<EndpointReply> {
    const { method, header } = exchange
    let message: unknown
    try {
      const reading = this.#readRecord(header)
      if (reading !== undefined) {
        return reading.then(
          () => this.handle(exchange, virtualServer),
          (error: unknown) => failed(null, toFault(error)),
        )
      }
      if (method === 'GET') return Promise.resolve(this.#listen(exchange, virtualServer))
      if (method === 'DELETE') return orFailed(this.#leave(exchange, virtualServer))
      if (method !== 'POST') throw notAllowed()
      message = exchange.message
      const isHttp = message === undefined
      if (isHttp) {
        checkTypes(header)
        message = parseMessage(exchange.body)
        checkDepth(message)
      }
      const headers = isHttp ? headersOf(header) : undefined
      if (Array.isArray(message)) {
        return orFailed(this.#batch(message, headers, exchange, virtualServer))
      }
      const incoming = classify(message, headers)
      if (incoming.kind === 'response') {
        this.#deps.upstream.answer(String(incoming.id), incoming.message)
        return Promise.resolve(ACCEPTED)
      }
      const isSessionless = incoming.era === 'modern' || incoming.method === 'initialize'
      const session = isSessionless ? undefined : this.#session(header)
      if (incoming.kind === 'request') {
        const seen = session && this.#deps.clientVirtualServers?.find(session.id, virtualServer)
        if (seen === undefined) return this.#observed(incoming, exchange, virtualServer, session)
        return seen
          .then((own) => this.#observed(incoming, exchange, own, session))
          .catch((error: unknown) => failed(incoming.id, toFault(error)))
      }
      if (session !== undefined) this.#take(incoming, session, virtualServer.listing)
      return Promise.resolve(ACCEPTED)
    } catch (error) {
      return Promise.resolve(failed(idOf(message), toFault(error)))
    }
  }

  /** As `#answer`, reported to `onAnswered`. A request that became a stream reports its end itself. */
  #observed(
    request: JsonRpcRequest,
    exchange: EndpointRequest,
    virtualServer: VirtualServer,
    session: ClientSession | undefined,
  ): Promise<EndpointReply> {
    const startedAt = performance.now()
    let reply: Promise<EndpointReply>
    try {
      reply = this.#answer(request, exchange, virtualServer, session)
    } catch (error) {
      reply = mayBeListedLater(error)
        ? this.#answerLater(error, request, exchange, virtualServer, session)
        : Promise.resolve(failed(request.id, toFault(error)))
    }
    return reply.then((answer) => {
      if (answer.body instanceof Uint8Array) this.#report(request, answer, startedAt)
      return answer
    })
  }

  /** Waits for the server of a request. */
  #answerLater(
    reason: unknown,
    request: JsonRpcRequest,
    exchange: EndpointRequest,
    virtualServer: VirtualServer,
    session: ClientSession | undefined,
  ): Promise<EndpointReply> {
    const attempt = (): Promise<EndpointReply> =>
      this.#answer(request, exchange, virtualServer, session)
    const { signal } = exchange
    const reply = retryUntilListed(virtualServer, attempt, {
      failure: reason,
      isWorthIt: mayBeListedLater,
      signal,
    })
    return reply.catch((error: unknown) => failed(request.id, toFault(error)))
  }

  #report({ method }: JsonRpcRequest, { isError = false }: EndpointReply, startedAt: number): void {
    this.#deps.onAnswered?.(method, isError, (performance.now() - startedAt) / 1_000)
  }

  #answer(
    request: JsonRpcRequest,
    exchange: EndpointRequest,
    virtualServer: VirtualServer,
    session: ClientSession | undefined,
  ): Promise<EndpointReply> {
    const { era, method, params } = request
    if (era === 'modern' && method === 'subscriptions/listen') {
      return Promise.resolve(
        streamed(subscriptionStream(this.#deps, exchange, virtualServer, request)),
      )
    }
    if (isSessionRequest(request)) {
      return answered(request, changeSession(this.#deps, request, virtualServer, session))
    }
    const route = routeRequest(request, virtualServer.listing)
    if (route === undefined) return this.#answerLocally(request, virtualServer)
    if (era === 'modern' && method === 'tools/call' && exchange.message === undefined) {
      checkParameters(
        virtualServer.listing.headersOf(String(params['name'])),
        params,
        exchange.header,
      )
    }
    const token = progressToken(params)
    const isHeard = token !== undefined || session !== undefined || hasLogLevel(params)
    if (isHeard && accepts(exchange.header, EVENTS)) {
      return this.#stream(route, request, exchange, virtualServer.listing, session)
    }
    const of = { client: session && clientOf(session, this.#deps.clients) }
    return answered(request, this.#pass(route, request, exchange, virtualServer.listing, of))
  }

  /** Throws `JsonRpcError` at once. */
  #answerLocally(request: JsonRpcRequest, { listing }: VirtualServer): Promise<EndpointReply> {
    const { serverInfo, signSession } = this.#deps
    const answer = answerLocally(request, listing, serverInfo)
    const headers: Record<string, string> = { ...JSON_TYPE }
    if (request.era === 'legacy' && request.method === 'initialize') {
      const { capabilities } = request.params
      headers[SESSION_HEADER] = newSession(isObject(capabilities) ? capabilities : {}, signSession)
    }
    return Promise.resolve(answer).then((result) => {
      return { status: 200, headers, body: success(request.id, bytes.encode(result)) }
    })
  }

  /** Becomes a stream when there is something to say before the answer, or the client might miss it. */
  #stream(
    route: Route,
    request: JsonRpcRequest,
    exchange: EndpointRequest,
    listing: MergedListing,
    session: ClientSession | undefined,
  ): Promise<EndpointReply> {
    const { id, params } = request
    const { clients } = this.#deps
    const startedAt = performance.now()
    const signal = session && new Cancellation()
    const cancel = session && clients.onCancel(session.id, id, () => signal?.cancel(CANCELLED))
    const { promise, resolve } = Promise.withResolvers<EndpointReply>()
    const stream = new RequestStream({
      request: id,
      progressToken: progressToken(params),
      isPrimed: isPrimed(exchange.header),
      limitMs: this.#streamMs,
      closing: exchange.closing,
      onBegin: (queue) => resolve(streamed(queue)),
    })
    const forwarded = this.#pass(route, request, exchange, listing, {
      client: session && clientOf(session, clients),
      signal,
      listener: stream,
      isResumable: session !== undefined && exchange.message === undefined,
    })
    const end = async (): Promise<void> => {
      let answer: WholeReply
      let isOver = true
      try {
        answer = answerWith(request, await forwarded)
      } catch (error) {
        answer = failed(id, toFault(error))
        isOver = error !== MOVED
      }
      cancel?.[Symbol.dispose]()
      const isStream = isOver ? stream.end(answer.body) : stream.stop()
      if (isStream) this.#report(request, answer, startedAt)
      else resolve(answer)
    }
    void end()
    return promise
  }

  /** The rest of the stream of a request, to which a client comes back. */
  #resume(
    last: LastEvent,
    { header, closing }: EndpointRequest,
    { listing }: VirtualServer,
    session: ClientSession,
  ): EndpointReply {
    const { kept, request: id, number: after } = last
    if (after === 'end') {
      const message = 'Last-Event-ID: is of the last event, nothing comes after it'
      // Clients know by this status that there is no stream, and do not come again.
      throw new JsonRpcError(JsonRpcCode.unavailable, message, { status: 405 })
    }
    const { clients, upstream } = this.#deps
    const signal = new Cancellation()
    const cancel = clients.onCancel(session.id, id, () => signal.cancel(CANCELLED))
    const stream = new RequestStream({
      ...last,
      isPrimed: isPrimed(header),
      limitMs: this.#streamMs,
      closing,
    })
    const events = stream.events()
    events.put(OPENED)
    // Repeated: some clients forget their position when this stream breaks, too.
    stream.onResumable(kept, after)
    upstream
      .resume(kept, { client: session.id, after, signal, listener: stream })
      .then(
        (forwarded) => stream.end(toMessage(id, withLinks(forwarded, listing, kept.server))),
        (error: unknown) =>
          error === MOVED ? stream.stop() : stream.end(failure(id, toFault(error))),
      )
      .finally(() => cancel[Symbol.dispose]())
    return streamed(events)
  }

  /** Runs a batch of 2025-03-26 concurrently; its replies go into one message. */
  async #batch(
    messages: readonly unknown[],
    headers: McpHeaders | undefined,
    exchange: EndpointRequest,
    virtualServer: VirtualServer,
  ): Promise<EndpointReply> {
    const isRight = messages.length > 0 && messages.length <= MAX_BATCH
    if (!isRight) {
      const message = `a batch has 1 to ${MAX_BATCH} messages`
      throw new JsonRpcError(JsonRpcCode.invalidRequest, message, { status: 400 })
    }
    const incoming = messages.map((message): JsonRpcMessage => classify(message, headers))
    if (incoming.some((each) => each.kind !== 'response' && each.era === 'modern')) {
      const message = 'from 2026-07-28 on there are no batches'
      throw new JsonRpcError(JsonRpcCode.invalidRequest, message, { status: 400 })
    }
    const session = this.#session(exchange.header)
    const seen = session && this.#deps.clientVirtualServers?.find(session.id, virtualServer)
    const { listing } = seen ? await seen : virtualServer
    for (const each of incoming) {
      if (each.kind === 'response') this.#deps.upstream.answer(String(each.id), each.message)
      if (each.kind === 'notification' && session !== undefined) this.#take(each, session, listing)
    }
    const requests = incoming.filter((each) => each.kind === 'request')
    if (requests.length === 0) return ACCEPTED
    const answers = await Promise.all(
      requests.map(async (request) => {
        try {
          const route = routeRequest(request, listing)
          if (route === undefined) {
            const own = await answerLocally(request, listing, this.#deps.serverInfo)
            return success(request.id, bytes.encode(own))
          }
          const of = { client: session && clientOf(session, this.#deps.clients) }
          return toMessage(request.id, await this.#pass(route, request, exchange, listing, of))
        } catch (error) {
          return failure(request.id, toFault(error))
        }
      }),
    )
    return { status: 200, headers: JSON_TYPE, body: joined('[', answers, ']') }
  }

  #pass(
    route: Route,
    { method, era }: JsonRpcRequest,
    exchange: EndpointRequest,
    listing: MergedListing,
    {
      client,
      signal,
      listener,
      isResumable,
    }: Pick<ForwardedRequest, 'client' | 'signal' | 'listener' | 'isResumable'>,
  ): Promise<ForwardedReply> {
    // Closing the stream is how a newer client cancels; to an older one a break of HTTP means nothing.
    const mayLeave = era === 'modern' || exchange.message !== undefined
    const about = {
      method,
      era,
      traceparent: exchange.header('traceparent'),
      client,
      signal: signal ?? (mayLeave ? exchange.signal : undefined),
      listener,
      isResumable,
    }
    const { upstream, approvals } = this.#deps
    const isAsked = approvals !== undefined && method === 'tools/call'
    if (!isAsked || !approvals.isNeeded(route, listing)) {
      return forwardRoute({ upstream, listing }, route, about)
    }
    return approvals.pass(route, about, (allowed, confirm) =>
      forwardRoute({ upstream, listing }, allowed, { ...about, confirm }),
    )
  }

  /** A notification of a client with a session. */
  #take(
    { method, params }: JsonRpcNotification,
    { id }: ClientSession,
    listing: MergedListing,
  ): void {
    const { upstream, clients } = this.#deps
    const { requestId } = params
    if (method === 'notifications/cancelled' && isRpcId(requestId)) clients.cancel(id, requestId)
    if (method !== 'notifications/roots/list_changed') return
    for (const { server, isOwn } of listing.servers) {
      if (isOwn === true) upstream.tell(server, id, 'roots-changed')
    }
  }

  /** The stream of a session for messages outside of requests, or the rest of a resumable request. */
  #listen(exchange: EndpointRequest, virtualServer: VirtualServer): EndpointReply {
    if (!accepts(exchange.header, EVENTS)) {
      throw new JsonRpcError(JsonRpcCode.unavailable, 'Accept must have text/event-stream', {
        status: 406,
      })
    }
    const session = this.#session(exchange.header)
    if (session === undefined) throw notAllowed()
    const last = readEventId(exchange.header('last-event-id')?.trim() ?? '')
    if (last !== undefined) return this.#resume(last, exchange, virtualServer, session)
    return streamed(sessionStream(this.#deps, exchange, virtualServer, session))
  }

  /** The client ends its session. */
  async #leave({ header }: EndpointRequest, { listing }: VirtualServer): Promise<EndpointReply> {
    const session = this.#session(header)
    if (session === undefined) throw notAllowed()
    const { upstream, clients } = this.#deps
    await clients.change(session.id, (record) => ({ ...record, isOver: true }))
    for (const { server, isOwn } of listing.servers) {
      if (isOwn === true) upstream.tell(server, session.id, 'leave')
    }
    return { status: 204, headers: {} }
  }

  /** The session of an id, whether or not it is over; `undefined`: it was never issued. */
  #sessionOf(sessionId: string): ClientSession | undefined {
    const known = this.#sessions.get(sessionId)
    if (known !== undefined) return known
    const session = readSession(sessionId, this.#deps.signSession)
    if (session === undefined) return undefined
    if (this.#sessions.size >= MAX_KNOWN_SESSIONS) this.#sessions.clear()
    this.#sessions.set(sessionId, session)
    return session
  }

  /** Reads the record of the session that a request names; `undefined`: it is here, or there is none. */
  #readRecord(header: EndpointRequest['header']): Promise<void> | undefined {
    const sessionId = header(SESSION_HEADER)?.trim()
    const session = sessionId === undefined ? undefined : this.#sessionOf(sessionId)
    return session && this.#deps.clients.read(session.id)
  }

  /** The session that a request names, if it does. Throws `JsonRpcError` when there is no such session. */
  #session(header: EndpointRequest['header']): ClientSession | undefined {
    const sessionId = header(SESSION_HEADER)?.trim()
    if (sessionId === undefined) return undefined
    const session = this.#sessionOf(sessionId)
    const isOver = session === undefined || this.#deps.clients.record(session.id).isOver
    if (isOver !== true) return session
    const message = 'Session not found; begin another with initialize'
    throw new JsonRpcError(JsonRpcCode.timedOut, message, { status: 404 })
  }
}

function streamed(body: EventQueue): EndpointReply {
  return { status: 200, headers: EVENT_STREAM, body }
}

type WholeReply = EndpointReply & { readonly body: Uint8Array }

function answerWith({ id, era }: JsonRpcRequest, forwarded: ForwardedReply): WholeReply {
  const { code } = forwarded
  // For a newer client the HTTP status names the missing capability.
  const isFaulty = era === 'modern' && code === JsonRpcCode.missingCapability
  const status = isFaulty ? 400 : 200
  const isError = forwarded.type === 'error'
  return { status, isError, headers: JSON_TYPE, body: toMessage(id, forwarded) }
}

async function answered(
  request: JsonRpcRequest,
  forwarded: Promise<ForwardedReply>,
): Promise<EndpointReply> {
  try {
    return answerWith(request, await forwarded)
  } catch (error) {
    return failed(request.id, toFault(error))
  }
}

/** Converts errors before the request is known to a reply. */
async function orFailed(reply: Promise<EndpointReply>): Promise<EndpointReply> {
  try {
    return await reply
  } catch (error) {
    return failed(null, toFault(error))
  }
}

function failed(id: JsonRpcId | null, fault: JsonRpcError): WholeReply {
  const { status } = fault
  const allowed = status === 405 ? { allow: 'GET, POST, DELETE' } : {}
  const headers = { ...JSON_TYPE, ...allowed }
  return { status, isError: true, headers, body: failure(id, fault) }
}

const ACCEPTED: EndpointReply = { status: 202, headers: {} }
const CANCELLED = new JsonRpcError(JsonRpcCode.unavailable, 'the request was cancelled')
const EVENTS = /\*\/\*|text\/(event-stream|\*)/i

/** From 2025-11-25 on clients know events without data; older ones take them for faulty. */
function isPrimed(header: EndpointRequest['header']): boolean {
  return (header('mcp-protocol-version') ?? '').trim() >= '2025-11-25'
}

function progressToken({ _meta: meta }: Params): JsonRpcId | undefined {
  const token = isObject(meta) ? meta['progressToken'] : undefined
  return typeof token === 'string' || typeof token === 'number' ? token : undefined
}

function hasLogLevel({ _meta: meta }: Params): boolean {
  return isObject(meta) && meta[LOG_LEVEL_KEY] !== undefined
}

function isRpcId(id: unknown): id is JsonRpcId {
  return typeof id === 'string' || typeof id === 'number'
}

function accepts(header: EndpointRequest['header'], types: RegExp): boolean {
  return types.test(header('accept') ?? '*/*')
}

function checkTypes(header: EndpointRequest['header']): void {
  const [type = ''] = (header('content-type') ?? '').split(';', 1)
  if (type.trim().toLowerCase() !== 'application/json') {
    throw new JsonRpcError(JsonRpcCode.unavailable, 'Content-Type must be application/json', {
      status: 415,
    })
  }
  if (!accepts(header, /\*\/\*|application\/(json|\*)/i)) {
    const message = 'Accept must have application/json and text/event-stream'
    throw new JsonRpcError(JsonRpcCode.unavailable, message, { status: 406 })
  }
}

function headersOf(header: EndpointRequest['header']): McpHeaders {
  return {
    version: header('mcp-protocol-version')?.trim(),
    method: header('mcp-method')?.trim(),
    name: header('mcp-name')?.trim(),
  }
}

function toFault(error: unknown): JsonRpcError {
  if (error instanceof JsonRpcError) return error
  return new JsonRpcError(JsonRpcCode.internal, 'internal error', { status: 500 })
}

function notAllowed(): JsonRpcError {
  const message = 'Method not allowed: send messages by POST; GET and DELETE need Mcp-Session-Id'
  return new JsonRpcError(JsonRpcCode.unavailable, message, { status: 405 })
}
