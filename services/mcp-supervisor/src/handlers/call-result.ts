import type { ErrorCode, ToolFinished } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'
import type { CallToolResult, McpHostErrorCode } from 'mcp-host'
import { McpHostError } from 'mcp-host'

/** Larger results do not fit into one message. */
export const MAX_RESULT_BYTES = 512 * 1024

type Outcome = Omit<ToolFinished, 'type' | 'call' | 'server' | 'tool' | 'durationMs'>

/** A result as it goes into the log. */
export function fromResult({ content, structuredContent, isError }: CallToolResult): Outcome {
  const outcome: Outcome = {
    outcome: isError === true ? 'error' : 'ok',
    content: content ?? [],
    // It came as JSON from the server.
    ...(structuredContent === undefined
      ? {}
      : { structuredContent: structuredContent as Outcome['structuredContent'] }),
  }
  const size = Buffer.byteLength(JSON.stringify(outcome))
  if (size <= MAX_RESULT_BYTES) return outcome
  const message = `the result has ${size} bytes, more than the ${MAX_RESULT_BYTES} that can be kept; ask for less at a time`
  return fromError(new BusError('exhausted', message))
}

const CODES: Record<McpHostErrorCode, ErrorCode> = {
  configuration: 'internal',
  'server-startup': 'unavailable',
  'server-unavailable': 'unavailable',
  validation: 'invalid',
  timeout: 'deadline',
  protocol: 'internal',
}

/** A failure of the host's, in words for the model. */
export function fromError(error: unknown): Outcome {
  const known =
    error instanceof McpHostError
      ? new BusError(CODES[error.code], error.message, { cause: error })
      : BusError.from(error)
  return { outcome: 'error', content: [], error: known.toInfo() }
}
