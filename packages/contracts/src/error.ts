import { z } from 'zod'

/** All kinds of failures of a request. A new one changes the contract. */
export const ErrorCode = z.enum([
  'invalid',
  'unauthenticated',
  'denied',
  'not-found',
  'conflict',
  'exhausted',
  'cancelled',
  'deadline',
  'unavailable',
  'internal',
])
export type ErrorCode = z.infer<typeof ErrorCode>

/** A failure on the wire. */
export const ErrorInfo = z.object({
  code: ErrorCode,
  message: z.string(),
  /** The faulty field of the request, if there is one. */
  field: z.string().optional(),
  /**
   * Refines the code. `context-overflow`: the conversation is too long for the model; `expired`: the session was deleted
   * because it was not used; `maintenance`: an operator has announced it, so a retry does not help for a while.
   */
  reason: z.enum(['context-overflow', 'expired', 'maintenance']).optional(),
  /** When a request that came too early may be sent again, in milliseconds from now. */
  retryAfterMs: z.number().nonnegative().optional(),
  /** The number of the failed attempt, counted from 1, where there may be several. */
  attempt: z.number().int().positive().optional(),
  /**
   * The reaction of the host. `retry`: it tried again; `shorten`: it sent less of the conversation; `tell-model`: the
   * model continues without the result; `tell-user`: the user decides.
   */
  recovery: z.enum(['retry', 'shorten', 'tell-model', 'tell-user']).optional(),
})
export type ErrorInfo = z.infer<typeof ErrorInfo>

const RETRYABLE: ReadonlySet<ErrorCode> = new Set([
  'conflict',
  'exhausted',
  'deadline',
  'unavailable',
])

/** The sender may choose names of fields, of any length. */
const MAX_FIELD_LENGTH = 200

/** The error of failed requests, in one process and between processes. */
export class BusError extends Error {
  override readonly name = 'BusError'
  readonly code: ErrorCode
  readonly field: string | undefined
  readonly reason: ErrorInfo['reason']
  readonly retryAfterMs: number | undefined

  constructor(
    code: ErrorCode,
    message: string,
    options: {
      field?: string
      reason?: ErrorInfo['reason']
      retryAfterMs?: number
      cause?: unknown
    } = {},
  ) {
    super(message, options)
    this.code = code
    this.field = options.field
    this.reason = options.reason
    this.retryAfterMs = options.retryAfterMs
  }

  /** Whether the same request may succeed later. */
  get retryable(): boolean {
    return RETRYABLE.has(this.code)
  }

  toInfo(): ErrorInfo {
    return {
      code: this.code,
      message: this.message,
      ...(this.field === undefined ? {} : { field: this.field }),
      ...(this.reason === undefined ? {} : { reason: this.reason }),
      ...(this.retryAfterMs === undefined ? {} : { retryAfterMs: this.retryAfterMs }),
    }
  }

  /** Aborts become `cancelled`, all other errors `internal`; both keep their cause for the log. */
  static from(error: unknown): BusError {
    if (error instanceof BusError) return error
    if (error instanceof Error && error.name === 'AbortError') {
      return new BusError('cancelled', 'cancelled', { cause: error })
    }
    return new BusError('internal', 'internal error', { cause: error })
  }

  /** The first problem zod found, as an `invalid` error that names the field. */
  static fromZod(error: z.ZodError, what: string): BusError {
    const issue = error.issues[0]
    const field = issue === undefined ? '' : issue.path.join('.').slice(0, MAX_FIELD_LENGTH)
    const at = field === '' ? what : `${what}: ${field}`
    const message = `${at}: ${issue?.message ?? 'not valid'}`
    return new BusError('invalid', message, field === '' ? {} : { field })
  }
}

/** The parsed value. Throws `invalid` with the name of the field for any other value. */
export function parseInput<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  let parsed: z.ZodSafeParseResult<T>
  try {
    parsed = schema.safeParse(value)
  } catch (error) {
    // Zod compares the `length` of values that are no strings, and recurses into each level of JSON.
    const reason = error instanceof RangeError ? 'nested too deeply' : 'not valid'
    throw new BusError('invalid', `${what}: ${reason}`, { cause: error })
  }
  if (!parsed.success) throw BusError.fromZod(parsed.error, what)
  return parsed.data
}
