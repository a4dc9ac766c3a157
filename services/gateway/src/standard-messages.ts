// The product's own messages to chat clients: welcome, tool error, rate limited, maintenance.
export { rateLimited } from '@mcp-host/limits'
export { welcome } from './welcome.ts'

/** The length of a reason. */
const MAX_REASON_LENGTH = 500

export function toolError(tool: string, reason: string): string {
  return `Tool error: ${tool}: ${reason.slice(0, MAX_REASON_LENGTH)}`
}

/** The message of a draining gateway. */
export const MAINTENANCE = 'This gateway is going down; connect again'
