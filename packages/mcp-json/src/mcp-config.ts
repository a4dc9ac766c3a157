import type { ConfigFault } from './document/configuration-error.ts'
import type { ServerConfig } from '@mcp-host/upstream'

/** The servers of a host, by name. */
export interface McpConfig {
  readonly servers: Readonly<Record<string, ServerConfig>>
  /** The faults of servers that cannot be used, by name; absent when there are none. */
  readonly faulty?: Readonly<Record<string, readonly ConfigFault[]>>
}
