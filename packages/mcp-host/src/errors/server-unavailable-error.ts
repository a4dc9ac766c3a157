import { type ErrorContext, McpHostError } from './mcp-host-error.ts'
import { withOutput } from './with-output.ts'

export interface UnavailableContext extends ErrorContext {
  readonly retryAfterMs?: number | undefined
  readonly isOutcomeUnknown?: boolean
  readonly output?: readonly string[] | undefined
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
  /** The message without the output. */
  readonly reason: string
  /** The last lines that its process wrote outside of the protocol; empty when there are none. */
  readonly output: readonly string[]

  constructor(reason: string, context: UnavailableContext) {
    const { output = [] } = context
    super(withOutput(reason, output), context)
    this.reason = reason
    this.output = output
    this.retryAfterMs = context.retryAfterMs
    this.isOutcomeUnknown = context.isOutcomeUnknown ?? false
  }
}
