import { z } from 'zod'
import { defineCall } from '../contract.ts'
import { SessionId } from '../ids.ts'

/**
 * Ends the turns of a session and erases its log, files and large results. A session whose log says that it was deleted
 * is erased without this call, too. Errors: `not-found`.
 */
export const deleteSession = defineCall('session.delete', {
  from: ['gateway'],
  to: ['orchestrator'],
  answeredBy: 'group',
  request: z.object({ session: SessionId }),
  reply: z.object({}),
})
