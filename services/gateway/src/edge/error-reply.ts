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

/** The `Retry-After` of temporary errors that name no time. */
const RETRY_AFTER_MS = 1_000

interface ErrorAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: ErrorReply
}

export const ErrorReply = z
  .object({ error: Failure.describe('The failure.') })
  .meta({ id: 'Error', description: 'Why a request was not done.' })
export type ErrorReply = z.infer<typeof ErrorReply>

/** Sends any error as JSON. `status` replaces the status of the error's code where a finer one applies. */
export function replyError(reply: FastifyReply, error: unknown, status?: number): FastifyReply {
  const answer = errorAnswer(error, status)
  return reply.code(answer.status).headers(answer.headers).send(answer.body)
}

/** The answer that `replyError` sends, as plain values. */
export function errorAnswer(error: unknown, status?: number): ErrorAnswer {
  const known = BusError.from(error)
  const isForNow = known.code === 'unavailable' || known.code === 'exhausted'
  return {
    status: status ?? STATUS[known.code],
    headers: isForNow ? retryAfter(known.retryAfterMs ?? RETRY_AFTER_MS) : {},
    body: { error: known.toInfo() },
  }
}

/** The header in seconds, rounded up. */
function retryAfter(ms: number): { readonly 'retry-after': string } {
  return { 'retry-after': String(Math.ceil(ms / 1_000)) }
}
