import type { ServerCache } from '../cache/server-cache.ts'
import type {
  Adaptation,
  MemberClient,
  MemberServer,
  Server,
  ServerConfig,
} from '@mcp-host/upstream'

/** A server of the configuration. */
export interface ManagedServer {
  readonly server: MemberServer
  readonly client: MemberClient
  readonly cache: ServerCache
  /** The instances; a server without `instances` counts as its only one. */
  readonly instances: readonly Server[]
  /** Replaces instances whose configuration has changed; `undefined` when no unchanged one is ready. */
  readonly adapt: (config: ServerConfig) => Adaptation | undefined
}
