import { JsonRpcCode } from '@mcp-host/mcp'
import { classify, type JsonRpcMessage, type McpHeaders } from './classify.ts'
import { JsonRpcError } from './json-rpc.ts'

/** Limit for the messages of a batch. */
const MAX_BATCH = 100

/** Throws `JsonRpcError` for a batch that is empty or too long. */
export function checkLength({ length }: readonly unknown[]): void {
  if (length > 0 && length <= MAX_BATCH) return
  throw refused(`a batch has 1 to ${MAX_BATCH} messages`)
}

/** The messages of a batch, which only legacy clients send. Throws `JsonRpcError`. */
export function classifyBatch(
  messages: readonly unknown[],
  headers: McpHeaders | undefined,
): JsonRpcMessage[] {
  const incoming = messages.map((message) => classify(message, headers))
  if (!incoming.some((each) => each.kind !== 'response' && each.era === 'modern')) return incoming
  throw refused('from 2026-07-28 on there are no batches')
}

function refused(message: string): JsonRpcError {
  return new JsonRpcError(JsonRpcCode.invalidRequest, message, { status: 400 })
}
