// The product's own messages to chat clients: welcome, tool error, rate limited, maintenance.
export { rateLimited } from '@mcp-host/limits'
export { welcome } from './welcome.ts'

/** The length of a reason. */
const MAX_REASON_LENGTH = 500

/** Says what failed, and what becomes of the answer. */
export function toolError(tool: string, reason: string): string {
  const shown = reason.slice(0, MAX_REASON_LENGTH)
  const end = /[.!?]$/.test(shown) ? '' : '.'
  return `Tool error: ${tool}: ${shown}${end} The answer goes on without its result.`
}

/** The message to users while maintenance is announced. `notice`: the operator's words. */
export function maintenance(notice: string): string {
  const more = notice === '' ? '; try again later' : `: ${notice}`
  return `This host is in maintenance and takes no new messages. Answers that have begun go on${more}`
}

/** The message of a draining gateway. */
export const MAINTENANCE = 'This gateway is going down; connect again'
