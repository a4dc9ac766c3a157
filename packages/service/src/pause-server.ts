import { BusError, serverPauses } from '@mcp-host/contracts'
import type { ServiceDeps } from './run-service.ts'

const FIRST_MS = 10_000
const LONGEST_MS = 600_000
/** The time after a pause in which another one is twice as long. */
const MEMORY_MS = 3_600_000

/** Pauses a server at all supervisors, since supervisors died with one of its calls. Does not throw. */
export async function pauseServer(
  {
    bus,
    logger,
  }: Pick<ServiceDeps, 'logger'> & { readonly bus: Pick<ServiceDeps['bus'], 'bucket'> },
  server: string,
): Promise<void> {
  const fields = { component: 'tool', action: 'pause-server', server }
  try {
    const bucket = await bus.bucket(serverPauses)
    const last = await bucket.get(server)
    if (last !== undefined && last.record.until > bucket.now()) return
    const times = (last?.record.times ?? 0) + 1
    const pauseMs = Math.min(FIRST_MS * 2 ** (times - 1), LONGEST_MS)
    const until = bucket.now() + pauseMs
    const options = { revision: last?.revision ?? 0, ttlMs: pauseMs + MEMORY_MS }
    await bucket.put(server, { until, times }, options)
    logger.warn(
      { ...fields, times, pauseMs },
      'an MCP server is paused: supervisors died with one of its calls',
    )
  } catch (err) {
    // Another process has paused it.
    if (BusError.from(err).code === 'conflict') return
    logger.error({ ...fields, err }, 'could not pause an MCP server whose calls end supervisors')
  }
}
