import { excessOf, isTooDeep, TOO_DEEP } from '@mcp-host/json'
import { JsonRpcCode } from '@mcp-host/mcp'
import { JsonRpcError } from './json-rpc.ts'

const text = new TextDecoder('utf-8', { fatal: true })

/** Parses a client's message. Throws `JsonRpcError`. */
export function parseMessage(bytes: Uint8Array): unknown {
  const excess = excessOf(bytes)
  if (excess !== undefined) {
    const message = `the message ${excess}; send less at a time`
    throw new JsonRpcError(JsonRpcCode.invalidRequest, message, { status: 400 })
  }
  try {
    return JSON.parse(text.decode(bytes))
  } catch (error) {
    const reason = error instanceof Error ? error.message : ''
    throw new JsonRpcError(JsonRpcCode.parse, `Parse error: ${reason}`, { status: 400 })
  }
}

/**
 * Checks the depth of a message after parsing, so that the error response has the request's id. Throws `JsonRpcError`.
 */
export function checkDepth(message: unknown): void {
  if (!isTooDeep(message)) return
  throw new JsonRpcError(JsonRpcCode.invalidRequest, `the message is ${TOO_DEEP}`, { status: 400 })
}
