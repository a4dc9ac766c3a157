import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { InFlight } from '@mcp-host/service'
import { ownValue } from '@mcp-host/contracts'
import type { BodyReader } from '../edge/body-reader.ts'
import { BodyFault } from '../edge/body-reader.ts'
import { isLarge, preferredEncoding } from '../edge/compress-answers.ts'
import { errorAnswer } from '../edge/error-reply.ts'
import type { OriginGuard } from '../edge/origin.ts'
import { originHeaders, preflightHeaders } from '../edge/origin.ts'
import { MAINTENANCE } from '../standard-messages.ts'
import { Cancellation } from 'mcp-host/async'
import type { McpEndpoint, EndpointRequest, EndpointReply } from './core/endpoint.ts'
import { idOf } from './core/classify.ts'
import { MAX_REQUEST_BYTES } from './core/limits.ts'
import { failure } from './core/messages.ts'
import type { VirtualServer } from './core/virtual-server.ts'
import { isObject } from 'mcp-host/json'
import { JsonRpcCode, JsonRpcError } from './core/json-rpc.ts'
import type { VirtualServers } from './virtual-servers.ts'

export interface McpHttpDeps {
  readonly endpoint: McpEndpoint
  readonly virtualServers: VirtualServers
  readonly checkOrigin: OriginGuard
  readonly bodies: BodyReader
  /** Requests under way, to be waited for. */
  readonly passing: InFlight
  /** Aborts when connections are to go to another gateway. */
  readonly draining: AbortSignal
  /** Aborts when no new request is taken, a little later. */
  readonly refusing: AbortSignal
}

/**
 * The MCP endpoint over plain HTTP. Its requests come before those of the framework: it would take as long over each
 * as the endpoint itself.
 */
export class McpHttp {
  readonly #deps: McpHttpDeps

  constructor(deps: McpHttpDeps) {
    this.#deps = deps
  }

  /** Handles a request for an MCP server; `false` when its address is not one. */
  take(request: IncomingMessage, response: ServerResponse): boolean {
    const { url = '' } = request
    const find = url === '/mcp' ? all : readAddress(url)
    if (find === undefined) return false
    const { settling } = this.#deps.virtualServers
    if (settling === undefined) this.#begin(request, response, find)
    else void settling.then(() => this.#begin(request, response, find))
    return true
  }

  #begin(request: IncomingMessage, response: ServerResponse, find: Find): void {
    const { virtualServers, draining, checkOrigin, bodies } = this.#deps
    const { method, headers } = request
    try {
      // Only a POST has a body that is read.
      if (method !== 'POST') bodies.discard(request)
      checkOrigin(headers)
      if (draining.aborted) response.setHeader('connection', 'close')
      const preflight = preflightHeaders(method, headers)
      const virtualServer = find(virtualServers)
      if (preflight !== undefined) send(response, headers, { status: 204, headers: preflight })
      else if (virtualServer === undefined) {
        bodies.discard(request)
        send(response, headers, NO_SERVER)
      } else this.#read(request, response, virtualServer)
    } catch (error) {
      bodies.discard(request)
      refuse(response, headers, error)
    }
  }

  #read(request: IncomingMessage, response: ServerResponse, virtualServer: VirtualServer): void {
    if (request.method !== 'POST') return this.#answer(request, response, virtualServer, EMPTY)
    this.#deps.bodies.receive(request, MAX_REQUEST_BYTES, (received) => {
      if (!(received instanceof BodyFault)) {
        const { bytes } = received
        // Not by `using`, which takes half a microsecond.
        received[Symbol.dispose]()
        return this.#answer(request, response, virtualServer, bytes)
      }
      // The connection is gone.
      if (request.destroyed) return
      if (received.closes) response.setHeader('connection', 'close')
      refuse(response, request.headers, received, received.status)
    })
  }

  #answer(
    { method = '', headers, socket }: IncomingMessage,
    response: ServerResponse,
    virtualServer: VirtualServer,
    body: Uint8Array,
  ): void {
    // It is gone, and will not say so again.
    if (response.closed) return
    const { endpoint, passing, draining, refusing } = this.#deps
    const refusal = refusing.aborted ? refusalOf(method, body) : undefined
    if (refusal !== undefined) return send(response, headers, refusal)
    const exchange = new HttpExchange(method, headers, body, draining)
    const forwarded = passing.begin()
    response.on('close', () => {
      if (!response.writableFinished) exchange.signal.cancel()
      // Later requests on this connection are a successor's.
      if (draining.aborted) socket.end()
      forwarded[Symbol.dispose]()
    })
    void endpoint.handle(exchange, virtualServer).then((reply) => {
      // The connection is not to be used again.
      if (draining.aborted && !response.headersSent) response.setHeader('connection', 'close')
      send(response, headers, reply)
    })
  }
}

/** A request of HTTP, in the words of the endpoint. */
class HttpExchange implements EndpointRequest {
  readonly method: string
  readonly body: Uint8Array
  readonly closing: AbortSignal
  readonly signal = new Cancellation()
  readonly #headers: IncomingHttpHeaders

  constructor(
    method: string,
    headers: IncomingHttpHeaders,
    body: Uint8Array,
    closing: AbortSignal,
  ) {
    this.method = method
    this.body = body
    this.closing = closing
    this.#headers = headers
  }

  readonly header = (name: string): string | undefined =>
    ownValue(this.#headers, name) as string | undefined
}

const EMPTY = new Uint8Array()
const text = new TextDecoder()
const NO_SERVER: EndpointReply = {
  status: 404,
  headers: { 'content-type': 'application/json' },
  body: failure(
    null,
    new JsonRpcError(JsonRpcCode.invalidRequest, 'there is no such MCP server or bundle'),
  ),
}

const GOING_DOWN = {
  status: 503,
  headers: { 'content-type': 'application/json', 'retry-after': '1' },
}
const DRAINING = new JsonRpcError(JsonRpcCode.unavailable, MAINTENANCE, {
  data: { reason: 'unavailable', retryable: true },
})

type WholeReply = EndpointReply & { readonly body: Uint8Array }
type Find = (virtualServers: VirtualServers) => VirtualServer | undefined

const all: Find = (virtualServers) => virtualServers.all()
const ADDRESS = /^\/mcp(?:\/(servers|bundles)\/([^/?]+))?(?:\?|$)/

/** The virtual server of an address; `undefined` for other addresses. */
function readAddress(url: string): Find | undefined {
  const [isRight, kind, encoded = ''] = ADDRESS.exec(url) ?? []
  if (isRight === undefined) return undefined
  if (kind === undefined) return all
  let name: string
  try {
    name = decodeURIComponent(encoded)
  } catch {
    return undefined
  }
  return (virtualServers) =>
    kind === 'servers' ? virtualServers.server(name) : virtualServers.bundle(name)
}

/**
 * The refusal of a new request while the gateway drains; `undefined` for answers, notifications and the end of a
 * session, which are taken until the end. It is JSON-RPC with 503, never 404, which would end the session of a client.
 */
function refusalOf(method: string, body: Uint8Array): EndpointReply | undefined {
  if (method === 'DELETE') return undefined
  let message: unknown
  try {
    if (method === 'POST') message = JSON.parse(text.decode(body))
  } catch {
    // The endpoint says what is wrong with it.
    return undefined
  }
  const id = idOf(message)
  const isTold = isObject(message) && (message['method'] === undefined || id === null)
  return isTold ? undefined : { ...GOING_DOWN, body: failure(id, DRAINING) }
}

function refuse(
  response: ServerResponse,
  asked: IncomingHttpHeaders,
  error: unknown,
  status?: number,
): void {
  const answer = errorAnswer(error, status)
  const headers = { ...answer.headers, 'content-type': 'application/json' }
  send(response, asked, { ...answer, headers, body: Buffer.from(JSON.stringify(answer.body)) })
}

function send(
  response: ServerResponse,
  asked: IncomingHttpHeaders,
  { status, headers: own, body = EMPTY }: EndpointReply,
): void {
  const origin = originHeaders(asked)
  const headers = origin === undefined ? own : { ...own, ...origin }
  if (!(body instanceof Uint8Array)) {
    response.writeHead(status, headers)
    // A client that leaves is heard of by `close`.
    pipeline(Readable.from(body), response).catch(() => undefined)
  } else if (isLarge(body)) sendLarge(response, asked, { status, headers, body })
  else write(response, status, headers, body)
}

function sendLarge(
  response: ServerResponse,
  asked: IncomingHttpHeaders,
  { status, headers, body }: WholeReply,
): void {
  const vary = [headers['vary'] ?? [], 'Accept-Encoding'].flat().join(', ')
  const encoding = preferredEncoding(asked['accept-encoding'])
  if (encoding === undefined) return write(response, status, { ...headers, vary }, body)
  encoding.compress(body, (error, compressed) => {
    // An error leaves the answer as it is.
    if (error !== null) write(response, status, { ...headers, vary }, body)
    else {
      const encoded = { ...headers, vary, 'content-encoding': encoding.name }
      write(response, status, encoded, compressed)
    }
  })
}

function write(
  response: ServerResponse,
  status: number,
  headers: EndpointReply['headers'],
  body: Uint8Array,
): void {
  const whole = status === 204 ? headers : { ...headers, 'content-length': body.length }
  response.writeHead(status, whole).end(body)
}
