import { z } from 'zod'
import { defineCall } from '../contract.ts'

/** Pings or cancels a running generation. Without a worker that runs it there is no answer. */
export const generationControl = defineCall('gen.{generation}.ctl', {
  from: ['orchestrator', 'mcp-supervisor'],
  to: ['llm-worker'],
  answeredBy: 'one',
  request: z.object({ action: z.enum(['ping', 'cancel']) }),
  reply: z.object({ worker: z.string() }),
})
