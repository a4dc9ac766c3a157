import { BusError } from '@mcp-host/contracts'
import { JsonRpcCode } from '@mcp-host/mcp'
import { JsonRpcError } from '@mcp-host/mcp-endpoint'

export const GONE = 'it went away during the request'
export const GONE_AGAIN = `${GONE}, and again when the request was repeated`
export const STOPPED_ANSWERING = 'a supervisor stopped answering during the request'

/** The error for a request without an answer, with the outcome as far as it is known. */
export function toFault(error: unknown, server: string): JsonRpcError {
  if (error instanceof JsonRpcError) return error
  const { code, message } = BusError.from(error)
  if (code === 'deadline') return unknownOutcome(server, GONE)
  if (code !== 'unavailable')
    return new JsonRpcError(JsonRpcCode.internal, message, { data: { server } })
  return new JsonRpcError(
    JsonRpcCode.unavailable,
    `the server "${server}" is not available right now`,
    {
      data: { server, reason: 'unavailable', retryable: true },
    },
  )
}

export function removed(server: string): JsonRpcError {
  const message = `the server "${server}" was removed from the configuration`
  return new JsonRpcError(JsonRpcCode.invalidParams, message, {
    data: { server, reason: 'removed', retryable: false },
  })
}

export function unknownOutcome(server: string, why: string): JsonRpcError {
  const message = `whether the request took effect at the server "${server}" is not known: ${why}`
  return new JsonRpcError(JsonRpcCode.unavailable, message, {
    data: { server, reason: 'unknown-outcome', retryable: false },
  })
}
