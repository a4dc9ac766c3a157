import type { Caller } from '@mcp-host/contracts'
import type { EndpointDeps, EndpointOptions } from './endpoint-deps.ts'
import { Cancellation } from '@mcp-host/async'
import { checkLength, classifyBatch } from './messages/batch.ts'
import {
  classify,
  idOf,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
  type McpHeaders,
} from './messages/classify.ts'
import { SubscriptionCount } from './messages/check-subscriptions.ts'
import { admit } from './route/admit.ts'
import { clientOf } from './sessions/clients.ts'
import { ClientSessions } from './sessions/client-sessions.ts'
import {
  ACCEPTED,
  answered,
  answerWith,
  type EndpointReply,
  failed,
  JSON_TYPE,
  streamed,
  type WholeReply,
} from './streams/endpoint-reply.ts'
import {
  acceptsEvents,
  checkTypes,
  type EndpointRequest,
  headersOf,
  isPrimed,
} from './messages/endpoint-request.ts'
import { readEventId } from './streams/event-id.ts'
import type { EventQueue } from './streams/event-queue.ts'
import { EventQueues } from './streams/event-queues.ts'
import { sessionStream, subscriptionStream } from './streams/notification-streams.ts'
import { joined, success, toMessage } from './streams/messages.ts'
import type { MissingServer, VirtualServer } from './listing/virtual-server.ts'
import { listForClient } from './sessions/list-for-client.ts'
import type { MergedListing } from './listing/merged-listing.ts'
import { answerLocally } from './route/answer-locally.ts'
import { mayBeListedLater, type Route, routeRequest } from './route/route-request.ts'
import { checkDepth, parseMessage } from './messages/parse-message.ts'
import { checkParameters } from './messages/parameter-headers.ts'
import { resumedStream } from './streams/resumed-stream.ts'
import { RequestStream } from './streams/request-stream.ts'
import { isJsonRpcId, JsonRpcError, type JsonRpcId, type Params } from './messages/json-rpc.ts'
import { isObject } from '@mcp-host/json'
import { JsonRpcCode, MetaKey } from '@mcp-host/mcp'
import { type ClientSession, SESSION_HEADER } from './sessions/session.ts'
import { changeSession, isSessionRequest } from './sessions/session-requests.ts'
import { retryUntilListed } from './route/retry-until-listed.ts'
import { CANCELLED, MOVED, type ServerLog } from './servers.ts'

const bytes = new TextEncoder()

/** Answers the requests of MCP clients of both eras. Imports neither Node nor the bus. */
export class McpEndpoint {
  readonly #deps: EndpointDeps
  readonly #streamMs: number
  readonly #sessions: ClientSessions
  readonly #subscriptions = new SubscriptionCount()
  readonly #queues = new EventQueues()
  readonly #logEvents = new WeakMap<ServerLog, Uint8Array>()

  constructor(deps: EndpointDeps, { streamMs = 0 }: EndpointOptions = {}) {
    this.#deps = deps
    this.#sessions = new ClientSessions(deps)
    this.#streamMs = streamMs
  }

  /** Handles a request. Never rejects. Not an async function, which would cost a promise per request. */
  handle(exchange: EndpointRequest, everything: VirtualServer): Promise<EndpointReply> {
    try {
      const admitted = this.#deps.limits?.request(exchange.principal)
      if (admitted === undefined) return this.#handle(exchange, everything)
      const refuse = (error: unknown): EndpointReply => failed(idOf(exchange.message), error)
      return admitted.then(() => this.#handle(exchange, everything), refuse)
    } catch (error) {
      return Promise.resolve(failed(idOf(exchange.message), error))
    }
  }

  #handle(exchange: EndpointRequest, everything: VirtualServer): Promise<EndpointReply> {
    const { method, header, principal } = exchange
    const virtualServer = this.#view(principal, everything)
    let message: unknown
    try {
      const reading = this.#sessions.read(exchange)
      if (reading !== undefined) {
        return reading.then(() => this.#handle(exchange, everything), refused)
      }
      if (method === 'GET') return Promise.resolve(this.#openStream(exchange, everything))
      if (method === 'DELETE') return this.#endSession(exchange, everything).catch(refused)
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
        return this.#batch(message, headers, exchange, everything).catch(refused)
      }
      const incoming = classify(message, headers)
      if (incoming.kind === 'response') {
        this.#takeAnswer(incoming, this.#sessions.find(exchange))
        return Promise.resolve(ACCEPTED)
      }
      const isSessionless = incoming.era === 'modern' || incoming.method === 'initialize'
      const session = isSessionless ? undefined : this.#sessions.find(exchange)
      if (incoming.kind === 'request') {
        const found = session && this.#deps.clientVirtualServers?.find(session.id, everything)
        if (found === undefined)
          return this.#answerAndReport(incoming, exchange, virtualServer, session)
        return found
          .then((own) => this.#view(principal, own))
          .then((own) => this.#answerAndReport(incoming, exchange, own, session))
          .catch((error: unknown) => failed(incoming.id, error))
      }
      if (session !== undefined) this.#takeNotification(incoming, session, virtualServer.listing)
      return Promise.resolve(ACCEPTED)
    } catch (error) {
      return Promise.resolve(failed(idOf(message), error))
    }
  }

  /** What the policy lets a principal see. The lists of dedicated processes must be in it before. */
  #view(principal: Caller, whole: VirtualServer): VirtualServer {
    return this.#deps.policy?.view(principal, whole) ?? whole
  }

  /** Like `#answer`, but reports to `onAnswered`. A request that became a stream reports its end itself. */
  #answerAndReport(
    request: JsonRpcRequest,
    exchange: EndpointRequest,
    virtualServer: VirtualServer,
    session: ClientSession | undefined,
  ): Promise<EndpointReply> {
    const startedAt = performance.now()
    let reply: Promise<EndpointReply>
    try {
      reply = this.#answer(request, exchange, virtualServer, session)
    } catch (failure) {
      const attempt = (): Promise<EndpointReply> =>
        this.#answer(request, exchange, virtualServer, session)
      const { onRecovered } = this.#deps
      const { signal } = exchange
      const options = { failure, isWorthIt: mayBeListedLater, signal, onRecovered }
      reply = retryUntilListed(virtualServer, attempt, options).catch((error: unknown) =>
        failed(request.id, error),
      )
    }
    return reply.then((answer) => {
      if (answer.body instanceof Uint8Array) this.#report(request, answer, startedAt)
      return answer
    })
  }

  #report({ method }: JsonRpcRequest, { isError = false }: EndpointReply, startedAt: number): void {
    this.#deps.onAnswered?.(method, isError, (performance.now() - startedAt) / 1_000)
  }

  /** Answers a request. Throws `JsonRpcError`, or returns it as the reply. */
  #answer(
    request: JsonRpcRequest,
    exchange: EndpointRequest,
    virtualServer: VirtualServer,
    session: ClientSession | undefined,
  ): Promise<EndpointReply> {
    const { era, method, params } = request
    if (era === 'modern' && method === 'subscriptions/listen') {
      const { servers, limits } = this.#deps
      const open = (): EventQueue => this.#queues.open(exchange.principal.id)
      const of = { servers, limits, subscriptions: this.#subscriptions, open }
      const events = subscriptionStream(of, exchange, virtualServer, request)
      return Promise.resolve(streamed(events))
    }
    if (isSessionRequest(request)) {
      return answered(request, changeSession(this.#deps, request, virtualServer, session))
    }
    const { listing } = virtualServer
    const route = routeRequest(request, listing)
    if (route === undefined) return this.#answerLocally(request, exchange, virtualServer, session)
    if (era === 'modern' && method === 'tools/call' && exchange.message === undefined) {
      checkParameters(listing.headersOf(String(params['name'])), params, exchange.header)
    }
    const token = progressToken(params)
    const isHeard = token !== undefined || session !== undefined || hasLogLevel(params)
    if (isHeard && acceptsEvents(exchange.header)) {
      return this.#stream(route, request, exchange, listing, session)
    }
    const of = { client: session && clientOf(session, this.#deps.clients) }
    return answered(request, admit(this.#deps, route, { request, exchange, listing, ...of }))
  }

  #answerLocally(
    request: JsonRpcRequest,
    { principal }: EndpointRequest,
    virtualServer: VirtualServer,
    session: ClientSession | undefined,
  ): Promise<EndpointReply> {
    const listing = listForClient(request, session, virtualServer.listing)
    const { serverInfo, missing } = this.#deps
    const isListing = request.method === 'tools/list'
    const absent = isListing ? (missing?.(principal, virtualServer) ?? []) : []
    const say = (found: readonly MissingServer[]): string | Promise<string> =>
      answerLocally(request, listing, serverInfo, found)
    const answer = absent instanceof Promise ? absent.then(say) : say(absent)
    const headers: Record<string, string> = { ...JSON_TYPE }
    if (request.era === 'legacy' && request.method === 'initialize') {
      const { capabilities } = request.params
      const declared = isObject(capabilities) ? capabilities : {}
      headers[SESSION_HEADER] = this.#sessions.begin(declared, principal)
    }
    return Promise.resolve(answer).then((result) => {
      return { status: 200, headers, body: success(request.id, bytes.encode(result)) }
    })
  }

  /**
   * Answers a request with a stream if there are messages before the answer, or if the client might miss the answer.
   */
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
      open: () => {
        const queue = this.#queues.open(exchange.principal.id)
        resolve(streamed(queue))
        return queue
      },
    })
    const admitted = admit(this.#deps, route, {
      request,
      exchange,
      listing,
      client: session && clientOf(session, clients),
      signal,
      listener: stream,
      isResumable: session !== undefined && exchange.message === undefined,
    })
    const end = async (): Promise<void> => {
      let answer: WholeReply
      let isOver = true
      try {
        answer = answerWith(request, await admitted)
      } catch (error) {
        answer = failed(id, error)
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

  /** Runs a batch of 2025-03-26 concurrently; its replies go into one message. */
  async #batch(
    messages: readonly unknown[],
    headers: McpHeaders | undefined,
    exchange: EndpointRequest,
    everything: VirtualServer,
  ): Promise<EndpointReply> {
    checkLength(messages)
    // The first message is counted already.
    for (const _ of messages.slice(1)) await this.#deps.limits?.request(exchange.principal)
    const incoming = classifyBatch(messages, headers)
    const session = this.#sessions.find(exchange)
    const found = session && this.#deps.clientVirtualServers?.find(session.id, everything)
    const { listing } = this.#view(exchange.principal, found ? await found : everything)
    for (const each of incoming) {
      if (each.kind === 'response') this.#takeAnswer(each, session)
      if (each.kind === 'notification' && session !== undefined)
        this.#takeNotification(each, session, listing)
    }
    const requests = incoming.filter((each) => each.kind === 'request')
    if (requests.length === 0) return ACCEPTED
    const answers = await Promise.all(
      requests.map(async (request) => {
        try {
          const route = routeRequest(request, listing)
          if (route === undefined) {
            const seenBy = listForClient(request, session, listing)
            const own = await answerLocally(request, seenBy, this.#deps.serverInfo)
            return success(request.id, bytes.encode(own))
          }
          const of = { client: session && clientOf(session, this.#deps.clients) }
          const reply = await admit(this.#deps, route, { request, exchange, listing, ...of })
          return toMessage(request.id, reply)
        } catch (error) {
          return failed(request.id, error).body
        }
      }),
    )
    return { status: 200, headers: JSON_TYPE, body: joined('[', answers, ']') }
  }

  /** Sends the answer to a question, which only the session that was asked can give. */
  #takeAnswer({ id, message }: JsonRpcResponse, session: ClientSession | undefined): void {
    if (session !== undefined) this.#deps.servers.answer(String(id), session.id, message)
  }

  /** Takes a notification of a client with a session. */
  #takeNotification(
    { method, params }: JsonRpcNotification,
    { id }: ClientSession,
    listing: MergedListing,
  ): void {
    const { servers, clients } = this.#deps
    const { requestId } = params
    const isCancel = method === 'notifications/cancelled'
    if (isCancel && isJsonRpcId(requestId)) clients.cancel(id, requestId)
    if (method !== 'notifications/roots/list_changed') return
    for (const { server, isOwn } of listing.servers) {
      if (isOwn === true) servers.tell(server, id, 'roots-changed')
    }
  }

  /** Opens the stream of a session for messages outside of requests, or for the rest of a resumable request. */
  #openStream(exchange: EndpointRequest, everything: VirtualServer): EndpointReply {
    if (!acceptsEvents(exchange.header)) {
      throw new JsonRpcError(JsonRpcCode.unavailable, 'Accept must have text/event-stream', {
        status: 406,
      })
    }
    const session = this.#sessions.find(exchange)
    if (session === undefined) throw notAllowed()
    const last = readEventId(exchange.header('last-event-id')?.trim() ?? '')
    const { policy } = this.#deps
    if (last && policy?.isServerHidden(exchange.principal, last.kept.server) === true) {
      throw notAllowed()
    }
    const streamMs = this.#streamMs
    const see = (whole: VirtualServer): VirtualServer => this.#view(exchange.principal, whole)
    const open = (): EventQueue => this.#queues.open(exchange.principal.id)
    const events =
      last === undefined
        ? sessionStream(
            { ...this.#deps, see, open, logEvents: this.#logEvents },
            exchange,
            everything,
            session,
          )
        : resumedStream({ ...this.#deps, streamMs, open }, last, exchange, see(everything), session)
    return streamed(events)
  }

  /** Ends the session of a client, also at servers that the policy has hidden since it began. */
  async #endSession(exchange: EndpointRequest, { listing }: VirtualServer): Promise<EndpointReply> {
    const session = this.#sessions.find(exchange)
    if (session === undefined) throw notAllowed()
    const { servers, clients } = this.#deps
    await clients.change(session.id, (record) => ({ ...record, isOver: true }))
    for (const { server, isOwn } of listing.servers) {
      if (isOwn === true) servers.tell(server, session.id, 'leave')
    }
    return { status: 204, headers: {} }
  }
}

/** The reply for an error without a request. */
function refused(error: unknown): EndpointReply {
  return failed(null, error)
}

function progressToken({ _meta: meta }: Params): JsonRpcId | undefined {
  const token = isObject(meta) ? meta['progressToken'] : undefined
  return isJsonRpcId(token) ? token : undefined
}

function hasLogLevel({ _meta: meta }: Params): boolean {
  return isObject(meta) && meta[MetaKey.logLevel] !== undefined
}

function notAllowed(): JsonRpcError {
  const message = 'Method not allowed: send messages by POST; GET and DELETE need Mcp-Session-Id'
  return new JsonRpcError(JsonRpcCode.unavailable, message, { status: 405 })
}
