import { type ErrorContext, McpHostError } from './mcp-host-error.ts'
import { withOutput } from './with-output.ts'

export interface UnavailableContext extends ErrorContext {
  readonly retryAfterMs?: number | undefined
  readonly isOutcomeUnknown?: boolean
  readonly output?: readonly string[] | undefined
}

/**
 * The server is not ready, refuses calls after too many failures, or ended during the call. In the last case it is
 * unknown whether the tool ran.
 */
export class ServerUnavailableError extends McpHostError {
  override readonly code = 'server-unavailable'
  /** The time after which a retry makes sense, in milliseconds; absent when unknown. */
  readonly retryAfterMs: number | undefined
  /** Whether the server may have carried out the request before it ended. Otherwise it has not begun. */
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
