import type { Principal } from '@mcp-host/contracts'
import { MAX_REQUEST_BYTES } from './messages/limits.ts'
import { idOf } from './messages/classify.ts'
import type { EndpointReply } from './streams/endpoint-reply.ts'
import type { McpEndpoint } from './endpoint.ts'
import { failure, messageOf } from './streams/messages.ts'
import type { VirtualServer } from './listing/virtual-server.ts'
import { SESSION_HEADER } from './sessions/session.ts'
import { checkDepth, parseMessage } from './messages/parse-message.ts'
import { isObject } from '@mcp-host/json'
import { JsonRpcCode } from '@mcp-host/mcp'
import { JsonRpcError } from './messages/json-rpc.ts'

export interface DuplexSessionDeps {
  readonly endpoint: McpEndpoint
  readonly virtualServer: VirtualServer
  /** The principal of the transport. */
  readonly principal: Principal
  readonly send: (message: Uint8Array) => void
  /** Aborts when no new request is taken and endless streams must end. */
  readonly closing: AbortSignal
}

/** Limit for the concurrent requests of a client. */
const MAX_RUNNING = 64
const EMPTY = new Uint8Array()

/**
 * A session over a transport where both sides send at any time, such as a WebSocket. Each message is dispatched to the
 * endpoint, and its replies go to `send`. The session of a legacy client lasts as long as the transport.
 */
export class DuplexSession {
  readonly #deps: DuplexSessionDeps
  /** Requests in flight, by their ids or their batch. */
  readonly #running = new Map<unknown, AbortController>()
  readonly #left = new AbortController()
  /** The session of a legacy client, once it has begun. */
  #session: Promise<string | undefined> | undefined
  #isListening = false

  constructor(deps: DuplexSessionDeps) {
    this.#deps = deps
  }

  /** Whether no request is in flight. */
  get isIdle(): boolean {
    return this.#running.size === 0
  }

  /** Takes a message. Resolves when all its replies are sent. */
  async take(text: Uint8Array): Promise<void> {
    let message: unknown
    try {
      message = parseMessage(text)
      checkDepth(message)
      if (text.length > MAX_REQUEST_BYTES) {
        throw invalid(`a message has at most ${MAX_REQUEST_BYTES} bytes; this one ${text.length}`)
      }
      if (!isAwaited(message)) return await this.#tell(message)
      const key = idOf(message) ?? message
      this.#check(key)
      const cancelled = new AbortController()
      this.#running.set(key, cancelled)
      try {
        await this.#ask(message, cancelled.signal)
      } finally {
        this.#running.delete(key)
      }
    } catch (error) {
      if (!(error instanceof JsonRpcError)) throw error
      this.#deps.send(failure(idOf(message), error))
    }
  }

  /** Cancels all requests in flight, since the client has gone. */
  async leave(): Promise<void> {
    const requests = [...this.#running]
    for (const [, cancelled] of requests) cancelled.abort()
    this.#left.abort()
    if ((await this.#session) === undefined) return
    const { signal } = this.#left
    for (const [requestId] of requests) {
      const method = 'notifications/cancelled'
      await this.#exchange('POST', signal, { jsonrpc: '2.0', method, params: { requestId } })
    }
    await this.#exchange('DELETE', signal)
  }

  /** Throws `JsonRpcError` when a request cannot be taken. */
  #check(key: unknown): void {
    if (this.#deps.closing.aborted) throw unavailable('nothing new is begun here; connect again')
    if (this.#running.has(key)) throw invalid('id: is that of a request that is under way')
    if (this.#running.size < MAX_RUNNING) return
    throw unavailable(`there are ${MAX_RUNNING} requests under way here; wait for one of them`)
  }

  async #ask(message: unknown, signal: AbortSignal): Promise<void> {
    if (!isObject(message) || message['method'] !== 'initialize') {
      return this.#pass(await this.#exchange('POST', signal, message), signal)
    }
    if (this.#session !== undefined) throw invalid('this connection has its session already')
    const answered = this.#exchange('POST', signal, message)
    // Messages before the answer belong to the session as well.
    this.#session = answered.then(({ headers }) => headers[SESSION_HEADER])
    await this.#pass(await answered, signal)
    if ((await this.#session) === undefined) this.#session = undefined
  }

  /** Takes a message that has no answer. */
  async #tell(message: unknown): Promise<void> {
    const { method, params } = isObject(message) ? message : {}
    if (method === 'notifications/cancelled' && isObject(params)) {
      this.#running.get(params['requestId'])?.abort()
    }
    const { signal } = this.#left
    await this.#pass(await this.#exchange('POST', signal, message), signal)
    if (method === 'notifications/initialized') void this.#listen()
  }

  /** Sends messages outside of requests, if there is a session. */
  async #listen(): Promise<void> {
    if (this.#isListening || (await this.#session) === undefined) return
    this.#isListening = true
    const { signal } = this.#left
    // A message marks the requests of a socket, which counts as a connection already, so that no stream is counted.
    await this.#pass(await this.#exchange('GET', signal, null), signal)
  }

  async #exchange(method: string, signal: AbortSignal, message?: unknown): Promise<EndpointReply> {
    const { endpoint, virtualServer, principal, closing } = this.#deps
    const isBeginning = isObject(message) && message['method'] === 'initialize'
    const session = isBeginning ? undefined : await this.#session
    const header = (name: string) => (name === SESSION_HEADER ? session : undefined)
    const exchange = { method, principal, header, body: EMPTY, message, signal, closing }
    return endpoint.handle(exchange, virtualServer)
  }

  /** Sends a reply, unless its request was cancelled. */
  async #pass({ body }: EndpointReply, signal: AbortSignal): Promise<void> {
    if (body instanceof Uint8Array && !signal.aborted) this.#deps.send(body)
    if (body === undefined || body instanceof Uint8Array) return
    for await (const event of body) {
      if (signal.aborted) return
      const message = messageOf(event)
      if (message !== undefined) this.#deps.send(message)
    }
  }
}

/** Whether a message has a response: a request has, and a batch may have. */
function isAwaited(message: unknown): boolean {
  if (Array.isArray(message)) return true
  return isObject(message) && message['method'] !== undefined && idOf(message) !== null
}

function invalid(message: string): JsonRpcError {
  return new JsonRpcError(JsonRpcCode.invalidRequest, message)
}

function unavailable(message: string): JsonRpcError {
  return new JsonRpcError(JsonRpcCode.unavailable, message, {
    data: { reason: 'unavailable', retryable: true },
  })
}
