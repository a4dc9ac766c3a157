import type { Bus } from '@mcp-host/bus'
import { BusError, newEnvelope, supervisorControl } from '@mcp-host/contracts'

/** A process that is alive answers long before. */
const PROBE_TIMEOUT_MS = 1_000

/**
 * Whether one of the supervisors is still connected to the broker and does not answer. A request that it took may have
 * frozen it. One that was killed is not connected.
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
