import type { ServedRequest } from '@mcp-host/bus'
import type { RunToolRequest, ServerStats } from '@mcp-host/contracts'
import type { ServerConfig } from '@mcp-host/upstream'

/** Decides when the processes of a server run at this supervisor, and when it takes requests. */
export interface PlacementPolicy {
  /** Runs until the server's signal aborts and the calls in flight have ended. */
  run(): Promise<void>
  /**
   * Changes the instances of the running server. Returns `false` when it must be started again with the new
   * configuration.
   */
  adapt(config: ServerConfig): Promise<boolean>
  /** Restarts the processes at this supervisor. Throws `not-found` when there is none. */
  restart(): Promise<void>
  /**
   * Takes a call that another supervisor passed on. Throws `not-found` when sessions have no dedicated processes of the
   * server.
   */
  runSessionTool(served: ServedRequest<RunToolRequest>): Promise<{ supervisor: string }>
  /** The last lines that the process wrote outside of the protocol; empty where none has run. */
  readonly output: readonly string[]
  stats(): Partial<ServerStats>
  /** Ends the processes without waiting for their calls. */
  end(): Promise<void>
}
