import { JsonRpcCode } from '@mcp-host/mcp'
import type { JSONRPCMessage } from '@modelcontextprotocol/client'

import { inspectJson, type JsonShape, readJson } from '@mcp-host/json'

/** Whether a line is a message, or was meant as one. Programs print other lines as well. */
export function isMeantAsMessage(text: string): boolean {
  return /^\s*\{/.test(text) && text.includes('"jsonrpc"')
}

/** The error response in place of one that `readJson` cannot read; undefined when it is no response. */
export function inPlaceOfUnreadable(
  error: unknown,
  { id, hasMethod }: Pick<JsonShape, 'id' | 'hasMethod'>,
): JSONRPCMessage | undefined {
  if (!(error instanceof SyntaxError) || id === undefined || hasMethod) return undefined
  const message = `its answer is no JSON (${error.message})`
  return { jsonrpc: '2.0', id, error: { code: JsonRpcCode.parse, message } }
}

/** `readJson`, or the error response in place of a response that cannot be read. */
export function readMessage(text: string): unknown {
  try {
    return readJson(text)
  } catch (error) {
    const answer = inPlaceOfUnreadable(error, inspectJson(Buffer.from(text)))
    if (answer === undefined) throw error
    return answer
  }
}
