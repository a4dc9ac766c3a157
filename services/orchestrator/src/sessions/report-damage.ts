import type { Bus } from '@mcp-host/bus'
import { findDamage } from '@mcp-host/bus'
import type { DamageEntry, SessionRecord } from '@mcp-host/contracts'
import type { Logger } from '@mcp-host/service'

/** The number of sessions that are logged by name. `npm run doctor` names all. */
const MAX_NAMED = 20

/** Logs and announces the sessions whose entries were lost with damaged data. Never rejects. */
export async function reportDamage(
  { bus, logger }: { readonly bus: Bus; readonly logger: Logger },
  records: Iterable<SessionRecord>,
): Promise<void> {
  const about = { component: 'sessions', action: 'check' }
  try {
    const damaged = await findDamage(bus, records)
    for (const { session, had, has } of damaged.slice(0, MAX_NAMED)) {
      const fields = { ...about, sessionId: session, had, has }
      logger.error(fields, 'a session has lost entries: the data of nats-server was damaged')
    }
    if (damaged.length > 0) {
      const fields = { ...about, sessions: damaged.length }
      logger.error(fields, 'sessions are damaged; what is left of them can be read: npm run doctor')
    }
    // Last: the log has the damage also where nothing can be stored.
    await announce(bus, damaged.length)
  } catch (err) {
    // The next orchestrator that starts checks again.
    logger.warn({ ...about, err }, 'could not check the sessions for damage')
  }
}

/** Tells the gateways, whose clients see it. */
async function announce({ catalog }: Bus, sessions: number): Promise<void> {
  const entry: DamageEntry = { kind: 'damage', sessions }
  await (sessions > 0 ? catalog.put(entry) : catalog.remove(entry))
}
