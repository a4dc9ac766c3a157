import websocket from '@fastify/websocket'
import { BusError } from '@mcp-host/contracts'
import type { Logger, OperationsDeps } from '@mcp-host/service'
import { addOperations } from '@mcp-host/service'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { fastify } from 'fastify'
import type { WebSocket } from 'ws'
import { replyError } from './error-reply.ts'
import { checkOrigin } from './origin.ts'

/** Larger frames end the connection; up to it a too long message is answered with an error. */
const MAX_FRAME_BYTES = 8 * 1024 * 1024

const FRONT_PAGE = `mcp-host gateway

GET /ws        chat over WebSocket
GET /health    the process, the MCP servers and the model
GET /ready     whether it can work
GET /metrics   Prometheus
`

export interface AppDeps {
  readonly logger: Logger
  readonly operations: OperationsDeps
  readonly onSocket: (socket: WebSocket, request: FastifyRequest) => void
}

/** The HTTP face of the gateway. */
export async function buildApp(
  { logger, operations, onSocket }: AppDeps,
  { allowedOrigins }: { allowedOrigins: readonly string[] },
): Promise<FastifyInstance> {
  const app = fastify()
  await app.register(websocket, {
    // A faulty connection closes itself, with a code that says why; the default cuts it before that.
    errorHandler: () => undefined,
    options: { maxPayload: MAX_FRAME_BYTES },
  })
  // Before the upgrade: a foreign page must not even get a socket.
  app.addHook('onRequest', async ({ headers }) => checkOrigin(headers, allowedOrigins))
  app.setErrorHandler((error, request, reply) => {
    const known = isClientFault(error) ? new BusError('invalid', error.message) : error
    if (BusError.from(known).code === 'internal') {
      logger.error(
        { component: 'http', action: request.url.split('?')[0], err: error },
        'request failed',
      )
    }
    return replyError(reply, known)
  })
  app.setNotFoundHandler(({ method, url }, reply) =>
    replyError(reply, new BusError('not-found', `there is no ${method} ${url.split('?')[0]}`)),
  )
  addOperations(app, operations)
  app.get('/', (_, reply) => reply.type('text/plain').send(FRONT_PAGE))
  app.route({
    method: 'GET',
    url: '/ws',
    wsHandler: onSocket,
    handler: (_, reply) =>
      replyError(
        reply,
        new BusError('invalid', 'this is a WebSocket endpoint; connect with ws://'),
      ),
  })
  return app
}

function isClientFault(error: unknown): error is Error {
  return (
    error instanceof Error &&
    'statusCode' in error &&
    typeof error.statusCode === 'number' &&
    error.statusCode < 500
  )
}
