import type {
  CreateMessageRequestParams,
  ElicitRequestParams,
  LoggingLevel,
} from '@modelcontextprotocol/client'

export type ServerRequestKind = 'sampling' | 'elicitation' | 'roots' | 'log'

/** The call that made a server ask. */
export interface CausingCall {
  /** The id that the caller gave with the call. */
  readonly requestId?: string | undefined
  readonly tool?: string | undefined
}

interface FromServer {
  readonly server: string
  /**
   * The call that caused it. Servers of 2026-07-28 say it when they ask; of older ones, and of log
   * messages, it is known while just one call is under way on the connection.
   */
  readonly call?: CausingCall
}

interface Answerable extends FromServer {
  /** Aborted when the answer is of no use any more. */
  readonly signal: AbortSignal
}

/** Something that a server asks of its host. `log` asks for no answer. */
export type ServerRequest =
  | (Answerable & { readonly kind: 'sampling'; readonly params: CreateMessageRequestParams })
  | (Answerable & { readonly kind: 'elicitation'; readonly params: ElicitRequestParams })
  | (Answerable & { readonly kind: 'roots' })
  | (FromServer & {
      readonly kind: 'log'
      readonly level: LoggingLevel
      readonly logger?: string
      readonly data: unknown
    })

/**
 * Answers what servers ask: for `sampling` a `CreateMessageResult`, for `elicitation` an
 * `ElicitResult`, for `roots` a `ListRootsResult`. What it throws becomes the server's error.
 */
export type ServerRequestCallback = (request: ServerRequest) => unknown
