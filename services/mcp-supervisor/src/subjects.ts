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

/** A client's answer to a question: a result or a JSON-RPC error. */
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

/** Requests to this supervisor by its id. */
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

/** Requests to a server, at any of the supervisors that take its queue. */
export interface QueueHandlers {
  readonly runTool: RunTool
  readonly forward: ForwardRequest
  readonly watch?: WatchResources
}

/** Requests to the dedicated process of one client. */
export interface ClientHandlers {
  readonly forward: ForwardRequest
  readonly watch: WatchResources
}

/** Control messages about requests in flight, sent to every supervisor with the server. */
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
