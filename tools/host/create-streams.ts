import { setTimeout as delay } from 'node:timers/promises'
import { provision } from '@mcp-host/bus'
import { BusError } from '@mcp-host/contracts'
import { auditSettings, baseSettings, loadConfig } from '@mcp-host/service'
import type { BrokerAddress } from './connect-quietly.ts'
import { silentLogger } from './connect-quietly.ts'
import type { Env } from './read-env.ts'

/** The time limit for a new nats-server, which reads its data first. */
const PATIENCE_MS = 60_000
const PAUSE_MS = 300
const DAY_MS = 86_400_000

/**
 * Creates the streams and buckets of the host at a broker with bus accounts, where services have no permission for
 * that.
 */
export async function createStreams(env: Env, broker: BrokerAddress): Promise<void> {
  const { natsReplicas: replicas } = loadConfig(baseSettings, env)
  const { auditRetentionDays } = loadConfig(auditSettings, env)
  const auditMaxAgeMs = auditRetentionDays * DAY_MS
  const giveUpAt = Date.now() + PATIENCE_MS
  for (;;) {
    try {
      return await provision({ ...broker, replicas, auditMaxAgeMs, logger: silentLogger })
    } catch (error) {
      const mayHelp = BusError.from(error).code === 'unavailable'
      if (!mayHelp || Date.now() > giveUpAt) throw error
      await delay(PAUSE_MS)
    }
  }
}
