import { RpcError } from './rpc-error.ts'
import { type ErrorContext, McpHostError } from './mcp-host-error.ts'

/** The server answered with a JSON-RPC error, or broke the protocol. */
export class ProtocolError extends McpHostError {
  override readonly code = 'protocol'
  /** The server's JSON-RPC error code; absent when the answer itself was malformed. */
  readonly rpcCode: number | undefined

  /** The JSON-RPC error as the server sent it; absent when the answer itself was malformed. */
  get rpcError():
    | { readonly code: number; readonly message: string; readonly data?: unknown }
    | undefined {
    if (!(this.cause instanceof RpcError)) return undefined
    const { code, message, data } = this.cause
    return { code, message, ...(data === undefined ? {} : { data }) }
  }

  constructor(message: string, rpcCode: number | undefined, context: ErrorContext) {
    super(message, context)
    this.rpcCode = rpcCode
  }
}
