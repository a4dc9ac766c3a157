import { z } from 'zod'
import { defineCall } from '../contract.ts'
import { SessionId } from '../ids.ts'

/** Ends what runs in a session and erases its log and its large results. Errors: `not-found`. */
export const deleteSession = defineCall('session.delete', {
  answeredBy: 'group',
  request: z.object({ session: SessionId }),
  reply: z.object({}),
})
