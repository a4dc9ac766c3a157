import { McpHostError } from './mcp-host-error.ts'

/** The server is not ready, or it ended while the call was running: whether the tool ran is unknown. */
export class ServerUnavailableError extends McpHostError {
  override readonly code = 'server-unavailable'
}
