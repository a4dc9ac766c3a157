import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { z } from 'zod'
import { seedFileOf } from '@mcp-host/bus'
import { CommandError } from '../command-line.ts'
import type { BrokerAddress } from '../host/connect-quietly.ts'
import { credentialsFolder } from '../host/bus-credentials.ts'
import { credentialOf } from '../host/nats-credential.ts'
import { runningHost } from '../host/running-host.ts'
import type { Env } from '../host/read-env.ts'

/** The configuration that the starter writes for its own nats-server. Only the user can read it. */
const BrokerConfig = z.object({
  listen: z.string(),
  /** The token; absent when the services have accounts. */
  authorization: z.object({ token: z.string() }).optional(),
})

/**
 * The broker of a given URL, otherwise of the host that runs on DATA_DIR, otherwise of NATS_URL. Throws `CommandError`
 * with the remedy.
 */
export function findBroker(env: Env, root: string, given?: string): BrokerAddress {
  if (given !== undefined) return { url: given, credential: credentialOf(env) }
  const dataDir = resolve(root, env['DATA_DIR'] || '.data')
  const running = runningHost(env, root)
  const isOurs = running?.processes.some(({ name }) => name === 'nats-server') === true
  if (isOurs) {
    const file = join(dataDir, 'nats', 'nats-server.conf')
    try {
      const { listen, authorization } = BrokerConfig.parse(JSON.parse(readFileSync(file, 'utf8')))
      if (authorization !== undefined) return { url: `nats://${authorization.token}@${listen}` }
      const seedFile = seedFileOf(credentialsFolder(dataDir), 'tools')
      return { url: `nats://${listen}`, credential: { seedFile } }
    } catch (error) {
      throw new CommandError(`cannot read ${file}; give --nats URL`, { cause: error })
    }
  }
  if (env['NATS_URL']) return { url: env['NATS_URL'], credential: credentialOf(env) }
  throw new CommandError(
    `no host runs on ${dataDir}. Start it with: npm start. For a host on another folder set DATA_DIR as it has, or give --nats URL or NATS_URL.`,
  )
}
