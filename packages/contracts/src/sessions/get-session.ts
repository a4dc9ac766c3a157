import { z } from 'zod'
import { defineCall } from '../contract.ts'
import { SessionId } from '../ids.ts'
import { SessionRecord } from '../session/session-record.ts'

/** One session. Errors: `not-found` when it was never used, was deleted or is somebody else's. */
export const getSession = defineCall('session.get', {
  answeredBy: 'group',
  request: z.object({ session: SessionId }),
  reply: SessionRecord,
})
