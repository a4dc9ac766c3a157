import { z } from 'zod'
import { defineCall } from '../contract.ts'
import { SessionId } from '../ids.ts'

/** Ask an orchestrator whether it runs this session's turn. Nobody answers when it is gone. */
export const orchestratorControl = defineCall('orch.{orchestrator}.ctl', {
  answeredBy: 'one',
  request: z.object({ session: SessionId }),
  reply: z.object({ running: z.boolean() }),
})
