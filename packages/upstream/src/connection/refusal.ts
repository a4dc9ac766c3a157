import { JsonRpcCode } from '@mcp-host/mcp'
import * as z from 'zod'

import type { ErrorBody } from '../errors/rpc-error.ts'
import { tidyError } from './tidy-message.ts'

/** An HTTP answer that is no success. */
export interface Refusal {
  readonly status: number
  readonly body: string
}

/** Statuses that mean nothing else for a request with a session. The protocol has 404 alone. */
const GONE: ReadonlySet<number> = new Set([404, 410])
/** Statuses by which servers refuse a request without a valid session, among others. */
const DOUBTFUL: ReadonlySet<number> = new Set([400, 401, 403, 409, 422])
/** The part of a body that is searched for words: the search takes quadratic time. */
const MAX_SEARCHED = 1_000
/** Words about a session that is not there, and about a server that was not initialised. */
const LOST_SESSION =
  /session.*\b(not|no longer|invalid|unknown|expired|missing|terminated|closed|ended|timed out|gone|lost|required)\b|\b(no|not|invalid|unknown|expired|missing|unrecognized|stale|without|requires?) .*session|\b(not|before|expect\w*|must|uninitialized)\b.*initiali[sz]|uninitiali[sz]ed/is

/** An error of JSON-RPC; a body without `jsonrpc` needs a numeric code to count as one. */
const Failure = z.union([
  z.looseObject({ error: z.looseObject({ code: z.number(), message: z.string() }) }),
  z.looseObject({ jsonrpc: z.literal('2.0'), error: z.unknown() }),
])

/**
 * Whether a refusal means that the server does not know the session of a request, which has not run then. `id`: that of
 * the request. An error with this id is the answer to it.
 */
export function isSessionLost({ status, body }: Refusal, id: unknown): boolean {
  const failure = parseFailure(body)
  if (failure?.error.code === JsonRpcCode.sessionNotFound) return true
  if (failure !== undefined && failure.id === id) return false
  if (GONE.has(status)) return true
  const words = (failure?.error.message ?? body).slice(0, MAX_SEARCHED)
  return DOUBTFUL.has(status) && LOST_SESSION.test(words)
}

/** The JSON-RPC error in the body of an HTTP error, which some servers send. */
export function parseFailure(
  body: string,
): { readonly id: unknown; readonly error: ErrorBody } | undefined {
  try {
    const { id, error } = Failure.parse(JSON.parse(body)) as { id?: unknown; error?: unknown }
    return { id, error: tidyError(error) }
  } catch {
    // It is something else, such as the error page of a proxy.
    return undefined
  }
}
