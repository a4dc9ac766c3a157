import { Priority, RetryOptions } from '@mcp-host/contracts'
import { MAX_REQUEST_BYTES } from '@mcp-host/mcp-endpoint'
import { z } from 'zod'
import { jsonAnswer } from '../../edge/api.ts'
import { RestErrorReply } from './rest-fault.ts'

/** The longest time that a caller may wait. */
export const MAX_TIMEOUT_MS = 3_600_000

/** Limit for bodies that are read so that their sender sees the error. Larger ones are cut off. */
export const bodyLimit = 2 * MAX_REQUEST_BYTES

const timeoutMs = z
  .number()
  .int()
  .min(1)
  .max(MAX_TIMEOUT_MS)
  .optional()
  .describe(
    'How long you wait, in milliseconds; then the request is cancelled at its server (504). Servers have limits of their own.',
  )

/** The field that narrows a request to one server. */
export const ofServer = {
  server: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe('Name of a server: only its items count, under the names that it gives them.'),
}

/** Options of every request to a server. */
export const handling = {
  ...ofServer,
  timeoutMs,
  priority: Priority.optional().describe(
    'Order of requests that wait for a busy server; default `normal`.',
  ),
  retry: RetryOptions.optional().describe(
    'How it is tried again. What may have begun is not, unless its server or you say so.',
  ),
}

export type Handling = z.infer<z.ZodObject<typeof handling>>

const FAULTS = {
  400: 'Something in the request is not valid; `field` names it.',
  403: 'A page of this origin, or a host of this name, is not served; see `ALLOWED_ORIGINS`. Or the policy, or a user, does not allow the call.',
  404: 'There is no such server, tool, prompt or resource.',
  409: 'With the `reason` `approval-required`: a user has to allow the call at `approval.path`. Without: the approval is used up, or of another call.',
  413: 'The body is larger than 8 MB.',
  415: 'The body is not application/json.',
  500: 'A fault of the host; its log has more.',
  502: 'The MCP server failed: `upstream` has its error. With the `reason` `unknown-outcome` it ended before it answered.',
  503: 'The MCP server is not there, or not asked for `retryAfterMs` because it failed too often. Nothing was begun: try again after `Retry-After` seconds.',
  504: 'No answer in time, that of the server or `timeoutMs`: whether the request took effect is not known.',
} as const

type Fault = keyof typeof FAULTS
const TO_SERVERS: readonly Fault[] = [400, 403, 404, 409, 413, 415, 500, 502, 503, 504]
const OF_LISTS: readonly Fault[] = [400, 403, 404, 413, 415, 500, 503]

/** The answers of a route that refuses a request. */
export function restFaults(of: 'lists' | 'servers'): Record<number, ReturnType<typeof jsonAnswer>> {
  const all = of === 'lists' ? OF_LISTS : TO_SERVERS
  return Object.fromEntries(
    all.map((status) => [status, jsonAnswer(FAULTS[status], RestErrorReply)]),
  )
}
