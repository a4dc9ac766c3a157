import { type ErrorContext, McpHostError } from './mcp-host-error.ts'

/** The server did not answer in time. It was notified that the call is cancelled. */
export class TimeoutError extends McpHostError {
  override readonly code = 'timeout'
  /** The limit that passed, in milliseconds. */
  readonly timeoutMs: number

  constructor(message: string, timeoutMs: number, context: ErrorContext) {
    super(message, context)
    this.timeoutMs = timeoutMs
  }
}
