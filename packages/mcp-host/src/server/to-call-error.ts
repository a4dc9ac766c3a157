import { ProtocolError as RpcError, SdkError, SdkErrorCode } from '@modelcontextprotocol/client'

import type { ErrorContext } from '../errors/mcp-host-error.ts'
import { ProtocolError } from '../errors/protocol-error.ts'
import { ServerUnavailableError } from '../errors/server-unavailable-error.ts'
import { TimeoutError } from '../errors/timeout-error.ts'

export interface FailedCall extends ErrorContext {
  readonly timeoutMs: number
  readonly signal: AbortSignal | undefined
  /** Why the connection is closed; undefined while it is open. */
  readonly closeReason: string | undefined
}

/** What a failed tool call is to its caller: the reason of its own abort, or one of our errors. */
export function toCallError(cause: unknown, call: FailedCall): unknown {
  // The SDK has one error for both; only the signal tells an abort from a time-out.
  if (call.signal?.aborted === true) return call.signal.reason
  const { timeoutMs, closeReason } = call
  const context = { server: call.server, tool: call.tool, requestId: call.requestId, cause }
  const name = `${call.server}.${call.tool}`
  if (cause instanceof SdkError && cause.code === SdkErrorCode.RequestTimeout) {
    return new TimeoutError(`${name} did not answer within ${timeoutMs} ms`, timeoutMs, context)
  }
  if (cause instanceof RpcError) {
    return new ProtocolError(`${name} was refused: ${cause.message}`, cause.code, context)
  }
  if (cause instanceof SdkError && cause.code === SdkErrorCode.InvalidResult) {
    return new ProtocolError(`${name} answered with a malformed result`, undefined, context)
  }
  const reason = closeReason ?? 'cannot be reached'
  const message = `the server "${call.server}" ${reason}; whether the tool took effect is not known`
  return new ServerUnavailableError(message, context)
}
