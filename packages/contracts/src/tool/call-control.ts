import { z } from 'zod'
import { defineCall } from '../contract.ts'

/** Ask after a running tool call, or end it. Nobody answers when no supervisor runs it. */
export const callControl = defineCall('call.{call}.ctl', {
  answeredBy: 'one',
  request: z.object({ action: z.enum(['ping', 'cancel']) }),
  reply: z.object({ supervisor: z.string() }),
})
