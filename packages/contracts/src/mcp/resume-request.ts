import { z } from 'zod'
import { defineOpaqueCall } from '../contract.ts'
import { McpReplyHead } from './mcp-request.ts'

/** Which request a client takes up again, and what it knows of it; the body is empty. */
export const ResumeHead = z.object({
  /** As it was passed on under. */
  id: z.string(),
  /** Of the client's session: others are not answered. */
  client: z.string(),
  /** The number of the last that it was told; 0 for nothing. */
  after: z.number().int().nonnegative(),
})
export type ResumeHead = z.infer<typeof ResumeHead>

/**
 * Asks the supervisor that keeps a request for the rest of its replies. The first is `running`. The listener before
 * gets `moved`. Errors: `not-found` when it is not kept for that client, or not any more; `unavailable` when the
 * supervisor is gone.
 */
export const resumeRequest = defineOpaqueCall('sup.{supervisor}.resume', {
  from: ['gateway'],
  to: ['mcp-supervisor'],
  answeredBy: 'one',
  request: ResumeHead,
  reply: McpReplyHead,
})
