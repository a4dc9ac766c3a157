import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { z } from 'zod'
import { readRunFile } from '../host/run-file.ts'
import type { Env } from '../host/read-env.ts'

/** As the starter writes it for its own nats-server, readable by its user alone. */
const BrokerConfig = z.object({
  listen: z.string(),
  authorization: z.object({ token: z.string() }),
})

/** There is no broker to be found; says what to do. */
export class NoBrokerError extends Error {
  override readonly name = 'NoBrokerError'
}

/** The URL of the broker of the host that runs on DATA_DIR, else NATS_URL. Throws `NoBrokerError`. */
export function findBroker(env: Env, root: string): string {
  const dataDir = resolve(root, env['DATA_DIR'] || '.data')
  const running = readRunFile(dataDir)
  const isOurs = running?.processes.some(({ name }) => name === 'nats-server') === true
  if (isOurs) {
    const file = join(dataDir, 'nats', 'nats-server.conf')
    try {
      const { listen, authorization } = BrokerConfig.parse(JSON.parse(readFileSync(file, 'utf8')))
      return `nats://${authorization.token}@${listen}`
    } catch (error) {
      throw new NoBrokerError(`cannot read ${file}; give --nats URL`, { cause: error })
    }
  }
  if (env['NATS_URL']) return env['NATS_URL']
  throw new NoBrokerError(
    `no host runs on ${dataDir}. Start it with: npm start (or set NATS_URL, or give --nats URL)`,
  )
}
