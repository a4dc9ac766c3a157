import { z } from 'zod'
import { defineCall } from '../contract.ts'
import { SessionId } from '../ids.ts'

/** Asks an orchestrator whether it runs the turn of a session. A stopped orchestrator does not answer. */
export const orchestratorControl = defineCall('orch.{orchestrator}.ctl', {
  from: ['orchestrator'],
  to: ['orchestrator'],
  answeredBy: 'one',
  request: z.object({ session: SessionId }),
  reply: z.object({ running: z.boolean() }),
})
