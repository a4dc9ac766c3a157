import { z } from 'zod'
import { defineCall } from '../contract.ts'

/** Ask after a running generation, or end it. Nobody answers when no worker runs it. */
export const generationControl = defineCall('gen.{generation}.ctl', {
  answeredBy: 'one',
  request: z.object({ action: z.enum(['ping', 'cancel']) }),
  reply: z.object({ worker: z.string() }),
})
