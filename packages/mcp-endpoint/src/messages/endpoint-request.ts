import type { Principal } from '@mcp-host/contracts'
import type { CancelSignal } from '@mcp-host/async'
import type { McpHeaders } from './classify.ts'
import { JsonRpcCode } from '@mcp-host/mcp'
import { JsonRpcError } from './json-rpc.ts'

/** A request to the endpoint: an HTTP request, or a message of another transport. */
export interface EndpointRequest {
  readonly method: string
  /** The client, as the transport has authenticated it. */
  readonly principal: Principal
  readonly header: (name: string) => string | undefined
  readonly body: Uint8Array
  /** The message on transports other than HTTP, which have no headers. */
  readonly message?: unknown
  /** Aborts when the caller has left. */
  readonly signal: CancelSignal
  /** Aborts when endless streams must end. */
  readonly closing: AbortSignal
}

type Header = EndpointRequest['header']

const JSON_TYPES = /\*\/\*|application\/(json|\*)/i
const EVENTS = /\*\/\*|text\/(event-stream|\*)/i

/** Whether a client accepts events without data, which older ones (before 2025-11-25) take for faulty. */
export function isPrimed(header: Header): boolean {
  return (header('mcp-protocol-version') ?? '').trim() >= '2025-11-25'
}

export function acceptsEvents(header: Header): boolean {
  return accepts(header, EVENTS)
}

/** Throws `JsonRpcError` when the types of a request or its answer are not JSON. */
export function checkTypes(header: Header): void {
  const [type = ''] = (header('content-type') ?? '').split(';', 1)
  if (type.trim().toLowerCase() !== 'application/json') {
    throw new JsonRpcError(JsonRpcCode.unavailable, 'Content-Type must be application/json', {
      status: 415,
    })
  }
  if (!accepts(header, JSON_TYPES)) {
    const message = 'Accept must have application/json and text/event-stream'
    throw new JsonRpcError(JsonRpcCode.unavailable, message, { status: 406 })
  }
}

export function headersOf(header: Header): McpHeaders {
  return {
    version: header('mcp-protocol-version')?.trim(),
    method: header('mcp-method')?.trim(),
    name: header('mcp-name')?.trim(),
  }
}

function accepts(header: Header, types: RegExp): boolean {
  return types.test(header('accept') ?? '*/*')
}
