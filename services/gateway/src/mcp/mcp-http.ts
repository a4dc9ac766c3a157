import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { InFlight } from '@mcp-host/async'
import type { Principal } from '@mcp-host/contracts'
import { ownValue } from '@mcp-host/contracts'
import { checkAccess } from '../auth/access.ts'
import { recordRefusal } from '../auth/auth-hooks.ts'
import { challengeHeader } from '../auth/auth-reply.ts'
import type { Authenticator } from '../auth/authenticator.ts'
import type { ConnectionGuard } from '../auth/connection-guard.ts'
import type { BodyReader } from '../edge/body-reader.ts'
import { BodyFault } from '../edge/body-reader.ts'
import { isLarge, preferredEncoding } from '../edge/compress-answers.ts'
import { DATA_HEADERS } from '../edge/data-headers.ts'
import { errorAnswer } from '../edge/error-reply.ts'
import type { GatewayEvents } from '../events.ts'
import type { GatewayAudit } from '../gateway-audit.ts'
import type { GatewayLimits } from '../limits/gateway-limits.ts'
import type { OriginGuard } from '../edge/origin.ts'
import { originHeaders, preflightHeaders, refuseSecondHost } from '../edge/origin.ts'
import { MAINTENANCE } from '../standard-messages.ts'
import { Cancellation } from '@mcp-host/async'
import { isObject } from '@mcp-host/json'
import { JsonRpcCode } from '@mcp-host/mcp'
import {
  type AccessPolicy,
  type EndpointReply,
  type EndpointRequest,
  failed,
  idOf,
  JSON_TYPE,
  JsonRpcError,
  MAX_REQUEST_BYTES,
  type McpEndpoint,
  parseMessage,
  type VirtualServer,
  type WholeReply,
} from '@mcp-host/mcp-endpoint'
import type { VirtualServers } from './virtual-servers.ts'

export interface McpHttpDeps {
  readonly endpoint: McpEndpoint
  readonly virtualServers: VirtualServers
  readonly policy: Pick<AccessPolicy, 'admit'>
  readonly checkOrigin: OriginGuard
  readonly bodies: BodyReader
  readonly auth: Authenticator
  readonly guard: Pick<ConnectionGuard, 'watchRequest'>
  readonly limits: Pick<GatewayLimits, 'addressOf' | 'connection'>
  readonly audit: Pick<GatewayAudit, 'credentialRefused'>
  readonly events: Pick<GatewayEvents, 'authenticated'>
  /** Requests in flight, which a drain waits for. */
  readonly passing: InFlight
  /** Aborts when connections have to move to another gateway. */
  readonly draining: AbortSignal
  /** Aborts a little later, when no new request is taken. */
  readonly refusing: AbortSignal
}

/**
 * The MCP endpoint over plain HTTP. It takes requests before the framework, which would take as long for each as the
 * endpoint itself.
 */
export class McpHttp {
  readonly #deps: McpHttpDeps

  constructor(deps: McpHttpDeps) {
    this.#deps = deps
  }

  /** Handles a request for an MCP server. Returns `false` when the address is not one. */
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
      // Only the body of a POST is read.
      if (method !== 'POST') bodies.discard(request)
      try {
        refuseSecondHost(request)
        checkOrigin(headers)
      } catch (error) {
        // The foreign page must not read even the refusal.
        delete headers.origin
        throw error
      }
      if (draining.aborted) response.setHeader('connection', 'close')
      this.#admit(request, response, find(virtualServers))
    } catch (error) {
      this.#refuse(request, response, error)
    }
  }

  #admit(request: IncomingMessage, response: ServerResponse, found: Found): void {
    const admitted = this.#deps.limits.connection(request)
    if (admitted === undefined) return this.#authenticate(request, response, found)
    admitted
      .then(() => this.#authenticate(request, response, found))
      .catch((error: unknown) => this.#refuse(request, response, error))
  }

  #authenticate(request: IncomingMessage, response: ServerResponse, found: Found): void {
    const { method, headers } = request
    const preflight = preflightHeaders(method, headers)
    if (preflight !== undefined) {
      return send(response, headers, { status: 204, headers: preflight })
    }
    const path = pathOf(request)
    const authenticated = this.#deps.auth.authenticate(request, path)
    if (!(authenticated instanceof Promise)) {
      return this.#enter(request, response, found, authenticated)
    }
    authenticated
      .then((principal) => this.#enter(request, response, found, principal))
      .catch((error: unknown) => this.#refuse(request, response, error))
  }

  /** Only a principal is told whether there is a server. */
  #enter(
    request: IncomingMessage,
    response: ServerResponse,
    found: Found,
    principal: Principal,
  ): void {
    const { auth, events, policy, bodies, guard } = this.#deps
    checkAccess(principal, 'mcp')
    guard.watchRequest(response, request, principal)
    if (auth.isOn) events.authenticated('accepted')
    const virtualServer = policy.admit(principal, found)
    if (virtualServer !== undefined) return this.#read(request, response, virtualServer, principal)
    bodies.discard(request)
    send(response, request.headers, NO_SERVER)
  }

  #refuse(request: IncomingMessage, response: ServerResponse, error: unknown): void {
    const { bodies, auth, audit, limits, events } = this.#deps
    bodies.discard(request)
    const { headers } = request
    const path = pathOf(request)
    recordRefusal({ audit, events }, limits.addressOf(request), path, error)
    refuse(response, headers, error, {
      headers: challengeHeader(error, auth, { path, host: headers.host }),
    })
  }

  #read(
    request: IncomingMessage,
    response: ServerResponse,
    virtualServer: VirtualServer,
    principal: Principal,
  ): void {
    const about = { virtualServer, principal }
    if (request.method !== 'POST') return this.#answer(request, response, about, EMPTY)
    const share = { maxBytes: MAX_REQUEST_BYTES, owner: principal.id }
    this.#deps.bodies.receive(request, share, (received) => {
      if (!(received instanceof BodyFault)) {
        const { bytes } = received
        // Not `using`, which takes half a microsecond.
        received[Symbol.dispose]()
        return this.#answer(request, response, about, bytes)
      }
      // The connection is gone.
      if (request.destroyed) return
      if (received.closes) response.setHeader('connection', 'close')
      refuse(response, request.headers, received, { status: received.status })
    })
  }

  #answer(
    request: IncomingMessage,
    response: ServerResponse,
    { virtualServer, principal }: { virtualServer: VirtualServer; principal: Principal },
    body: Uint8Array,
  ): void {
    // The client has disconnected, and `close` is not emitted again.
    if (response.closed) return
    const { method = '', headers, socket } = request
    const { endpoint, passing, draining, refusing } = this.#deps
    const refusal = refusing.aborted ? refusalOf(method, body) : undefined
    if (refusal !== undefined) return send(response, headers, refusal)
    const exchange = new HttpExchange(method, principal, headers, body, draining)
    const passed = passing.begin()
    response.on('close', () => {
      if (!response.writableFinished) exchange.signal.cancel()
      // Later requests go to a successor, over a new connection.
      if (draining.aborted) socket.end()
      passed[Symbol.dispose]()
    })
    void endpoint.handle(exchange, virtualServer).then((reply) => {
      // The client must not use the connection again.
      if (draining.aborted && !response.headersSent) response.setHeader('connection', 'close')
      send(response, headers, reply)
    })
  }
}

/** An HTTP request in the form that the endpoint takes. */
class HttpExchange implements EndpointRequest {
  readonly method: string
  readonly principal: Principal
  readonly body: Uint8Array
  readonly closing: AbortSignal
  readonly signal = new Cancellation()
  readonly #headers: IncomingHttpHeaders

  constructor(
    method: string,
    principal: Principal,
    headers: IncomingHttpHeaders,
    body: Uint8Array,
    closing: AbortSignal,
  ) {
    this.method = method
    this.principal = principal
    this.body = body
    this.closing = closing
    this.#headers = headers
  }

  readonly header = (name: string): string | undefined =>
    ownValue(this.#headers, name) as string | undefined
}

const EMPTY = new Uint8Array()
const NO_SERVER = failed(
  null,
  new JsonRpcError(JsonRpcCode.invalidRequest, 'there is no such MCP server or bundle', {
    status: 404,
  }),
)
const DRAINING = new JsonRpcError(JsonRpcCode.unavailable, MAINTENANCE, {
  status: 503,
  data: { reason: 'unavailable', retryable: true },
})

type Found = VirtualServer | undefined
type Find = (virtualServers: VirtualServers) => Found

const all: Find = (virtualServers) => virtualServers.all()
// Some clients add a slash to the address that they are given.
const ADDRESS = /^\/mcp(?:\/(servers|bundles)\/([^/?]+))?\/?(?:\?|$)/

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
 * The refusal of a new request while the gateway drains: JSON-RPC with 503, since 404 would end the session of a
 * client. `undefined` for answers, notifications and the end of a session, which are taken until the end.
 */
function refusalOf(method: string, body: Uint8Array): EndpointReply | undefined {
  if (method === 'DELETE') return undefined
  let message: unknown
  try {
    if (method === 'POST') message = parseMessage(body)
  } catch {
    // The endpoint reports the fault.
    return undefined
  }
  const id = idOf(message)
  const isTold = isObject(message) && (message['method'] === undefined || id === null)
  if (isTold) return undefined
  return { ...failed(id, DRAINING), headers: { ...JSON_TYPE, 'retry-after': '1' } }
}

function refuse(
  response: ServerResponse,
  asked: IncomingHttpHeaders,
  error: unknown,
  more: { readonly status?: number; readonly headers?: Readonly<Record<string, string>> } = {},
): void {
  const answer = errorAnswer(error, more.status)
  const headers = { ...answer.headers, ...more.headers, 'content-type': 'application/json' }
  send(response, asked, { ...answer, headers, body: Buffer.from(JSON.stringify(answer.body)) })
}

function send(
  response: ServerResponse,
  asked: IncomingHttpHeaders,
  { status, headers: own, body = EMPTY }: EndpointReply,
): void {
  const origin = originHeaders(asked)
  const headers = { ...DATA_HEADERS, ...own, ...origin }
  if (!(body instanceof Uint8Array)) {
    response.writeHead(status, headers)
    // `close` reports that a client has left.
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
    // After an error the answer is sent uncompressed.
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

/** The address without its query. */
function pathOf({ url = '' }: IncomingMessage): string {
  const query = url.indexOf('?')
  return query === -1 ? url : url.slice(0, query)
}
