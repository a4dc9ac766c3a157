import type { Bus, OpaqueCallHandler, ServedRequest } from '@mcp-host/bus'
import type {
  CallContract,
  McpReplyHead,
  McpRequestControl,
  McpRequestHead,
  ReloadResult,
  ResumeHead,
  RunToolRequest,
  ServerEntry,
  ServerName,
  ToolCallId,
} from '@mcp-host/contracts'
import {
  beginServerLogin,
  bringServerLogin,
  changeServerLogin,
  callControl,
  describeServerLogin,
  endServerLogin,
  finishServerLogin,
  listServerLogins,
  readLoginKeys,
  readUsersOfServer,
  mcpClientRequest,
  mcpRequest,
  mcpRequestControl,
  readClientLists,
  resumeRequest,
  runSessionTool,
  runTool,
  supervisorControl,
  watchClientResources,
  watchResources,
} from '@mcp-host/contracts'

/** A client's answer to a question: a result or a JSON-RPC error. */
export interface ClientAnswer {
  readonly result?: object | undefined
  readonly error?:
    | { readonly code: number; readonly message: string; readonly data?: unknown }
    | undefined
}

type ServeRequest = OpaqueCallHandler<McpRequestHead, McpReplyHead>
type Accepted = { supervisor: string } | Promise<{ supervisor: string }>
type RunTool = (served: ServedRequest<RunToolRequest>) => Accepted
type WatchResources = (uris: readonly string[]) => Promise<object>

interface SupervisorHandlers {
  readonly reload: () => Promise<ReloadResult>
  readonly restart: (server: ServerName) => Promise<void>
  readonly output: (server: ServerName) => readonly string[]
  /** Takes a tool call of a session whose process runs here. */
  readonly runSessionTool: (server: ServerName, served: Parameters<RunTool>[0]) => Accepted
  readonly resume: OpaqueCallHandler<ResumeHead, McpReplyHead>
}

type HandlerOf<C> =
  C extends CallContract<string, infer Request, infer Reply>
    ? (served: ServedRequest<Request>) => Promise<Reply>
    : never

export interface LoginHandlers {
  readonly begin: HandlerOf<typeof beginServerLogin>
  readonly finish: HandlerOf<typeof finishServerLogin>
  readonly change: HandlerOf<typeof changeServerLogin>
  readonly end: HandlerOf<typeof endServerLogin>
  readonly list: HandlerOf<typeof listServerLogins>
  readonly users: HandlerOf<typeof readUsersOfServer>
  readonly keys: HandlerOf<typeof readLoginKeys>
  readonly describe: HandlerOf<typeof describeServerLogin>
  readonly bring: HandlerOf<typeof bringServerLogin>
}

interface QueueHandlers {
  readonly runTool: RunTool
  readonly serveRequest: ServeRequest
  readonly watch?: WatchResources
}

/** The subjects that a supervisor serves on the bus, each until disposed. */
export type Subjects = ReturnType<typeof bindSubjects>

export function bindSubjects(bus: Pick<Bus, 'id' | 'serve' | 'serveOpaque' | 'listen'>) {
  return {
    /** Requests to this supervisor, by its id. */
    supervisor: ({ reload, restart, output, runSessionTool: run, resume }: SupervisorHandlers) =>
      together(
        bus.serve(supervisorControl, { supervisor: bus.id }, async ({ request }) => {
          if (request.action === 'reload') return { reload: await reload() }
          if (request.action === 'read-output') return { output: [...output(request.server)] }
          if (request.action === 'restart') await restart(request.server)
          return {}
        }),
        bus.serve(runSessionTool, { supervisor: bus.id }, ({ request, envelope }) => {
          const { server, ...call } = request
          return run(server, { request: call, envelope })
        }),
        bus.serveOpaque(resumeRequest, { supervisor: bus.id }, resume),
      ),
    /** Logins of users at servers. Any supervisor answers. */
    logins: (handlers: LoginHandlers) =>
      together(
        bus.serve(beginServerLogin, {}, handlers.begin),
        bus.serve(finishServerLogin, {}, handlers.finish),
        bus.serve(describeServerLogin, {}, handlers.describe),
        bus.serve(bringServerLogin, {}, handlers.bring),
        bus.serve(readUsersOfServer, {}, handlers.users),
        bus.serve(readLoginKeys, {}, handlers.keys),
        bus.serve(changeServerLogin, {}, handlers.change),
        bus.serve(endServerLogin, {}, handlers.end),
        bus.serve(listServerLogins, {}, handlers.list),
      ),
    /** Requests to a server. One of the supervisors that take its queue gets each. */
    queue: (server: ServerName, { runTool: run, serveRequest, watch }: QueueHandlers) =>
      together(
        bus.serve(runTool, { server }, run),
        bus.serveOpaque(mcpRequest, { server }, serveRequest),
        watch && bus.serve(watchResources, { server }, ({ request }) => watch(request.uris)),
      ),
    /** Requests to the dedicated process of a client. */
    client: (
      server: ServerName,
      client: string,
      serveRequest: ServeRequest,
      watch: WatchResources,
    ) =>
      together(
        bus.serveOpaque(mcpClientRequest, { server, client }, serveRequest),
        bus.serve(watchClientResources, { server, client }, ({ request }) => watch(request.uris)),
      ),
    clientLists: (server: ServerName, client: string, read: () => Promise<ServerEntry>) =>
      bus.serve(readClientLists, { server, client }, read),
    /** Control messages about requests in flight, sent to every supervisor with the server. */
    control: (server: ServerName, listener: (control: McpRequestControl) => void) =>
      bus.listen(mcpRequestControl, { server }, listener),
    /** Pings and cancels of a tool call. */
    toolCall: (call: ToolCallId, cancel: (reason: string | undefined) => void) =>
      bus.serve(callControl, { call }, ({ request: { action, reason } }) => {
        if (action === 'cancel') cancel(reason)
        return { supervisor: bus.id }
      }),
  }
}

function together(...all: readonly (Disposable | undefined)[]): Disposable {
  const stack = new DisposableStack()
  for (const each of all) stack.use(each)
  return stack
}
