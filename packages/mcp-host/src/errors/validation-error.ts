import { type ErrorContext, McpHostError } from './mcp-host-error.ts'

/** One argument that is not as the tool's schema asks. */
export interface ArgumentIssue {
  /** As in `query.tags[0]`; empty for the arguments as a whole. */
  readonly argument: string
  /** Reads on after the argument's name, as in `must be string`. */
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
