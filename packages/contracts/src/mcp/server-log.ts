import { z } from 'zod'
import { defineEvent } from '../contract.ts'
import { McpLogLevel } from './mcp-client.ts'

/** Sends a log message of a shared server that belongs to no request. */
export const serverLog = defineEvent('mcp.log', {
  from: ['mcp-supervisor'],
  to: ['gateway'],
  durability: 'live',
  payload: z.object({
    server: z.string(),
    level: McpLogLevel,
    logger: z.string().optional(),
    data: z.unknown(),
  }),
})
