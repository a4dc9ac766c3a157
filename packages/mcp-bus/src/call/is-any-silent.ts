import type { Bus } from '@mcp-host/bus'
import { BusError, newEnvelope, supervisorControl } from '@mcp-host/contracts'

/** The time limit for a ping, which a living process answers far sooner. */
const PROBE_TIMEOUT_MS = 1_000

/**
 * Whether one of the supervisors is connected to the broker but does not answer, since a request may have frozen it. A
 * killed supervisor is not connected.
 */
export async function isAnySilent(
  bus: Pick<Bus, 'call'>,
  supervisors: Iterable<string>,
): Promise<boolean> {
  const answers = Array.from(supervisors, async (supervisor) => {
    const options = { envelope: newEnvelope('local'), timeoutMs: PROBE_TIMEOUT_MS }
    try {
      await bus.call(supervisorControl, { supervisor }, { action: 'ping' }, options)
      return false
    } catch (error) {
      return BusError.from(error).code !== 'unavailable'
    }
  })
  return (await Promise.all(answers)).includes(true)
}
