import type { JSONRPCMessage } from '@modelcontextprotocol/client'

import type { ErrorBody } from '../errors/rpc-error.ts'

const INTERNAL_ERROR = -32_603
const DECIMAL = /^-?\d{1,16}$/

/** A received message as JSON-RPC has it, where its server was careless: ids as texts, faulty errors, no result. */
export function tidyMessage(message: JSONRPCMessage): JSONRPCMessage {
  // Requests and notices are not answered by id here.
  if ('method' in message) return message
  const { id: given, error, result }: Answer = message
  // Request ids of this host are counters.
  const id = typeof given === 'string' && DECIMAL.test(given) ? Number(given) : given
  const hasError = error !== undefined && error !== null
  if (!hasError && result !== undefined) {
    const isTidy = id === given && !('error' in message)
    return isTidy ? message : ({ jsonrpc: '2.0', id, result } as JSONRPCMessage)
  }
  return { jsonrpc: '2.0', id, error: tidyError(error ?? undefined) } as JSONRPCMessage
}

/** For the SDK, which would wait for another answer when the result is no object. */
export function withObjectResult(message: JSONRPCMessage): JSONRPCMessage {
  if (!('result' in message)) return message
  const { id, result }: Answer = message
  if (typeof result === 'object' && result !== null) return message
  const error = { code: INTERNAL_ERROR, message: 'its result is not an object' }
  return { jsonrpc: '2.0', id, error } as JSONRPCMessage
}

/** The error object of a server's faulty error. */
export function tidyError(error: unknown): ErrorBody {
  if (error === undefined) {
    return { code: INTERNAL_ERROR, message: 'the answer has neither a result nor an error' }
  }
  const { code, message, data }: Readonly<Record<string, unknown>> = Object(error)
  const text = typeof error === 'string' ? error : message
  const number = typeof code === 'string' && DECIMAL.test(code) ? Number(code) : code
  const isCode = Number.isSafeInteger(number)
  // A code that is none may still tell a reader something.
  const more = data ?? (isCode || code === undefined || code === null ? undefined : { code })
  return {
    code: isCode ? Number(number) : INTERNAL_ERROR,
    message: typeof text === 'string' ? text : 'the server gave no reason',
    ...(more === undefined ? {} : { data: more }),
  }
}

interface Answer {
  readonly id?: unknown
  readonly result?: unknown
  readonly error?: unknown
}
