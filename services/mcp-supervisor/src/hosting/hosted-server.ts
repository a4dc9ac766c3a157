import type { Bus, ServedRequest } from '@mcp-host/bus'
import type { RunToolRequest, ServerName } from '@mcp-host/contracts'
import { BusError, clientMessage, resourceUpdated } from '@mcp-host/contracts'
import type { Logger } from '@mcp-host/service'
import { InFlight } from '@mcp-host/service'
import type { McpConfig, MCPHost, ServerConfig, ServerSnapshot } from 'mcp-host'
import { McpHostError } from 'mcp-host'
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
import { CANCELLED } from '../mcp-requests/request-forwarder.ts'
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
  readonly calls: RunningCalls
  readonly resumable: Pick<ResumableRequests, 'run'>
}

export interface HostedServerOptions {
  readonly name: ServerName
  readonly config: ServerConfig
  /** Gets every state. */
  readonly onChange?: (snapshot: ServerSnapshot) => void
  /** Runs the requests of MCP clients, where they are taken; the host's callback is its. */
  readonly forwarder?: RequestForwarder
  /** The only client that it serves, by its id. */
  readonly client?: string
  /** Gets every state, and the end. */
  readonly clientLists?: ClientLists | undefined
  /** Called when that client's session is over. */
  readonly onLeave?: () => void
}

/** One MCP server in a host of its own, so that servers can come and go one by one. */
export class HostedServer implements AsyncDisposable {
  readonly name: ServerName
  readonly #deps: HostedServerDeps
  readonly #host: MCPHost
  readonly #options: HostedServerOptions
  readonly #watched: WatchedResources
  readonly #target: RequestTarget
  readonly #running = new InFlight()
  readonly #replay: ReplyReplayBuffer
  /** The last that it was known to speak. */
  #era: Era = 'legacy'
  #isStarted = false
  readonly #closing = new AbortController()
  readonly #closed = new AbortController()
  readonly #started: Promise<void>
  readonly #followed: Promise<void>
  /** Until its end: requests under way are asked for also while it takes no new ones. */
  readonly #listening = new DisposableStack()

  /** Starts it; a failure shows in its state. */
  constructor(deps: HostedServerDeps, host: MCPHost, options: HostedServerOptions) {
    const { name, config, onChange = ignore } = options
    this.#deps = deps
    this.#host = host
    this.#options = options
    this.name = name
    this.#started = host.initialize(this.#configOf(config)).catch((err: unknown) => {
      const fields = { component: 'supervisor', action: 'initialize', server: name, err }
      deps.logger.error(fields, 'could not start a server')
    })
    this.#followed = this.#follow(onChange)
    this.#watched = this.#listening.use(new WatchedResources(host, name))
    this.#target = {
      host,
      ready: () => (this.#isStarted ? undefined : this.#started),
      era: () => this.#era,
      track: (work) => void this.#counted(work).catch(ignore),
      watched: this.#watched,
    }
    this.#replay = new ReplyReplayBuffer(deps.bus)
    if (options.forwarder !== undefined) this.#listen(options.forwarder)
  }

  /** As it is now; `onChange` is called a little later. */
  get snapshot(): ServerSnapshot | undefined {
    return this.#host.getServers()[0]
  }

  /** Calls that are under way. */
  get inFlight(): number {
    return this.#running.count
  }

  /** Resolves once it is ready, or has failed to be. */
  started(): Promise<void> {
    return this.#started
  }

  /** Takes requests from the server's queue until disposed, while `isHeld` returns true. */
  serve(isHeld: () => boolean): Disposable {
    const check = (): void => {
      if (isHeld()) return
      throw new BusError('unavailable', `the MCP server "${this.name}" is moving; try again`)
    }
    return this.#deps.subjects.queue(this.name, {
      runTool: (served) => {
        check()
        return this.runTool(served)
      },
      forward: (request, send) => {
        check()
        return this.forward(request, send)
      },
      watch: async (uris) => {
        check()
        return this.watch(uris)
      },
    })
  }

  /** Takes the requests of its only client until the server ends; each uses the process. */
  serveClient(client: string, use: <T>(run: (server: HostedServer) => T) => T): void {
    this.#listening.use(
      this.#deps.subjects.client(this.name, client, {
        forward: (request, send) => use((server) => server.forward(request, send)),
        watch: (uris) => use((server) => server.watch(uris)),
      }),
    )
  }

  /** Runs a request of an MCP client; an error is a reply too. */
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
    if (forwarder === undefined) throw new Error('it takes no requests of MCP clients')
    const { method, stored } = request.head
    const isCall = method === 'tools/call'
    const begin = performance.now()
    if (isCall) events.callStarted()
    using _under = this.#running.begin()
    let outcome: EndedCall['outcome'] = 'error'
    try {
      const whole =
        stored === undefined ? request : { ...request, body: await bus.blobs.get(stored) }
      const reply = await forwarder.run(this.#target, whole, send)
      if (reply.head.type !== 'error') outcome = 'ok'
      else if (reply.head.code === CANCELLED) outcome = 'cancelled'
      return reply
    } finally {
      const durationMs = performance.now() - begin
      if (isCall) events.callEnded({ server: this.name, outcome, durationMs })
    }
  }

  /** Reports changes of these resources for a while. */
  async watch(uris: readonly string[]): Promise<object> {
    await this.#started
    await this.#counted(this.#watched.watch(uris))
    return {}
  }

  /** Takes a tool call of a chat session, which waits until the server has started. */
  runTool(served: ServedRequest<RunToolRequest>): { supervisor: string } {
    const { signal: closed } = this.#closing
    const deps = {
      ...this.#deps,
      host: this.#host,
      started: this.#started,
      closed,
      running: this.#running,
    }
    return startToolCall(deps, this.name, served)
  }

  /** Makes it what a new configuration says. */
  async reload(config: ServerConfig): Promise<void> {
    await this.#host.reload(this.#configOf(config))
  }

  /** Restarts its process; calls under way fail. Throws `unavailable` when it does not become ready. */
  async restart(): Promise<void> {
    try {
      await this.#host.restart(this.name)
    } catch (error) {
      if (!(error instanceof McpHostError)) throw error
      throw new BusError('unavailable', error.message, { cause: error })
    }
  }

  /** Resolves when all calls that were taken have ended. */
  drained(): Promise<void> {
    return this.#running.idle()
  }

  /** Ends the requests that wait for their callers. */
  abandon(): void {
    this.#options.forwarder?.abandon({ host: this.#host })
  }

  /** Ends the server; calls under way fail. */
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

  /** Work that `drained` waits for. */
  async #counted<T>(work: Promise<T>): Promise<T> {
    using _under = this.#running.begin()
    return await work
  }

  /** The servers that it depends on are not in this host: the placement waits for them. */
  #configOf(config: ServerConfig): McpConfig {
    const { dependencies: _, ...alone } = config
    return { servers: { [this.name]: alone } }
  }

  #listen(forwarder: RequestForwarder): void {
    const { bus, subjects } = this.#deps
    const { name: server, client, onLeave } = this.#options
    const host = this.#host
    this.#listening.use(
      subjects.control(server, {
        cancel: (id) => forwarder.cancel({ host }, id),
        ping: (id) => {
          forwarder.ping(id)
          this.#replay.send(id)
        },
        answer: (ask, answer) => forwarder.answer(ask, answer),
        rootsChanged: (of) => {
          // A server that does not run yet asks for the roots when it does.
          if (of === client) void host.rootsChanged(server).catch(ignore)
        },
        leave: (of) => {
          if (of === client) onLeave?.()
        },
      }),
    )
    const { signal } = this.#closed
    const about = client === undefined ? {} : { client }
    const tellUpdate = ({ uri }: { uri: string }): void =>
      bus.emit(resourceUpdated, { server }, { uri, ...about })
    host.on('resource-updated', tellUpdate, { signal })
    if (client === undefined) return
    const tellCompletion = ({ elicitationId }: { elicitationId: string }): void => {
      const method = 'notifications/elicitation/complete'
      bus.emit(clientMessage, { client }, { server, method, params: { elicitationId } })
    }
    host.on('elicitation-complete', tellCompletion, { signal })
  }

  async #follow(onChange: (snapshot: ServerSnapshot) => void): Promise<void> {
    for await (const snapshot of this.#host.serverChanges({ signal: this.#closed.signal })) {
      this.#era = snapshot.era ?? this.#era
      this.#isStarted ||= snapshot.state === 'ready'
      this.#options.clientLists?.take(snapshot)
      onChange(snapshot)
    }
  }
}

const ignore = (): void => undefined
