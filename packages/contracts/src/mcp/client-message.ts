import { z } from 'zod'
import { defineEvent } from '../contract.ts'

/**
 * Sends a notification or request of a server that belongs to no client request to the gateway with the stream of the
 * client. Its answer goes to `mcpRequestControl` of the server under `ask`.
 */
export const clientMessage = defineEvent('mcpc.{client}.down', {
  from: ['mcp-supervisor'],
  to: ['gateway'],
  durability: 'live',
  payload: z.object({
    server: z.string(),
    method: z.string(),
    params: z.looseObject({}).optional(),
    /** Absent for a notification. */
    ask: z.string().optional(),
  }),
})

/** Cancels a request of a client, at the gateway that sent it. */
export const clientCancel = defineEvent('mcpc.cancel', {
  from: ['gateway'],
  to: ['gateway'],
  durability: 'live',
  payload: z.object({ client: z.string(), requestId: z.union([z.string(), z.number()]) }),
})
