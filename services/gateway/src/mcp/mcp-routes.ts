import type { IncomingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import type { UnderWay } from '@mcp-host/service'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { WebSocket } from 'ws'
import type { GatewayConfig } from '../config.ts'
import type { Clients } from './core/clients.ts'
import type { McpExchange, McpReply } from './core/endpoint.ts'
import { McpEndpoint } from './core/endpoint.ts'
import type { Mount } from './core/mount.ts'
import { RpcCode } from './core/rpc.ts'
import type { Upstream } from './core/upstream.ts'
import type { McpSocketEvents } from './mcp-socket.ts'
import { serveMcpSocket } from './mcp-socket.ts'
import type { Mounts } from './mounts.ts'

export interface McpRoutesDeps {
  readonly mounts: Mounts
  readonly upstream: Upstream
  readonly clients: Clients
  /** Requests under way, to be waited for. */
  readonly passing: UnderWay
  /** Aborts when no more is taken. */
  readonly draining: AbortSignal
  readonly events: McpSocketEvents
}

/** Larger requests do not fit into a message of the bus. */
export const MAX_BODY_BYTES = 768 * 1024

/** The whole catalog, and each server, as one MCP server over Streamable HTTP and WebSocket. */
export async function addMcpRoutes(
  app: FastifyInstance,
  { mounts, upstream, clients, passing, draining, events }: McpRoutesDeps,
  settings: Pick<GatewayConfig, 'heartbeatMs' | 'mcpStreamMs'>,
): Promise<void> {
  const serverInfo = { name: 'mcp-host', version: '0.1.0' }
  const options = { streamMs: settings.mcpStreamMs }
  const endpoint = new McpEndpoint({ upstream, clients, serverInfo }, options)
  // What it is decides the endpoint, with errors of its own.
  app.removeAllContentTypeParsers()
  // The first is what it is always; the other would look it up each time.
  for (const type of ['application/json', '*']) {
    app.addContentTypeParser(type, { parseAs: 'buffer' }, (_, body, done) => done(null, body))
  }

  async function answer(
    request: FastifyRequest,
    reply: FastifyReply,
    mount: Mount | undefined,
  ): Promise<FastifyReply> {
    if (mount === undefined) return refuse(reply.code(404), NO_SERVER)
    const exchange = new HttpExchange(request, draining)
    const passed = passing.begin()
    reply.raw.once('close', () => {
      if (!reply.raw.writableFinished) exchange.left()
      passed[Symbol.dispose]()
    })
    return send(reply, await endpoint.handle(exchange, mount))
  }

  function converse(socket: WebSocket, mount: Mount | undefined): void {
    if (mount === undefined) return socket.close(1008, NO_SERVER)
    const passed = passing.begin()
    const over = serveMcpSocket({ endpoint, mount, draining, events }, socket, settings)
    void over.finally(() => passed[Symbol.dispose]())
  }

  const limits = { bodyLimit: MAX_BODY_BYTES }
  /** One more address, and `…/ws` below it. */
  function add(url: string, find: (params: Params) => Mount | undefined): void {
    app.all<{ Params: Params }>(url, limits, (request, reply) =>
      answer(request, reply, find(request.params)),
    )
    app.route({
      method: 'GET',
      url: `${url}/ws`,
      wsHandler: (socket, request) => converse(socket, find(request.params as Params)),
      handler: (_, reply) => refuse(reply.code(426).header('upgrade', 'websocket'), ONLY_SOCKETS),
    })
  }

  add('/mcp', () => mounts.all())
  add('/mcp/servers/:server', ({ server = '' }) => mounts.server(server))
  add('/mcp/bundles/:bundle', ({ bundle = '' }) => mounts.bundle(bundle))
}

/** A request of HTTP, in the words of the endpoint. */
class HttpExchange implements McpExchange {
  readonly method: string
  readonly body: Uint8Array
  readonly closing: AbortSignal
  readonly #headers: IncomingHttpHeaders
  readonly #left = new AbortController()

  constructor({ method, headers, body }: FastifyRequest, closing: AbortSignal) {
    this.method = method
    this.body = Buffer.isBuffer(body) ? body : EMPTY
    this.closing = closing
    this.#headers = headers
  }

  readonly header = (name: string): string | undefined => this.#headers[name] as string | undefined

  /** Made when somebody wants it, which hardly any request does. */
  get signal(): AbortSignal {
    return this.#left.signal
  }

  left(): void {
    this.#left.abort()
  }
}

type Params = Readonly<Record<string, string>>

const EMPTY = new Uint8Array()
const NO_SERVER = 'there is no such MCP server or bundle'
const ONLY_SOCKETS = 'this is a WebSocket endpoint; connect with ws://'

function refuse(reply: FastifyReply, message: string): FastifyReply {
  const error = { code: RpcCode.invalidRequest, message }
  return reply.send({ jsonrpc: '2.0', id: null, error })
}

function send(reply: FastifyReply, { status, headers, body }: McpReply): FastifyReply {
  reply.code(status).headers(headers)
  if (body === undefined) return reply.send()
  if (body instanceof Uint8Array) return reply.send(body)
  return reply.send(Readable.from(body))
}
