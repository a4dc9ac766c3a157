import type { McpClient, McpLogLevel } from '@mcp-host/contracts'
import type { CancelSignal } from 'mcp-host/async'
import type { Params } from './json-rpc.ts'
import { JsonRpcCode, JsonRpcError } from './json-rpc.ts'
import type { Era } from './versions.ts'

/** Receives the replies before the last one. Replies of a resumable request have a number. */
export interface ReplyListener {
  /** Told what the server reports meanwhile: the `params` of a notification, as JSON. */
  onNotice(method: string, params: string, number?: number): void
  /** Told what the server asks the caller: the answer goes to `answer` under `ask`. */
  onAsk(ask: string, method: string, params: string, number?: number): void
  /** Told that from now on the caller may come back to it. */
  onResumable(kept: ResumePoint): void
}

/** The supervisor that keeps a resumable request. */
export interface ResumePoint {
  readonly supervisor: string
  readonly server: string
  /** The request's name on the bus. */
  readonly id: string
}

/** A request that a client comes back to. */
export interface ResumedRequest {
  readonly listener: ReplyListener
  /** The client's session. */
  readonly client: string
  /** The number of the last that it was told. */
  readonly after: number
  /** Its abort ends the request at the server. */
  readonly signal: CancelSignal
}

/** A request on its way to a server. */
export interface ForwardedRequest {
  readonly method: string
  readonly params: Params
  readonly era: Era
  /** Whether the server has a dedicated process for each client. */
  readonly isOwn?: boolean | undefined
  /** The caller, where it keeps a session. */
  readonly client?: McpClient | undefined
  /** Whether it changes nothing: of several at the same time one is enough. */
  readonly isReadOnly?: boolean | undefined
  /** Whether a caller of the older protocol knows the output of the tool as `{ result: … }`. */
  readonly isOutputWrapped?: boolean | undefined
  /** A question to the caller's user first; the request is forwarded only when it is accepted. */
  readonly confirm?: string | undefined
  /** The caller's trace, as W3C writes it. */
  readonly traceparent?: string | undefined
  /** Its abort ends the request at the server. */
  readonly signal?: CancelSignal | undefined
  readonly listener?: ReplyListener | undefined
  /** Whether the caller may come back to it: it has a session, and a listener. */
  readonly isResumable?: boolean | undefined
}

/** The server's result or error object, as JSON. */
export interface ForwardedReply {
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
  /** Whose process is meant, where each client has its own. */
  readonly client?: string
  readonly onUpdated: (uri: string) => void
}

/** A notification or request of a server to a client outside of any request. */
export interface ClientMessage {
  readonly method: string
  readonly params?: object | undefined
  readonly ask?: string | undefined
}

/** The caller resumed the request at another gateway, which gets the rest. */
export const MOVED = new JsonRpcError(JsonRpcCode.unavailable, 'another stream has the request now')

/** A log message of a server that all clients share, outside of any request. */
export interface ServerLog {
  readonly server: string
  readonly level: McpLogLevel
  /** All of the message, as the `params` of a notification. */
  readonly params: object
}

/** The way to the servers. */
export interface Upstream {
  /** Throws `JsonRpcError` when there was no answer, `MOVED` among them, or the signal's reason. */
  forward(server: string, request: ForwardedRequest): Promise<ForwardedReply>
  /** Resumes a request: the rest of its replies. Throws as `forward`. */
  resume(kept: ResumePoint, request: ResumedRequest): Promise<ForwardedReply>
  /** Hands over what a client said when it was asked; `message` is JSON-RPC's answer. */
  answer(ask: string, message: Params): void
  /** Sends a notification of a client that has no reply. */
  tell(server: string, client: string, what: 'roots-changed' | 'leave'): void
  /** Tells of changes until it is disposed. */
  watch(server: string, request: WatchRequest): Disposable
  /** Tells what servers say to a client by itself, until it is disposed. */
  listen(client: string, listener: (message: ClientMessage) => void): Disposable
  /** Tells what shared servers log outside of requests, until it is disposed. */
  onLog(listener: (log: ServerLog) => void): Disposable
}
