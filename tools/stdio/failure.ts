import { JsonRpcCode } from '@mcp-host/mcp'
import type { RpcId } from './message.ts'

/** The reason why a message could not be forwarded, in the form for the client. */
export class Failure extends Error {
  override readonly name = 'Failure'
  readonly reason: 'unavailable' | 'unknown-outcome' | 'refused'

  constructor(reason: Failure['reason'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}

/** The error response to a failed request. `data` has the form of the gateway's errors. */
export function failureLine(id: RpcId, error: unknown): string {
  const reason = error instanceof Failure ? error.reason : 'refused'
  const message = error instanceof Error ? error.message : String(error)
  const data = { reason, retryable: reason === 'unavailable' }
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code: JsonRpcCode.refused, message, data } })
}

/** The response to a line that is not JSON. */
export const NO_JSON = JSON.stringify({
  jsonrpc: '2.0',
  id: null,
  error: { code: JsonRpcCode.parse, message: 'Parse error: the line is no JSON' },
})
