import { JsonRpcCode } from '@mcp-host/mcp'
import type { JSONRPCMessage } from '@modelcontextprotocol/client'

import type { ErrorBody } from '../errors/rpc-error.ts'

const DECIMAL = /^-?\d{1,16}$/

/** A received response in valid JSON-RPC: corrects ids that are strings, faulty errors and missing results. */
export function tidyMessage(message: JSONRPCMessage): JSONRPCMessage {
  if ('method' in message) return message
  const { id: received, error, result }: Answer = message
  // Request ids of this host are numbers.
  const id = typeof received === 'string' && DECIMAL.test(received) ? Number(received) : received
  const hasError = error !== undefined && error !== null
  if (!hasError && result !== undefined) {
    const isTidy = id === received && !('error' in message)
    return isTidy ? message : ({ jsonrpc: '2.0', id, result } as JSONRPCMessage)
  }
  return { jsonrpc: '2.0', id, error: tidyError(error ?? undefined) } as JSONRPCMessage
}

/** Replaces a result that is no object by an error, since the SDK would wait for another response. */
export function withObjectResult(message: JSONRPCMessage): JSONRPCMessage {
  if (!('result' in message)) return message
  const { id, result }: Answer = message
  if (typeof result === 'object' && result !== null) return message
  const error = { code: JsonRpcCode.internal, message: 'its result is not an object' }
  return { jsonrpc: '2.0', id, error } as JSONRPCMessage
}

/** A valid error object for a server's faulty one. */
export function tidyError(error: unknown): ErrorBody {
  if (error === undefined) {
    return { code: JsonRpcCode.internal, message: 'the answer has neither a result nor an error' }
  }
  const { code, message, data }: Readonly<Record<string, unknown>> = Object(error)
  const text = typeof error === 'string' ? error : message
  const number = typeof code === 'string' && DECIMAL.test(code) ? Number(code) : code
  const isCode = Number.isSafeInteger(number)
  // An invalid code may still help a reader.
  const more = data ?? (isCode || code === undefined || code === null ? undefined : { code })
  return {
    code: isCode ? Number(number) : JsonRpcCode.internal,
    message: typeof text === 'string' ? text : 'the server gave no reason',
    ...(more === undefined ? {} : { data: more }),
  }
}

interface Answer {
  readonly id?: unknown
  readonly result?: unknown
  readonly error?: unknown
}
