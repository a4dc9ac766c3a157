import { z } from 'zod'
import { defineCall } from '../contract.ts'
import { SessionId } from '../ids.ts'
import { SessionRecord } from '../session/session-record.ts'

/** Gives a session a title. Errors: `not-found`. */
export const renameSession = defineCall('session.rename', {
  answeredBy: 'group',
  request: z.object({
    session: SessionId,
    title: z.string().min(1).max(200),
    /** Makes the session known before its first message. */
    create: z.boolean().optional(),
  }),
  reply: SessionRecord,
})
