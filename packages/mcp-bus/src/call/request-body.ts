import { JsonRpcCode } from '@mcp-host/mcp'
import { JsonRpcError, type OutgoingRequest, type Params } from '@mcp-host/mcp-endpoint'

/** The limit for parameters within a message: the bus allows 1 MiB, including the head. */
const MAX_INLINE_BYTES = 1_000_000

/** Converts parameters to JSON. Throws `JsonRpcError`. */
export function toBody(params: Params): string {
  try {
    return JSON.stringify(params)
  } catch {
    // Parsed JSON may be nested too deeply to be serialized.
    throw new JsonRpcError(JsonRpcCode.invalidParams, 'params: are nested too deeply')
  }
}

export function isTooLarge(body: string): boolean {
  // A UTF-16 unit has at most three bytes in UTF-8.
  return body.length * 3 > MAX_INLINE_BYTES && Buffer.byteLength(body) > MAX_INLINE_BYTES
}

/** The process of the caller's session, or the process with the suspended request that the caller resumes. */
export function processOf(
  { requestState }: Params,
  client: OutgoingRequest['client'],
): string | undefined {
  if (client !== undefined) return client.id
  if (typeof requestState !== 'string') return undefined
  return /^mcp-host\.([A-Za-z0-9_-]+)\./.exec(requestState)?.[1]
}
