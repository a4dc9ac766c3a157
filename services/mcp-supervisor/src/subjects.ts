import type { OpaqueCallHandler, ServedRequest } from '@mcp-host/bus'
import type {
  McpRequestHead,
  McpReplyHead,
  ReloadResult,
  ResumeHead,
  RunToolRequest,
  ServerEntry,
  ServerName,
  ToolCallId,
} from '@mcp-host/contracts'

/** What a client said when it was asked: as in JSON-RPC, a result or an error. */
export interface ClientAnswer {
  readonly result?: object | undefined
  readonly error?:
    | { readonly code: number; readonly message: string; readonly data?: unknown }
    | undefined
}

type ForwardRequest = OpaqueCallHandler<McpRequestHead, McpReplyHead>
type RunTool = (
  served: ServedRequest<RunToolRequest>,
) => { supervisor: string } | Promise<{ supervisor: string }>
type WatchResources = (uris: readonly string[]) => Promise<object>

/** What is asked of this supervisor by its id. */
export interface SupervisorHandlers {
  readonly reload: () => Promise<ReloadResult>
  readonly restart: (server: ServerName) => Promise<void>
  /** A tool call of a session whose process runs here. */
  readonly runSessionTool: (
    server: ServerName,
    served: ServedRequest<RunToolRequest>,
  ) => Promise<{ supervisor: string }>
  readonly resume: OpaqueCallHandler<ResumeHead, McpReplyHead>
}

/** What is asked of a server, at any of the supervisors that take its requests. */
export interface QueueHandlers {
  readonly runTool: RunTool
  readonly forward: ForwardRequest
  readonly watch?: WatchResources
}

/** What is asked of the process of one client. */
export interface ClientHandlers {
  readonly forward: ForwardRequest
  readonly watch: WatchResources
}

/** What every supervisor with the server is told about requests that one of them runs. */
export interface ControlHandlers {
  readonly cancel: (requestId: string) => void
  readonly ping: (requestId: string) => void
  readonly answer: (ask: string, answer: ClientAnswer) => void
  readonly rootsChanged: (client: string) => void
  readonly leave: (client: string) => void
}

/** Everything that a supervisor answers on the bus, each until disposed. Bound in `handlers/index.ts`. */
export interface Subjects {
  supervisor(handlers: SupervisorHandlers): Disposable
  queue(server: ServerName, handlers: QueueHandlers): Disposable
  client(server: ServerName, client: string, handlers: ClientHandlers): Disposable
  clientLists(server: ServerName, client: string, read: () => Promise<ServerEntry>): Disposable
  control(server: ServerName, handlers: ControlHandlers): Disposable
  toolCall(call: ToolCallId, cancel: () => void): Disposable
}
