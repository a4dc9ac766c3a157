import { z } from 'zod'
import { defineEvent } from '../contract.ts'
import { GenerationId } from '../ids.ts'

/**
 * A worker is at work on these generations, told four times a second. Who hears it need not ask after
 * each; silence says nothing, and whoever hears none asks with `generationControl`.
 */
export const runningGenerations = defineEvent('gen.running', {
  durability: 'live',
  payload: z.object({ worker: z.string(), generations: z.array(GenerationId) }),
})
