/** An error object of JSON-RPC. */
export interface ErrorBody {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

/** The server answered a request with a JSON-RPC error. */
export class RpcError extends Error {
  override readonly name = 'RpcError'
  readonly code: number
  readonly data: unknown

  constructor({ code, message, data }: ErrorBody) {
    super(message)
    this.code = code
    this.data = data
  }
}
