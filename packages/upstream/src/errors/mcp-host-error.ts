/** The error code, one for each error class. */
export type McpHostErrorCode =
  | 'configuration'
  | 'server-startup'
  | 'server-unavailable'
  | 'validation'
  | 'timeout'
  | 'protocol'
  | 'tool-execution'

/** The place of the error, as far as it is known. */
export interface ErrorContext {
  readonly server?: string | undefined
  readonly tool?: string | undefined
  readonly requestId?: string | undefined
  readonly cause?: unknown
}

/** The base of every error that the host throws on its own account. */
export abstract class McpHostError extends Error {
  abstract readonly code: McpHostErrorCode
  readonly server: string | undefined
  readonly tool: string | undefined
  /** The id that the caller gave with the call. */
  readonly requestId: string | undefined

  constructor(message: string, context: ErrorContext = {}) {
    super(message, context.cause === undefined ? undefined : { cause: context.cause })
    this.name = new.target.name
    this.server = context.server
    this.tool = context.tool
    this.requestId = context.requestId
  }
}
