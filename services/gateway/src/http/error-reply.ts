import type { ErrorCode } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'
import type { FastifyReply } from 'fastify'

const STATUS: Record<ErrorCode, number> = {
  invalid: 400,
  unauthenticated: 401,
  denied: 403,
  'not-found': 404,
  conflict: 409,
  exhausted: 429,
  cancelled: 499,
  deadline: 504,
  unavailable: 503,
  internal: 500,
}

/** Any failure as a JSON answer. */
export function replyError(reply: FastifyReply, error: unknown): FastifyReply {
  const known = BusError.from(error)
  return reply.code(STATUS[known.code]).send({ error: known.toInfo() })
}
