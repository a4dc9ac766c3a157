import { JsonRpcCode } from '@mcp-host/mcp'
import type { AuditLog } from '@mcp-host/audit'
import type { Bus, ServedRequest } from '@mcp-host/bus'
import type { RunToolRequest, ServerName } from '@mcp-host/contracts'
import { BusError, clientMessage, resourceUpdated } from '@mcp-host/contracts'
import type { Logger } from '@mcp-host/service'
import { InFlight } from '@mcp-host/async'
import type { McpConfig } from '@mcp-host/mcp-json'
import type { MCPHost } from 'mcp-host'
import type { ServerConfig, ServerSnapshot } from '@mcp-host/upstream'
import { McpHostError } from '@mcp-host/upstream'
import type { ClientLists } from '../catalog/client-lists.ts'
import type { EndedCall, SupervisorEvents } from '../events.ts'
import type { SendPart } from '../mcp-requests/client-questions.ts'
import type { Era } from '../mcp-requests/eras.ts'
import type { McpReply } from '../mcp-requests/forward-request.ts'
import type { SendReply } from '../mcp-requests/reply-replay-buffer.ts'
import { ReplyReplayBuffer } from '../mcp-requests/reply-replay-buffer.ts'
import type {
  IncomingRequest,
  RequestForwarder,
  RequestTarget,
} from '../mcp-requests/request-forwarder.ts'
import type { ResumableRequests } from '../mcp-requests/resumable-requests.ts'
import { WatchedResources } from '../mcp-requests/watched-resources.ts'
import type { Subjects } from '../subjects.ts'
import { startToolCall } from '../tool-calls/run-tool.ts'
import type { RunningCalls } from '../tool-calls/running-calls.ts'

export interface HostedServerDeps {
  readonly bus: Bus
  readonly subjects: Subjects
  readonly logger: Logger
  readonly events: SupervisorEvents
  /** The audit log; absent when it is off. */
  readonly audit?: AuditLog | undefined
  readonly calls: RunningCalls
  readonly resumable: Pick<ResumableRequests, 'run'>
}

interface HostedServerOptions {
  readonly name: ServerName
  readonly config: ServerConfig
  readonly onChange?: (snapshot: ServerSnapshot) => void
  /**
   * Runs the requests of MCP clients and provides the callback of the host; absent when the server takes no such
   * requests.
   */
  readonly forwarder?: RequestForwarder
  /** The client of a dedicated process, by its id. */
  readonly client?: string
  readonly clientLists?: ClientLists | undefined
  /** Called at the end of the client's session. */
  readonly onLeave?: () => void
}

/** One MCP server in its own host, so that servers start and end independently. */
export class HostedServer implements AsyncDisposable {
  readonly name: ServerName
  readonly #deps: HostedServerDeps
  readonly #host: MCPHost
  readonly #options: HostedServerOptions
  readonly #watched: WatchedResources
  readonly #target: RequestTarget
  readonly #running = new InFlight()
  readonly #replay: ReplyReplayBuffer
  /** The last known era of the server. */
  #era: Era = 'legacy'
  #isStarted = false
  readonly #closing = new AbortController()
  readonly #closed = new AbortController()
  readonly #started: Promise<void>
  readonly #followed: Promise<void>
  /**
   * Listeners that stay until the end: control messages concern requests in flight, even when no new ones are taken.
   */
  readonly #listening = new DisposableStack()

  /** Starts the server. The state shows a failure. */
  constructor(deps: HostedServerDeps, host: MCPHost, options: HostedServerOptions) {
    const { name, config, forwarder } = options
    this.#deps = deps
    this.#host = host
    this.#options = options
    this.name = name
    this.#started = host.initialize(this.#configOf(config)).catch((err: unknown) => {
      const fields = { component: 'supervisor', action: 'initialize', server: name, err }
      deps.logger.error(fields, 'could not start a server')
    })
    this.#followed = this.#follow()
    this.#watched = this.#listening.use(new WatchedResources(host, name))
    this.#target = {
      host,
      ready: () => (this.#isStarted ? undefined : this.#started),
      era: () => this.#era,
      track: (work) => void this.#counted(work).catch(ignore),
      watched: this.#watched,
    }
    this.#replay = new ReplyReplayBuffer(deps.bus)
    if (forwarder !== undefined) this.#listen(forwarder)
  }

  /** The current state. `onChange` is called a little later. */
  get snapshot(): ServerSnapshot | undefined {
    return this.#host.getServers()[0]
  }

  /** The last lines that its processes wrote outside of the protocol. */
  get output(): readonly string[] {
    return this.#host.lastOutput(this.name)
  }

  /** The number of calls in flight. */
  get inFlight(): number {
    return this.#running.count
  }

  /** Resolves once the server is ready, or has failed to start. */
  started(): Promise<void> {
    return this.#started
  }

  /** Takes requests from the server's queue until disposed, while `isHeld` returns true. */
  serve(isHeld: () => boolean): Disposable {
    const checked = (): this => {
      if (isHeld()) return this
      throw new BusError('unavailable', `the MCP server "${this.name}" is moving; try again`)
    }
    return this.#deps.subjects.queue(this.name, {
      runTool: (served) => checked().runTool(served),
      forward: (request, send) => checked().forward(request, send),
      watch: (uris) => checked().watch(uris),
    })
  }

  /**
   * Takes requests of the client of a dedicated process until the server ends. Each request marks the process as used.
   */
  serveClient(client: string, use: <T>(run: (server: HostedServer) => T) => T): void {
    this.#listening.use(
      this.#deps.subjects.client(
        this.name,
        client,
        (request, send) => use((server) => server.forward(request, send)),
        (uris) => use((server) => server.watch(uris)),
      ),
    )
  }

  /** Runs a request of an MCP client. Failures also become replies. */
  async forward(request: IncomingRequest, send: SendReply): Promise<McpReply> {
    const { resumable } = this.#deps
    const { head } = request
    const reply = await resumable.run(head, send, (sendPart) => this.#forward(request, sendPart))
    this.#replay.keep(head.id, reply, send)
    return reply
  }

  async #forward(request: IncomingRequest, send: SendPart): Promise<McpReply> {
    const { bus, events } = this.#deps
    const { forwarder } = this.#options
    if (forwarder === undefined) throw new Error('this server takes no requests of MCP clients')
    const { method, stored, digest } = request.head
    const isCall = method === 'tools/call'
    const begin = performance.now()
    if (isCall) events.callStarted()
    using _running = this.#running.begin()
    let outcome: EndedCall['outcome'] = 'error'
    try {
      const complete =
        stored === undefined
          ? request
          : { ...request, body: await bus.blobs.get(stored, { digest }) }
      const reply = await forwarder.run(this.#target, complete, send)
      if (reply.head.type !== 'error') outcome = 'ok'
      else if (reply.head.code === JsonRpcCode.cancelled) outcome = 'cancelled'
      return reply
    } finally {
      const durationMs = performance.now() - begin
      if (isCall) events.callEnded({ server: this.name, outcome, durationMs })
    }
  }

  /** Watches resources and reports their changes until the watch expires. */
  async watch(uris: readonly string[]): Promise<object> {
    await this.#started
    await this.#counted(this.#watched.watch(uris))
    return {}
  }

  /** Takes a tool call of a chat session, which waits until the server has started. */
  runTool(served: ServedRequest<RunToolRequest>): { supervisor: string } {
    const deps = {
      ...this.#deps,
      host: this.#host,
      started: this.#started,
      closed: this.#closing.signal,
      running: this.#running,
    }
    return startToolCall(deps, this.name, served)
  }

  async reload(config: ServerConfig): Promise<void> {
    await this.#host.reload(this.#configOf(config))
  }

  /** Restarts the process; calls in flight fail. Throws `unavailable` when it does not become ready. */
  async restart(): Promise<void> {
    try {
      await this.#host.restart(this.name)
    } catch (error) {
      if (!(error instanceof McpHostError)) throw error
      throw new BusError('unavailable', error.message, { cause: error })
    }
  }

  /** Resolves when no call is in flight. */
  drained(): Promise<void> {
    return this.#running.idle()
  }

  /** Ends the suspended requests. */
  abandon(): void {
    this.#options.forwarder?.abandon({ host: this.#host })
  }

  /** Ends the server; calls in flight fail. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort()
    this.abandon()
    await this.#host.shutdown()
    this.#closed.abort()
    await this.#followed
    await this.#options.clientLists?.[Symbol.asyncDispose]()
    await this.drained()
    this.#listening.dispose()
  }

  /** Counts work as in flight. */
  async #counted<T>(work: Promise<T>): Promise<T> {
    using _running = this.#running.begin()
    return await work
  }

  /** The configuration without dependencies, which are not in this host. The placement waits for them. */
  #configOf(config: ServerConfig): McpConfig {
    const { dependencies: _, ...alone } = config
    return { servers: { [this.name]: alone } }
  }

  #listen(forwarder: RequestForwarder): void {
    const { bus, subjects } = this.#deps
    const { name: server, client, onLeave } = this.#options
    const host = this.#host
    this.#listening.use(
      subjects.control(server, (control) => {
        switch (control.action) {
          case 'cancel':
            return forwarder.cancel({ host }, control.id)
          case 'ping':
            forwarder.ping(control.id)
            return this.#replay.send(control.id)
          case 'answer':
            return forwarder.answer(control.ask, control.client, control)
          case 'roots-changed':
            // A server that is not ready requests the roots once it is ready.
            if (control.client === client) void host.rootsChanged(server).catch(ignore)
            return
          case 'leave':
            if (control.client === client) onLeave?.()
            return
          default:
            control satisfies never
        }
      }),
    )
    const { signal } = this.#closed
    host.on(
      'resource-updated',
      ({ uri }) => bus.emit(resourceUpdated, { server }, { uri, client }),
      { signal },
    )
    if (client === undefined) return
    const method = 'notifications/elicitation/complete'
    host.on(
      'elicitation-complete',
      ({ elicitationId }) =>
        bus.emit(clientMessage, { client }, { server, method, params: { elicitationId } }),
      { signal },
    )
  }

  async #follow(): Promise<void> {
    const { clientLists, onChange } = this.#options
    for await (const snapshot of this.#host.serverChanges({ signal: this.#closed.signal })) {
      this.#era = snapshot.era ?? this.#era
      this.#isStarted ||= snapshot.state === 'ready'
      clientLists?.take(snapshot)
      onChange?.(snapshot)
    }
  }
}

const ignore = (): void => undefined
