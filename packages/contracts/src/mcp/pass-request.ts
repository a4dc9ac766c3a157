import { z } from 'zod'
import { defineEvent, definePassage } from '../contract.ts'

/** What is passed on with the `params` of a request of MCP. */
export const PassHead = z.object({
  method: z.string(),
  /** Names it, so that it can be cancelled on the way; unique. */
  id: z.string(),
  /** Which era the caller speaks: results are made to fit it. */
  era: z.enum(['legacy', 'modern']),
  /** Whether what the server reports on the way is wanted: `notice`s. */
  progress: z.boolean().optional(),
})
export type PassHead = z.infer<typeof PassHead>

/**
 * What comes back with a body: `result` with the server's result; `error` with a JSON-RPC error object;
 * `stored` with the key of a result that is too large for a message; `notice`, after which more comes, with
 * the `params` of a notification; `running`, after which more comes too, when a sign of life was asked for.
 */
export const PassReply = z.discriminatedUnion('type', [
  z.object({ type: z.literal('result') }),
  z.object({ type: z.literal('error') }),
  z.object({ type: z.literal('stored'), key: z.string(), bytes: z.number().int().nonnegative() }),
  z.object({ type: z.literal('notice'), method: z.string() }),
  z.object({ type: z.literal('running') }),
])
export type PassReply = z.infer<typeof PassReply>

/**
 * Ask an MCP server for something on behalf of another MCP client, whichever supervisor runs it. Errors:
 * `unavailable` when none does, so that nothing was started.
 */
export const passRequest = definePassage('mcp.{server}.req', {
  answeredBy: 'group',
  request: PassHead,
  reply: PassReply,
})

/**
 * To whoever runs a request that was passed on; others know nothing of it. `cancel`: it is not wanted any
 * more. `ping`: a sign of life, the reply `running`, is.
 */
export const passControl = defineEvent('mcp.{server}.ctl', {
  durability: 'live',
  payload: z.object({ id: z.string(), action: z.enum(['cancel', 'ping']) }),
})
