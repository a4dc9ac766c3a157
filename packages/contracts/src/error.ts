import { z } from 'zod'

/** Every way a request can fail. Adding one is a change of contract. */
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

/**
 * What the host did about a failure. `retry`: tried again; `shorten`: sent less of the conversation;
 * `tell-model`: the model goes on without; `tell-user`: nothing more, the user decides.
 */
const Recovery = z.enum(['retry', 'shorten', 'tell-model', 'tell-user'])

/** What a failure looks like on the wire. `field` names the faulty input, where one is at fault. */
export const ErrorInfo = z.object({
  code: ErrorCode,
  message: z.string(),
  field: z.string().optional(),
  /** Finer than the code, for programs. `context-overflow`: the conversation is too long for the model; `expired`: the session was deleted because nothing happened in it. */
  reason: z.enum(['context-overflow', 'expired']).optional(),
  /** Which attempt this was, counted from 1, where something was tried more than once. */
  attempt: z.number().int().positive().optional(),
  recovery: Recovery.optional(),
})
export type ErrorInfo = z.infer<typeof ErrorInfo>

const RETRYABLE: ReadonlySet<ErrorCode> = new Set([
  'conflict',
  'exhausted',
  'deadline',
  'unavailable',
])

/** The names of fields may be the sender's own, of any length. */
const MAX_FIELD_LENGTH = 200

/** The one error that crosses process borders. */
export class BusError extends Error {
  override readonly name = 'BusError'
  readonly code: ErrorCode
  readonly field: string | undefined
  readonly reason: ErrorInfo['reason']

  constructor(
    code: ErrorCode,
    message: string,
    options: { field?: string; reason?: ErrorInfo['reason']; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.field = options.field
    this.reason = options.reason
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

/** The value as the schema reads it. Throws `invalid`, naming the field, whatever the value is. */
export function parseInput<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  let parsed: z.ZodSafeParseResult<T>
  try {
    parsed = schema.safeParse(value)
  } catch (error) {
    // Zod compares the `length` of a value that is no text, and calls itself for each level of JSON.
    const reason = error instanceof RangeError ? 'nested too deeply' : 'not valid'
    throw new BusError('invalid', `${what}: ${reason}`, { cause: error })
  }
  if (!parsed.success) throw BusError.fromZod(parsed.error, what)
  return parsed.data
}
