import { z } from 'zod'
import { defineCall } from '../contract.ts'

/** Pings or cancels a running tool call. Without a supervisor that runs it there is no answer. */
export const callControl = defineCall('call.{call}.ctl', {
  from: ['orchestrator'],
  to: ['mcp-supervisor'],
  answeredBy: 'one',
  request: z.object({
    action: z.enum(['ping', 'cancel']),
    /** Of a cancel, for the model. */
    reason: z.string().optional(),
  }),
  reply: z.object({ supervisor: z.string() }),
})
