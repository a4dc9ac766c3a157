import { z } from 'zod'
import { defineCall } from '../contract.ts'
import { ServerEntry } from '../mcp-server/catalog-entry.ts'

/**
 * Reads the lists of the dedicated process of a client, once they differ from those at its start. Lists that are too
 * large for a message are `stored` for this answer alone: the reader removes them. Errors: `unavailable` without such a
 * process.
 */
export const readClientLists = defineCall('mcp.{server}.{client}.lists', {
  from: ['gateway'],
  to: ['mcp-supervisor'],
  answeredBy: 'one',
  request: z.object({}),
  reply: ServerEntry,
})
