import type { Environment } from '@mcp-host/process'

/** What separates one process of a server. */
export interface Separation {
  /** The command line before that of the program. */
  readonly prefix?: readonly string[]
  /** Variables in place of the host's. */
  readonly env?: Environment
  /** See `SpawnOptions.tag`. */
  readonly tag?: string
}
