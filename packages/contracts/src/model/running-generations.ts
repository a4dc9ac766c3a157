import { z } from 'zod'
import { defineEvent } from '../contract.ts'
import { GenerationId } from '../ids.ts'

/**
 * Heartbeat of a worker: names the generations that it runs, four times a second. An orchestrator that receives it
 * need not ping them with `generationControl`; silence proves nothing.
 */
export const runningGenerations = defineEvent('gen.running', {
  from: ['llm-worker'],
  to: ['orchestrator'],
  durability: 'live',
  payload: z.object({ worker: z.string(), generations: z.array(GenerationId) }),
})
