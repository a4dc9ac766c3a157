import type { CallToolResult } from '@modelcontextprotocol/client'

import { type ErrorContext, McpHostError } from './mcp-host-error.ts'

/** The tool ran and says that it failed. Thrown only where `throwToolErrors` asks for it. */
export class ToolExecutionError extends McpHostError {
  override readonly code = 'tool-execution'
  /** As received. */
  readonly result: CallToolResult

  constructor(message: string, result: CallToolResult, context: ErrorContext) {
    super(message, context)
    this.result = result
  }
}
