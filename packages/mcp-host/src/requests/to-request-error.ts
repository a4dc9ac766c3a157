import { SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client'

import { RpcClosed, RpcError, RpcSendError, RpcTimeout, RpcUnsendable } from '../connection/rpc.ts'
import { ProtocolError } from '../errors/protocol-error.ts'
import { ServerUnavailableError } from '../errors/server-unavailable-error.ts'
import { TimeoutError } from '../errors/timeout-error.ts'
import { ValidationError } from '../errors/validation-error.ts'

export interface FailedRequest {
  readonly server: string
  /** The tool, prompt or resource that was asked for. */
  readonly subject: string
  readonly tool: string | undefined
  readonly requestId: string | undefined
}

/** What a failed request is to its caller: one of our errors, or the reason of its own abort. */
export function toRequestError(
  cause: unknown,
  { server, subject, tool, requestId }: FailedRequest,
): unknown {
  const context = { server, tool, requestId, cause }
  const name = `${server}.${subject}`
  if (cause instanceof RpcTimeout) {
    const message = `${name} did not answer within ${cause.limitMs} ms`
    return new TimeoutError(message, cause.limitMs, context)
  }
  if (cause instanceof RpcError) {
    return new ProtocolError(`${name} was refused: ${cause.message}`, cause.code, context)
  }
  if (cause instanceof RpcUnsendable) {
    return new ValidationError(`${name}: the arguments are no JSON: ${cause.message}`, [], context)
  }
  const isUnsent = cause instanceof RpcSendError
  if (isUnsent || cause instanceof RpcClosed) {
    const why = `the server "${server}" ${isUnsent ? 'cannot be reached: ' : ''}${cause.message}`
    if (isUnsent && !mayHaveArrived(cause)) return new ServerUnavailableError(why, context)
    const what = tool === undefined ? 'request' : 'tool'
    const message = `${why}; whether the ${what} took effect is not known`
    return new ServerUnavailableError(message, { ...context, isOutcomeUnknown: true })
  }
  // Its own abort, in the words of whoever aborted, or an error of ours that says all.
  return cause
}

/** Said of connections that were never made. */
const NOT_CONNECTED = new Set<unknown>([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
])
const SERVICE_UNAVAILABLE = 503

/** Over HTTP an answer that fails may follow a request that did not. */
function mayHaveArrived({ cause }: RpcSendError): boolean {
  if (cause instanceof SdkHttpError) {
    const { status } = cause.data
    return status < 400 || (status >= 500 && status !== SERVICE_UNAVAILABLE)
  }
  if (cause instanceof SdkError) return cause.code === SdkErrorCode.ClientHttpUnexpectedContent
  // By which `fetch` says that it has no answer.
  if (!(cause instanceof TypeError)) return false
  const code = cause.cause instanceof Error && 'code' in cause.cause ? cause.cause.code : undefined
  return !NOT_CONNECTED.has(code)
}
