import { z } from 'zod'
import { defineEvent } from '../contract.ts'

/**
 * Heartbeat of an orchestrator: names the messages that it works on. When it falls silent and does not answer
 * `orchestratorControl`, a peer hands them back to the broker.
 */
export const orchestratorJobs = defineEvent('orch.jobs', {
  from: ['orchestrator'],
  to: ['orchestrator'],
  durability: 'live',
  payload: z.object({
    orchestrator: z.string(),
    /** The jobs in the form that `handBack` of the bus takes. */
    jobs: z.array(z.string()),
  }),
})
