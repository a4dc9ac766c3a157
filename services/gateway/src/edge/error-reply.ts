import type { ErrorCode } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'
import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { Failure } from '../projection/answer-parts.ts'

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

/** The `Retry-After` of temporary errors, in seconds. */
const RETRY_AFTER_SECONDS = '1'

interface ErrorAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: ErrorReply
}

export const ErrorReply = z
  .object({ error: Failure.describe('What went wrong.') })
  .meta({ id: 'Error', description: 'Why a request was not done.' })
export type ErrorReply = z.infer<typeof ErrorReply>

/** Any failure as a JSON answer; `status` where it is finer than the code's. */
export function replyError(reply: FastifyReply, error: unknown, status?: number): FastifyReply {
  const answer = errorAnswer(error, status)
  return reply.code(answer.status).headers(answer.headers).send(answer.body)
}

/** As `replyError`, in plain values. */
export function errorAnswer(error: unknown, status?: number): ErrorAnswer {
  const known = BusError.from(error)
  const isForNow = known.code === 'unavailable' || known.code === 'exhausted'
  return {
    status: status ?? STATUS[known.code],
    headers: isForNow ? { 'retry-after': RETRY_AFTER_SECONDS } : {},
    body: { error: known.toInfo() },
  }
}
