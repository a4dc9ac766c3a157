import type { McpClient, McpLogLevel } from '@mcp-host/contracts'
import type { CancelSignal } from 'mcp-host/async'
import type { Params } from './json-rpc.ts'
import { JsonRpcCode, JsonRpcError } from './json-rpc.ts'
import type { Era } from './versions.ts'

/** Who hears what happens before an answer. What is told of a request that is kept has a number. */
export interface ReplyListener {
  /** Told what the server reports meanwhile: the `params` of a notification, as JSON. */
  onNotice(method: string, params: string, number?: number): void
  /** Told what the server asks the caller: the answer goes to `answer` under `ask`. */
  onAsk(ask: string, method: string, params: string, number?: number): void
  /** Told that from now on the caller may come back to it. */
  onResumable(kept: ResumePoint): void
}

/** Where a request is kept for its caller. */
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
  /** Whether each client has a process of the server for itself. */
  readonly isOwn?: boolean | undefined
  /** The caller, where it keeps a session. */
  readonly client?: McpClient | undefined
  /** Whether it changes nothing: of several at the same time one is enough. */
  readonly isReadOnly?: boolean | undefined
  /** Whether a caller of the older protocol knows the output of the tool as `{ result: … }`. */
  readonly isOutputWrapped?: boolean | undefined
  /** What the caller is asked first: only what it allows goes on to the server. */
  readonly confirm?: string | undefined
  /** The caller's trace, as W3C writes it. */
  readonly traceparent?: string | undefined
  /** Its abort ends the request at the server. */
  readonly signal?: CancelSignal | undefined
  readonly listener?: ReplyListener | undefined
  /** Whether the caller may come back to it: it has a session, and a listener. */
  readonly isResumable?: boolean | undefined
}

/** What the server answered: its result, or an error object, as JSON. */
export interface ForwardedReply {
  readonly type: 'result' | 'error'
  readonly json: Uint8Array
  /** Of the error. */
  readonly code?: number | undefined
  /** Of a result: it points to resources of its server. */
  readonly hasLinks?: boolean
  /** Of a result: it says what is wrong with the arguments, which the server never saw. */
  readonly isRefused?: boolean
}

/** Resources of one server that somebody wants to hear of. */
export interface WatchRequest {
  readonly uris: readonly string[]
  /** Whose process is meant, where each client has its own. */
  readonly client?: string
  readonly onUpdated: (uri: string) => void
}

/** What a server tells or asks a client outside of any request. */
export interface ClientMessage {
  readonly method: string
  readonly params?: object | undefined
  readonly ask?: string | undefined
}

/** The caller has come back elsewhere, and is told the rest there. */
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
  /** The rest of what is told of a request, and its answer. Throws as `pass`. */
  resume(kept: ResumePoint, request: ResumedRequest): Promise<ForwardedReply>
  /** Hands over what a client said when it was asked; `message` is JSON-RPC's answer. */
  answer(ask: string, message: Params): void
  /** What a client says of itself without waiting for an answer. */
  tell(server: string, client: string, what: 'roots-changed' | 'leave'): void
  /** Tells of changes until it is disposed. */
  watch(server: string, request: WatchRequest): Disposable
  /** Tells what servers say to a client by itself, until it is disposed. */
  listen(client: string, listener: (message: ClientMessage) => void): Disposable
  /** Tells what shared servers log outside of requests, until it is disposed. */
  onLog(listener: (log: ServerLog) => void): Disposable
}
