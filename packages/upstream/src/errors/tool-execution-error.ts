import type { CallToolResult } from '@modelcontextprotocol/client'

import { type ErrorContext, McpHostError } from './mcp-host-error.ts'

/** The tool reported an error. Thrown only with `throwToolErrors`. */
export class ToolExecutionError extends McpHostError {
  override readonly code = 'tool-execution'
  /** The result as the server sent it. */
  readonly result: CallToolResult

  constructor(message: string, result: CallToolResult, context: ErrorContext) {
    super(message, context)
    this.result = result
  }
}
