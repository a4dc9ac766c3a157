import type {
  CreateMessageRequestParams,
  CreateMessageResult,
  ElicitRequestParams,
  ElicitResult,
  ListRootsResult,
  LoggingLevel,
} from '@modelcontextprotocol/client'

export type ServerRequestKind = 'sampling' | 'elicitation' | 'roots' | 'log'

export const SERVER_REQUEST_KINDS: readonly ServerRequestKind[] = [
  'sampling',
  'elicitation',
  'roots',
  'log',
]

/** The call during which a server made a request. */
export interface CausingCall {
  /** The id that the caller gave with the call. */
  readonly requestId?: string | undefined
  readonly tool?: string | undefined
}

interface FromServer {
  readonly server: string
  /**
   * The call that caused the request. Servers of 2026-07-28 name it. For older servers, and for log messages, it is
   * known only while a single call is in flight on the connection.
   */
  readonly call?: CausingCall
}

interface Answerable extends FromServer {
  /** Aborts when no answer is needed any more. */
  readonly signal: AbortSignal
}

/** A request of a server to its host. `log` has no answer. */
export type ServerRequest =
  | (Answerable & { readonly kind: 'sampling'; readonly params: CreateMessageRequestParams })
  | (Answerable & { readonly kind: 'elicitation'; readonly params: ElicitRequestParams })
  | (Answerable & { readonly kind: 'roots' })
  | (FromServer & {
      readonly kind: 'log'
      readonly level: LoggingLevel
      readonly logger?: string
      readonly data: unknown
      /** Whether no call was in flight, so that no call caused the message. */
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
  return SERVER_REQUEST_KINDS.filter((kind) => handlers[kind] !== undefined)
}

/** A single callback that passes each request to its handler. */
export function callbackOf(handlers: ServerRequestHandlers): ServerRequestCallback {
  // TypeScript does not derive that a handler takes the requests of its kind.
  return (request) => handlers[request.kind]?.(request as never)
}
