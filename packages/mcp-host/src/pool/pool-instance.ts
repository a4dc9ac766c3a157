import type { ServerConfig } from '../config/mcp-config.ts'
import type { Candidate } from '../policies/balancer.ts'
import type { HealthScore } from '../policies/health-score.ts'
import type { ServerInstance } from '../server/managed-server.ts'
import type { ServerClient } from '../server/server-client.ts'
import type { Server } from '../server/server.ts'

export interface PoolInstanceOptions {
  /** The configuration of a server with this instance alone. */
  readonly config: ServerConfig
  readonly weight: number
}

/** One of the instances of a server: with a connection, restarts, a queue and circuits of its own. */
export class PoolInstance implements ServerInstance, Candidate {
  readonly server: Server
  readonly client: ServerClient
  readonly config: ServerConfig
  weight: number

  constructor({ server, client }: ServerInstance, options: PoolInstanceOptions) {
    this.server = server
    this.client = client
    this.config = options.config
    this.weight = options.weight
  }

  get health(): HealthScore {
    return this.server.health
  }

  get inFlight(): number {
    return this.client.inFlight
  }

  get isReady(): boolean {
    return this.server.state === 'ready'
  }
}
