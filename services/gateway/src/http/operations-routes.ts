import type { OperationsDeps } from '@mcp-host/service'
import { operationsRoutes } from '@mcp-host/service'
import type { FastifyInstance, FastifyRequest } from 'fastify'

export type GatewayOperations = OperationsDeps<Pick<FastifyRequest, 'principal'>>

/** `/health`, `/ready` and `/metrics` at the address of clients. */
export function addOperations(app: FastifyInstance, operations: GatewayOperations): void {
  for (const [path, answer] of operationsRoutes(operations)) {
    app.get(path, async (request, reply) => {
      const { status, type, body } = await answer(request)
      return reply.code(status).type(type).send(body)
    })
  }
}
