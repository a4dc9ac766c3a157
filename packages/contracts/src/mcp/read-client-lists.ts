import { z } from 'zod'
import { defineCall } from '../contract.ts'
import { ServerEntry } from '../mcp-server/catalog-entry.ts'

/**
 * Ask the process that one client has of its own what it lists now, where that is not what it listed first. What is
 * too large for a message is `stored` for this answer alone: the reader removes it.
 * Errors: `unavailable` when there is no such process, or not any more.
 */
export const readClientLists = defineCall('mcp.{server}.{client}.lists', {
  answeredBy: 'one',
  request: z.object({}),
  reply: ServerEntry,
})
