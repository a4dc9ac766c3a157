/** Limit for error messages, since they may quote the request. */
const MAX_MESSAGE_LENGTH = 800

/** An error that is sent to the caller as JSON-RPC. */
export class JsonRpcError extends Error {
  override readonly name = 'JsonRpcError'
  readonly code: number
  readonly data: unknown
  /** The HTTP status. Failures of a request that was processed are 200. */
  readonly status: number

  constructor(
    code: number,
    message: string,
    { data, status = 200 }: { data?: unknown; status?: number } = {},
  ) {
    super(message.slice(0, MAX_MESSAGE_LENGTH).toWellFormed())
    this.code = code
    this.data = data
    this.status = status
  }

  /** The error object of JSON-RPC. */
  toJSON(): object {
    const { code, message, data } = this
    return { code, message, ...(data === undefined ? {} : { data }) }
  }
}

export type JsonRpcId = string | number

export function isJsonRpcId(value: unknown): value is JsonRpcId {
  return typeof value === 'string' || typeof value === 'number'
}

export type Params = Readonly<Record<string, unknown>>
