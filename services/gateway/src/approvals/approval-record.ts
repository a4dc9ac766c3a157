import { defineBucket, JsonValue, PrincipalId } from '@mcp-host/contracts'
import { z } from 'zod'

/** A tool call that waits for the decision of a user, or has one. */
export const ApprovalRecord = z.object({
  /** The principal that sent the call. */
  principal: PrincipalId,
  server: z.string(),
  tool: z.string(),
  arguments: JsonValue,
  /** SHA-256 of the arguments as JSON with sorted names. */
  hash: z.string(),
  /** `used`: the call has run, or may have. */
  state: z.enum(['pending', 'allowed', 'refused', 'used']),
  /** The principal that decided. */
  answeredBy: PrincipalId.optional(),
  /** Epoch milliseconds. */
  createdAt: z.number(),
  /** Epoch milliseconds. Later, neither a decision nor the call is possible. */
  expiresAt: z.number(),
})
export type ApprovalRecord = z.infer<typeof ApprovalRecord>

export const approvals = defineBucket('APPROVALS', { record: ApprovalRecord, what: 'approvals' })
