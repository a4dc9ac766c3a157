import { z } from 'zod'
import { defineCall } from '../contract.ts'
import { SessionId } from '../ids.ts'
import { SessionRecord } from '../session/session-record.ts'

/** Reads one session. Errors: `not-found` when it was never used, was deleted or belongs to another principal. */
export const getSession = defineCall('session.get', {
  from: ['gateway'],
  to: ['orchestrator'],
  answeredBy: 'group',
  request: z.object({ session: SessionId }),
  reply: SessionRecord,
})
