import { RpcClosed, RpcSendError, RpcTimeout, RpcUnsendable } from '../connection/rpc.ts'
import { RpcError } from '../errors/rpc-error.ts'
import { describeCause } from '../errors/describe-cause.ts'
import { ProtocolError } from '../errors/protocol-error.ts'
import { ServerUnavailableError } from '../errors/server-unavailable-error.ts'
import { TimeoutError } from '../errors/timeout-error.ts'
import { ValidationError } from '../errors/validation-error.ts'

export interface FailedRequest {
  readonly server: string
  /** The requested tool, prompt or resource. */
  readonly subject: string
  readonly tool: string | undefined
  readonly requestId: string | undefined
  /** The last lines that the server's process wrote outside of the protocol. */
  readonly output?: readonly string[]
}

/** Converts the failure of a request for its caller: one of this library's errors, or the reason of its own abort. */
export function toRequestError(
  cause: unknown,
  { server, subject, tool, requestId, output }: FailedRequest,
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
  const isSendError = cause instanceof RpcSendError
  if (isSendError || cause instanceof RpcClosed) {
    const state = isSendError ? `cannot be reached: ${describeCause(cause)}` : cause.message
    const reason = `the server "${server}" ${state}`
    const isOutcomeUnknown = !isSendError || cause.mayHaveBegun
    if (!isOutcomeUnknown) return new ServerUnavailableError(reason, context)
    const what = tool === undefined ? 'request' : 'tool'
    const message = `${reason}; whether the ${what} took effect is not known`
    return new ServerUnavailableError(message, { ...context, isOutcomeUnknown, output })
  }
  // The cause is the reason of the caller's abort, or an error that is complete already.
  return cause
}
