import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Clients } from './core/clients.ts'
import type { McpReply } from './core/endpoint.ts'
import { McpEndpoint } from './core/endpoint.ts'
import type { Mount } from './core/mount.ts'
import { RpcCode } from './core/rpc.ts'
import type { Upstream } from './core/upstream.ts'
import type { Mounts } from './mounts.ts'

export interface McpRoutesDeps {
  readonly mounts: Mounts
  readonly upstream: Upstream
  readonly clients: Clients
  /** Requests under way, to be waited for. */
  readonly passing: Set<Promise<unknown>>
  /** Aborts when no more is taken. */
  readonly draining: AbortSignal
}

/** Larger requests do not fit into a message of the bus. */
export const MAX_BODY_BYTES = 768 * 1024

/** The whole catalog, and each server, as one MCP server over Streamable HTTP. */
export async function addMcpRoutes(
  app: FastifyInstance,
  { mounts, upstream, clients, passing, draining }: McpRoutesDeps,
): Promise<void> {
  const endpoint = new McpEndpoint({
    upstream,
    clients,
    serverInfo: { name: 'mcp-host', version: '0.1.0' },
  })
  // What it is decides the endpoint, with errors of its own.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_, body, done) => done(null, body))

  async function answer(
    request: FastifyRequest,
    reply: FastifyReply,
    mount: Mount | undefined,
  ): Promise<FastifyReply> {
    if (mount === undefined) {
      const message = 'there is no such MCP server or bundle'
      const error = { code: RpcCode.invalidRequest, message }
      return reply.code(404).send({ jsonrpc: '2.0', id: null, error })
    }
    const left = new AbortController()
    const over = Promise.withResolvers<void>()
    passing.add(over.promise)
    reply.raw.once('close', () => {
      if (!reply.raw.writableFinished) left.abort()
      passing.delete(over.promise)
      over.resolve()
    })
    const { method, headers, body } = request
    const answered = await endpoint.handle(
      {
        method,
        header: (name) => headers[name] as string | undefined,
        body: Buffer.isBuffer(body) ? body : EMPTY,
        signal: left.signal,
        closing: draining,
      },
      mount,
    )
    return send(reply, answered)
  }

  const options = { bodyLimit: MAX_BODY_BYTES }
  app.all('/mcp', options, (request, reply) => answer(request, reply, mounts.all()))
  app.all<{ Params: { server: string } }>('/mcp/servers/:server', options, (request, reply) =>
    answer(request, reply, mounts.server(request.params.server)),
  )
  app.all<{ Params: { bundle: string } }>('/mcp/bundles/:bundle', options, (request, reply) =>
    answer(request, reply, mounts.bundle(request.params.bundle)),
  )
}

const EMPTY = new Uint8Array()

function send(reply: FastifyReply, { status, headers, body }: McpReply): FastifyReply {
  reply.code(status).headers(headers)
  if (body === undefined) return reply.send()
  if (body instanceof Uint8Array) return reply.send(body)
  return reply.send(Readable.from(body))
}
