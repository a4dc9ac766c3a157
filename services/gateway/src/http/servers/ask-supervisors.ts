import type { Bus } from '@mcp-host/bus'
import type { Envelope, ReloadResult } from '@mcp-host/contracts'
import { BusError, supervisorControl } from '@mcp-host/contracts'
import { z } from 'zod'

/** The time limit for a request, since calls in flight may end before a server is stopped. */
const LIMIT_MS = 90_000

export const Outcome = z.object({
  supervisor: z.string().describe('Id of the supervisor on the bus.'),
  error: z.string().optional().describe('Why it failed there; absent where it succeeded.'),
})

/** The outcome of a request at one supervisor. */
export interface SupervisorOutcome {
  readonly supervisor: string
  readonly error?: string
  readonly reload?: ReloadResult | undefined
  readonly output?: readonly string[] | undefined
}

/** Sends a request to each supervisor. A failure at one of them is data. */
export function askSupervisors(
  bus: Pick<Bus, 'call'>,
  supervisors: readonly string[],
  request: z.input<typeof supervisorControl.request>,
  envelope: Envelope,
): Promise<SupervisorOutcome[]> {
  const options = { envelope, timeoutMs: LIMIT_MS }
  return Promise.all(
    supervisors.map(async (supervisor): Promise<SupervisorOutcome> => {
      try {
        const reply = await bus.call(supervisorControl, { supervisor }, request, options)
        return { supervisor, ...reply }
      } catch (error) {
        return { supervisor, error: BusError.from(error).message }
      }
    }),
  )
}
