import { BusError } from '@mcp-host/contracts'
import type { JsonRpcRequest } from '../messages/classify.ts'
import type { EventQueue } from './event-queue.ts'
import type { JsonRpcId } from '../messages/json-rpc.ts'
import { JsonRpcCode } from '@mcp-host/mcp'
import { JsonRpcError } from '../messages/json-rpc.ts'
import { failure, toMessage } from './messages.ts'
import type { ServerReply } from '../servers.ts'

/** The endpoint's reply in terms of HTTP. A stream body consists of server-sent events. */
export interface EndpointReply {
  readonly status: number
  /** Whether the body is a JSON-RPC error. */
  readonly isError?: boolean
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array | AsyncIterable<Uint8Array>
}

export const JSON_TYPE = { 'content-type': 'application/json' }
const EVENT_STREAM = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store, no-transform',
  // Some proxies would otherwise buffer the stream.
  'x-accel-buffering': 'no',
}
/** The reply to a message without an answer. */
export const ACCEPTED: EndpointReply = { status: 202, headers: {} }

export function streamed(body: EventQueue): EndpointReply {
  return { status: 200, headers: EVENT_STREAM, body }
}

/** A reply that is not a stream. */
export type WholeReply = EndpointReply & { readonly body: Uint8Array }

/** The reply to a request that a server answered. */
export function answerWith({ id, era }: JsonRpcRequest, answer: ServerReply): WholeReply {
  const { code } = answer
  // For a newer client the HTTP status names the missing capability.
  const isFaulty = era === 'modern' && code === JsonRpcCode.missingCapability
  const status = isFaulty ? 400 : 200
  const isError = answer.type === 'error'
  return { status, isError, headers: JSON_TYPE, body: toMessage(id, answer) }
}

/** Like `answerWith`, but an error becomes the reply. */
export async function answered(
  request: JsonRpcRequest,
  answer: Promise<ServerReply>,
): Promise<EndpointReply> {
  try {
    return answerWith(request, await answer)
  } catch (error) {
    return failed(request.id, error)
  }
}

/** The reply to a failed request. `id`: `null` when it is unknown. */
export function failed(id: JsonRpcId | null, error: unknown): WholeReply {
  const fault = toFault(error)
  const { status } = fault
  const allowed = status === 405 ? { allow: 'GET, POST, DELETE' } : {}
  const wait = error instanceof BusError ? error.retryAfterMs : undefined
  const later = wait === undefined ? {} : { 'retry-after': String(Math.ceil(wait / 1_000)) }
  const headers = { ...JSON_TYPE, ...allowed, ...later }
  return { status, isError: true, headers, body: failure(id, fault) }
}

/** Converts a fault of the gateway to an error without its cause. */
function toFault(error: unknown): JsonRpcError {
  if (error instanceof JsonRpcError) return error
  if (error instanceof BusError && error.code === 'exhausted') {
    const { message, retryAfterMs } = error
    const data = { reason: 'rate-limited', retryable: true, retryAfterMs }
    return new JsonRpcError(JsonRpcCode.unavailable, message, { status: 429, data })
  }
  if (error instanceof BusError && error.code === 'unavailable') {
    const data = { reason: 'unavailable', retryable: true }
    return new JsonRpcError(JsonRpcCode.unavailable, error.message, { status: 503, data })
  }
  if (error instanceof BusError && error.code === 'invalid') {
    return new JsonRpcError(JsonRpcCode.invalidParams, error.message)
  }
  return new JsonRpcError(JsonRpcCode.internal, 'internal error', { status: 500 })
}
