import { z } from 'zod'
import { defineEvent } from '../contract.ts'

/**
 * What a server tells or asks a client outside of any request, to whichever gateway has a stream of it open;
 * an answer goes to `passControl` of the server under `ask`.
 */
export const clientMessage = defineEvent('mcpc.{client}.down', {
  durability: 'live',
  payload: z.object({
    server: z.string(),
    method: z.string(),
    params: z.looseObject({}).optional(),
    /** Where an answer is wanted. */
    ask: z.string().optional(),
  }),
})

/** A client does not want a request any more; whichever gateway has it ends it. */
export const clientCancel = defineEvent('mcpc.cancel', {
  durability: 'live',
  payload: z.object({ client: z.string(), requestId: z.union([z.string(), z.number()]) }),
})
