import type { ServedRequest } from '@mcp-host/bus'
import type { RunToolRequest, ServerStats } from '@mcp-host/contracts'
import type { ServerConfig } from 'mcp-host'

/** Decides when the processes of a server run at this supervisor, and when requests to it are taken here. */
export interface PlacementPolicy {
  /** Until the server's signal aborts and the calls under way have ended. */
  run(): Promise<void>
  /** Takes up other instances of the server while it runs; `false`: it has to start again. */
  adapt(config: ServerConfig): Promise<boolean>
  /** Restarts the processes that run here. Throws `not-found` when there is none. */
  restart(): Promise<void>
  /** Takes a tool call of a session whose process is here. */
  runSessionTool(served: ServedRequest<RunToolRequest>): Promise<{ supervisor: string }>
  stats(): Partial<ServerStats>
  /** Ends the processes without waiting for their calls. */
  end(): Promise<void>
}
