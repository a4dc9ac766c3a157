import type { McpClient } from '@mcp-host/contracts'
import type { Params } from './rpc.ts'
import type { Era } from './versions.ts'

/** A request on its way to a server. */
export interface PassedRequest {
  readonly method: string
  readonly params: Params
  readonly era: Era
  /** Whether each client has a process of the server for itself. */
  readonly isOwn?: boolean
  /** The caller, where it keeps a session. */
  readonly client?: McpClient | undefined
  /** Told what the server reports meanwhile: the `params` of a notification, as JSON. */
  readonly onNotice?: (method: string, params: string) => void
  /** Told what the server asks the caller: the answer goes to `answer` under `ask`. */
  readonly onAsk?: (ask: string, method: string, params: string) => void
  /** Whether it changes nothing: of several at the same time one is enough. */
  readonly isReadOnly?: boolean
  /** The caller's trace, as W3C writes it. */
  readonly traceparent?: string | undefined
  /** Its abort ends the request at the server. */
  readonly signal?: AbortSignal
}

/** What the server answered: its result, or an error object, as JSON. */
export interface Passed {
  readonly type: 'result' | 'error'
  readonly json: Uint8Array
  /** Of the error. */
  readonly code?: number | undefined
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

/** The way to the servers. */
export interface Upstream {
  /** Throws `RpcFault` when there was no answer, or the signal's reason. */
  pass(server: string, request: PassedRequest): Promise<Passed>
  /** Hands over what a client said when it was asked; `message` is JSON-RPC's answer. */
  answer(ask: string, message: Params): void
  /** What a client says of itself without waiting for an answer. */
  tell(server: string, client: string, what: 'roots-changed' | 'leave'): void
  /** Tells of changes until it is disposed. */
  watch(server: string, request: WatchRequest): Disposable
  /** Tells what servers say to a client by itself, until it is disposed. */
  listen(client: string, listener: (message: ClientMessage) => void): Disposable
}
