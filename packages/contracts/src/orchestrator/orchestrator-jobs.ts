import { z } from 'zod'
import { defineEvent } from '../contract.ts'

/**
 * An orchestrator is alive and at work on these messages, told again and again. When it falls silent and
 * does not answer either, a peer hands them back to the broker.
 */
export const orchestratorJobs = defineEvent('orch.jobs', {
  durability: 'live',
  payload: z.object({
    orchestrator: z.string(),
    /** As `handBack` of the bus takes them. */
    jobs: z.array(z.string()),
  }),
})
