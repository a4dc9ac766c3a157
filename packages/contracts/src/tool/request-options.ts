import { z } from 'zod'
import { AccountLabel } from '../ids.ts'

const MAX_PAUSE_MS = 300_000

const Retries = z.object({
  maxRetries: z.int().min(0).max(10).exactOptional().describe('Retries after the first attempt.'),
  delayMs: z
    .number()
    .min(0)
    .max(MAX_PAUSE_MS)
    .exactOptional()
    .describe('The pause before the first retry, in milliseconds; it doubles with each one.'),
  maxDelayMs: z
    .number()
    .min(0)
    .max(MAX_PAUSE_MS)
    .exactOptional()
    .describe('No pause is longer, in milliseconds.'),
  retryableErrorCodes: z
    .array(z.union([z.enum(['server-unavailable', 'timeout', 'protocol']), z.int()]))
    .max(20)
    .exactOptional()
    .describe('Which errors are tried again; numbers are JSON-RPC codes of the server.'),
  isSafeToRepeat: z
    .boolean()
    .exactOptional()
    .describe('Says that the request may take effect twice.'),
})

/** The number, delays and errors of retries; `false`: no retries. */
export const RetryOptions = z.union(
  [z.literal(false), Retries],
  'must be false, or an object of maxRetries (0 to 10), delayMs and maxDelayMs (to 300000), retryableErrorCodes, isSafeToRepeat',
)

export const Priority = z.enum(['high', 'normal', 'low'])

/** Options of a request to a server. A request that may have begun is repeated only when they allow it. */
export const RequestOptions = z.object({
  timeoutMs: z.number().min(1).max(3_600_000).exactOptional(),
  priority: Priority.exactOptional(),
  retry: RetryOptions.exactOptional(),
  /** Which of several logins of the caller at the server is used. */
  account: AccountLabel.exactOptional(),
})
export type RequestOptions = z.infer<typeof RequestOptions>

/** The field of a request's `_meta` with its `RequestOptions`, which is not sent to the server. */
export const OPTIONS_META_KEY = 'mcp-host/options'
