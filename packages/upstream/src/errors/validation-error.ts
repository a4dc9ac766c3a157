import { type ErrorContext, McpHostError } from './mcp-host-error.ts'

/** An argument that does not fit the tool's schema. */
export interface ArgumentIssue {
  /** The path of the argument, such as `query.tags[0]`; empty for the arguments as a whole. */
  readonly argument: string
  /** The requirement, which follows the argument's name, such as `must be string`. */
  readonly expected: string
}

/** The call was refused before it reached a server: unknown tool, faulty arguments or faulty schema. */
export class ValidationError extends McpHostError {
  override readonly code = 'validation'
  /** Empty when the tool is unknown or its schema unusable. */
  readonly issues: readonly ArgumentIssue[]

  constructor(message: string, issues: readonly ArgumentIssue[], context: ErrorContext) {
    super(message, context)
    this.issues = issues
  }
}
