import type {
  CreateMessageRequestParams,
  CreateMessageResult,
  ElicitRequestParams,
  ElicitResult,
  ListRootsResult,
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
  /** Aborts when the answer is not needed. */
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
      /** Whether no call was under way, so that the message is certainly of none. */
      readonly isOutsideCalls: boolean
    })

/**
 * Answers requests of servers: for `sampling` a `CreateMessageResult`, for `elicitation` an `ElicitResult`, for `roots`
 * a `ListRootsResult`; `undefined` declines. Errors that it throws are sent to the server.
 */
export type ServerRequestCallback = (request: ServerRequest) => unknown

type OfKind<Kind extends ServerRequestKind> = Extract<ServerRequest, { readonly kind: Kind }>

type Answer<Result> = Result | undefined | Promise<Result | undefined>

/** One handler for each kind of request. Kinds with a handler are declared to servers as capabilities. */
export interface ServerRequestHandlers {
  /** Asks a model. `undefined` declines. */
  sampling?(request: OfKind<'sampling'>): Answer<CreateMessageResult>
  /** Asks the user. `undefined` declines. */
  elicitation?(request: OfKind<'elicitation'>): Answer<ElicitResult>
  /** Lists the folders that the server may work in. `undefined` means none. */
  roots?(request: OfKind<'roots'>): Answer<ListRootsResult>
  /** Takes a log message of a server. */
  log?(message: OfKind<'log'>): void | Promise<void>
}

/** The kinds that have a handler. */
export function handledKinds(handlers: ServerRequestHandlers): readonly ServerRequestKind[] {
  return KINDS.filter((kind) => handlers[kind] !== undefined)
}

/** One callback that gives each request to its handler. */
export function callbackOf(handlers: ServerRequestHandlers): ServerRequestCallback {
  return (request) => {
    switch (request.kind) {
      case 'sampling':
        return handlers.sampling?.(request)
      case 'elicitation':
        return handlers.elicitation?.(request)
      case 'roots':
        return handlers.roots?.(request)
      case 'log':
        return handlers.log?.(request)
      default:
        return request satisfies never
    }
  }
}

const KINDS = ['sampling', 'elicitation', 'roots', 'log'] as const
