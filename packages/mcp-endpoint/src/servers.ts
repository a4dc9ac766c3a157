import type { Caller, McpClient, McpLogLevel } from '@mcp-host/contracts'
import type { CancelSignal } from '@mcp-host/async'
import type { Params } from './messages/json-rpc.ts'
import { JsonRpcCode } from '@mcp-host/mcp'
import { JsonRpcError } from './messages/json-rpc.ts'
import type { Era } from './messages/versions.ts'

/** Receives the replies before the last one. Replies of a resumable request have a number. */
export interface ReplyListener {
  /** Called with a notification of the server. `params` is JSON. */
  onNotice(method: string, params: string, number?: number): void
  /** Called with a request of the server to the caller. The answer goes to `answer`, with `ask`. */
  onAsk(ask: string, method: string, params: string, number?: number): void
  /** Called once the caller can resume the request. */
  onResumable(kept: ResumePoint): void
}

/** The supervisor that keeps a resumable request. */
export interface ResumePoint {
  readonly supervisor: string
  readonly server: string
  /** The request's name on the bus. */
  readonly id: string
}

/** A request that a client resumes. */
export interface ResumedRequest {
  readonly listener: ReplyListener
  /** The client's session. */
  readonly client: string
  readonly caller?: Caller | undefined
  /** The number of the last reply that the client received. */
  readonly after: number
  /** Its abort ends the request at the server. */
  readonly signal: CancelSignal
}

/** A request on its way to a server. */
export interface OutgoingRequest {
  readonly method: string
  readonly params: Params
  readonly era: Era
  /** The principal on whose behalf it is sent. */
  readonly caller?: Caller | undefined
  /** Whether the server has a dedicated process for each client. */
  readonly isOwn?: boolean | undefined
  /** The caller, if it has a session. */
  readonly client?: McpClient | undefined
  /** Whether the request changes nothing, so that identical concurrent ones are coalesced. */
  readonly isReadOnly?: boolean | undefined
  /** Whether a legacy caller gets the output of the tool as `{ result: … }`. */
  readonly isOutputWrapped?: boolean | undefined
  /** A question for the caller's user. The request is sent only when the user accepts. */
  readonly confirm?: string | undefined
  /** The caller's trace context, in the format of W3C. */
  readonly traceparent?: string | undefined
  /** Its abort ends the request at the server. */
  readonly signal?: CancelSignal | undefined
  readonly listener?: ReplyListener | undefined
  /** Whether the caller can resume the request: it has a session and a listener. */
  readonly isResumable?: boolean | undefined
}

/** The server's result or error object, as JSON. */
export interface ServerReply {
  readonly type: 'result' | 'error'
  readonly json: Uint8Array
  /** The code of an error. */
  readonly code?: number | undefined
  /** Whether a result refers to resources of its server. */
  readonly hasLinks?: boolean
  /** Whether a result reports invalid arguments, which the server did not see. */
  readonly isRefused?: boolean
}

/** A subscription to resources of one server. */
export interface WatchRequest {
  readonly uris: readonly string[]
  /** The client whose dedicated process is watched. */
  readonly client?: string
  readonly onUpdated: (uri: string) => void
}

/** A notification or request of a server to a client, outside of requests of the client. */
export interface ClientMessage {
  readonly method: string
  readonly params?: object | undefined
  readonly ask?: string | undefined
}

/** Such a message of a server's dedicated process. */
export interface ServerMessage extends ClientMessage {
  readonly server: string
}

/** The error for a request that its caller resumed at another gateway. */
export const MOVED = new JsonRpcError(JsonRpcCode.unavailable, 'another stream has the request now')

/** The error for a request that its caller cancelled. */
export const CANCELLED = new JsonRpcError(JsonRpcCode.unavailable, 'the request was cancelled')

/** A log message of a shared server, outside of requests. */
export interface ServerLog {
  readonly server: string
  readonly level: McpLogLevel
  /** The whole message, as the `params` of a notification. */
  readonly params: object
}

/**
 * Called when a request succeeded after something failed that its caller does not learn of. `placement`: no supervisor
 * had the server yet. `bus`: the supervisor was silent or gone. `afterMs`: since the failure.
 */
export type OnRecovered = (
  recoveredBy: 'placement' | 'bus',
  about: { readonly server?: string; readonly afterMs: number },
) => void

/** The connection to the servers. */
export interface Servers {
  /** Sends a request. Throws `JsonRpcError` when there is no answer, including `MOVED`, or the signal's reason. */
  send(server: string, request: OutgoingRequest): Promise<ServerReply>
  /** Resumes a request and gets its remaining replies. Throws as `send`. */
  resume(kept: ResumePoint, request: ResumedRequest): Promise<ServerReply>
  /** Sends a session's answer to a question. `message` is a JSON-RPC response. */
  answer(ask: string, client: string, message: Params): void
  /** Sends a notification of a client. */
  tell(server: string, client: string, what: 'roots-changed' | 'leave'): void
  /** Reports changes of resources until disposed. */
  watch(server: string, request: WatchRequest): Disposable
  /** Reports messages of servers to a client, outside of its requests, until disposed. */
  listen(client: string, listener: (message: ServerMessage) => void): Disposable
  /** Reports log messages of shared servers outside of requests, until disposed. */
  onLog(listener: (log: ServerLog) => void): Disposable
}
