import { z } from 'zod'
import { defineEvent } from './contract.ts'

/** Tells gateways, every two seconds, why the durable writes of a process fail. */
export const storageFault = defineEvent('storage.fault', {
  from: ['gateway', 'orchestrator', 'llm-worker', 'mcp-supervisor'],
  to: ['gateway'],
  durability: 'live',
  payload: z.object({
    /** A sentence for the operator. */
    fault: z.string(),
  }),
})
