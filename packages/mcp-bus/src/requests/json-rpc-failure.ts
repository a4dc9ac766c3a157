import { JsonRpcCode } from '@mcp-host/mcp'
import { BusError } from '@mcp-host/contracts'
import type { McpHostErrorCode } from '@mcp-host/upstream'
import {
  McpHostError,
  ProtocolError,
  ServerUnavailableError,
  ValidationError,
} from '@mcp-host/upstream'
import { truncate } from '../truncate.ts'
import { ClientRefusal } from './client-questions.ts'

/** An error of JSON-RPC. */
export interface JsonRpcFailure {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

const CODES: Readonly<Record<McpHostErrorCode, number>> = {
  configuration: JsonRpcCode.internal,
  'server-startup': JsonRpcCode.unavailable,
  'server-unavailable': JsonRpcCode.unavailable,
  validation: JsonRpcCode.invalidParams,
  timeout: JsonRpcCode.timedOut,
  protocol: JsonRpcCode.internal,
  'tool-execution': JsonRpcCode.internal,
}

export function invalidParams(message: string): JsonRpcFailure {
  return { code: JsonRpcCode.invalidParams, message }
}

/** A failure as JSON-RPC: the server's own error unchanged, or one of the host with a remedy. */
export function toJsonRpcFailure(error: unknown): JsonRpcFailure {
  if (error instanceof ProtocolError && error.rpcError !== undefined) return error.rpcError
  if (error instanceof ClientRefusal) {
    return { code: error.code, message: error.message, data: error.data }
  }
  if (!(error instanceof McpHostError)) {
    return { code: JsonRpcCode.internal, message: BusError.from(error).message }
  }
  const { server, code } = error
  const data = {
    server,
    reason: code,
    ...(error instanceof ServerUnavailableError ? unavailability(error) : {}),
    ...(error instanceof ValidationError && error.issues.length > 0
      ? { issues: error.issues }
      : {}),
  }
  return { code: CODES[code], message: truncate(error.message), data }
}

/** Data like that of the gateway's `unavailable`: a request that has not begun may be retried. */
function unavailability({ retryAfterMs, isOutcomeUnknown }: ServerUnavailableError): object {
  if (isOutcomeUnknown) return { reason: 'unknown-outcome', retryable: false }
  const later = retryAfterMs === undefined ? {} : { retryAfterMs }
  return { reason: 'unavailable', retryable: true, ...later }
}
