import type { Params } from './rpc.ts'
import type { Era } from './versions.ts'

/** A request on its way to a server. */
export interface PassedRequest {
  readonly method: string
  readonly params: Params
  readonly era: Era
  /** Told what the server reports meanwhile: the `params` of a notification, as JSON. */
  readonly onNotice?: (method: string, params: string) => void
  /** Its abort ends the request at the server. */
  readonly signal?: AbortSignal
}

/** What the server answered: its result, or an error object, as JSON. */
export interface Passed {
  readonly type: 'result' | 'error'
  readonly json: Uint8Array
}

/** The way to the servers. Throws `RpcFault` when there was no answer. */
export interface Upstream {
  pass(server: string, request: PassedRequest): Promise<Passed>
}
