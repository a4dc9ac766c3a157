import { z } from 'zod'
import { defineOpaqueCall } from '../contract.ts'
import { McpReplyHead } from './mcp-request.ts'

/** The request that a client resumes; the body is empty. */
export const ResumeHead = z.object({
  /** The `id` of its `McpRequestHead`. */
  id: z.string(),
  /** The session of the client: other clients get `not-found`. */
  client: z.string(),
  /** The number of the last reply that the client has; 0 for none. */
  after: z.number().int().nonnegative(),
})
export type ResumeHead = z.infer<typeof ResumeHead>

/**
 * Asks the supervisor that keeps a request for the rest of its replies. The first is `running`. The previous caller gets
 * `moved`. Errors: `not-found` when the supervisor keeps no such request of the client; `unavailable` when the supervisor
 * is gone.
 */
export const resumeRequest = defineOpaqueCall('sup.{supervisor}.resume', {
  from: ['gateway'],
  to: ['mcp-supervisor'],
  answeredBy: 'one',
  request: ResumeHead,
  reply: McpReplyHead,
})
