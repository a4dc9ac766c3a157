import { type ErrorContext, McpHostError } from './mcp-host-error.ts'

export interface UnavailableContext extends ErrorContext {
  readonly retryAfterMs?: number | undefined
  readonly isOutcomeUnknown?: boolean
}

/**
 * The server is not ready, refuses calls for a while after too many failures, or ended while the
 * call was running: whether the tool ran is unknown then.
 */
export class ServerUnavailableError extends McpHostError {
  override readonly code = 'server-unavailable'
  /** When another try makes sense, in milliseconds; absent where that is not known. */
  readonly retryAfterMs: number | undefined
  /** Whether the server may have done it before it ended; else nothing was begun. */
  readonly isOutcomeUnknown: boolean

  constructor(message: string, context: UnavailableContext) {
    super(message, context)
    this.retryAfterMs = context.retryAfterMs
    this.isOutcomeUnknown = context.isOutcomeUnknown ?? false
  }
}
