import { z } from 'zod'
import { defineCall } from '../contract.ts'
import { SessionId } from '../ids.ts'
import { SessionRecord } from '../session/session-record.ts'

/** A session with what it may do now. */
export const SessionDetails = SessionRecord.extend({
  /** Missing in replies of earlier versions. */
  limits: z
    .object({
      /** Of each turn: its own, or that of the host. */
      maxToolCalls: z.number().int().nonnegative(),
      /** Of all turns together; absent: no limit. */
      maxSessionToolCalls: z.number().int().positive().optional(),
    })
    .optional(),
  /** Missing in replies of earlier versions. */
  capabilities: z
    .object({
      toolCount: z.number().int().nonnegative(),
      /** The first ones. */
      tools: z.array(z.object({ server: z.string(), tool: z.string() })),
    })
    .optional(),
})
export type SessionDetails = z.infer<typeof SessionDetails>

/** Reads one session. Errors: `not-found` when it was never used, was deleted or belongs to another principal. */
export const getSession = defineCall('session.get', {
  from: ['gateway'],
  to: ['orchestrator'],
  answeredBy: 'group',
  request: z.object({ session: SessionId }),
  reply: SessionDetails,
})
