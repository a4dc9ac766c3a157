import { McpHostError } from './mcp-host-error.ts'

/** A server could not be started, ended before it was ready, or was not ready in time. */
export class ServerStartupError extends McpHostError {
  override readonly code = 'server-startup'
}
