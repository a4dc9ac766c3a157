import { z } from 'zod'
import { defineEvent } from '../contract.ts'
import { McpLogLevel } from './mcp-client.ts'

/** A log message of a server that all clients share, which belongs to none of their requests. */
export const serverLog = defineEvent('mcp.log', {
  durability: 'live',
  payload: z.object({
    server: z.string(),
    level: McpLogLevel,
    logger: z.string().optional(),
    data: z.unknown(),
  }),
})
