import { type ErrorContext, McpHostError } from './mcp-host-error.ts'
import { withOutput } from './with-output.ts'

export interface StartupContext extends ErrorContext {
  readonly output?: readonly string[] | undefined
}

/** A server could not be started, ended before it was ready, or was not ready in time. */
export class ServerStartupError extends McpHostError {
  override readonly code = 'server-startup'
  /** The message without the output. */
  readonly reason: string
  /** The last lines that its process wrote outside of the protocol; empty when there are none. */
  readonly output: readonly string[]

  constructor(reason: string, context: StartupContext) {
    const { output = [] } = context
    super(withOutput(reason, output), context)
    this.reason = reason
    this.output = output
  }
}
