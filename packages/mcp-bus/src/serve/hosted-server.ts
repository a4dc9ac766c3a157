import { JsonRpcCode } from '@mcp-host/mcp'
import type { Bus, ServedRequest } from '@mcp-host/bus'
import type { RunToolRequest, ServerName, SessionId } from '@mcp-host/contracts'
import { BusError, clientMessage, resourceUpdated } from '@mcp-host/contracts'
import type { Logger } from '@mcp-host/service'
import { InFlight } from '@mcp-host/async'
import type {
  ServerConfig,
  ServerRequestCallback,
  ServerSnapshot,
  Upstream,
  UpstreamEvents,
} from '@mcp-host/upstream'
import { McpHostError } from '@mcp-host/upstream'
import type { ClientLists } from '../catalog/client-lists.ts'
import type { EndedCall, SupervisorEvents } from '../tool-calls/events.ts'
import type { OpenUpstream, UpstreamAnswers } from './open-upstream.ts'
import type { SendPart } from '../requests/client-questions.ts'
import type { Era } from '../requests/eras.ts'
import type { McpReply } from '../requests/serve-request.ts'
import type { SendReply } from '../requests/reply-replay-buffer.ts'
import { ReplyReplayBuffer } from '../requests/reply-replay-buffer.ts'
import type { IncomingRequest, ServedRequests, RequestTarget } from '../requests/served-requests.ts'
import type { ResumableRequests } from '../requests/resumable-requests.ts'
import { WatchedResources } from '../requests/watched-resources.ts'
import { type CallStep, type ServeCall, serveThrough } from '../steps/serve-call.ts'
import type { Subjects } from '../subjects.ts'
import { startToolCall } from '../tool-calls/run-tool.ts'
import type { RunningCalls } from '../tool-calls/running-calls.ts'

export interface HostedServerDeps {
  readonly bus: Bus
  readonly subjects: Subjects
  readonly logger: Logger
  readonly events: SupervisorEvents
  /** The steps of every tool call. */
  readonly steps: readonly CallStep[]
  readonly calls: RunningCalls
  /** The callback that asks the user of a session or a model. */
  readonly callbackOf: (session: SessionId) => ServerRequestCallback
  readonly resumable: Pick<ResumableRequests, 'run'>
  readonly openUpstream: OpenUpstream
}

interface HostedServerOptions {
  readonly name: ServerName
  readonly config: ServerConfig
  readonly answers: UpstreamAnswers
  readonly onChange?: (snapshot: ServerSnapshot) => void
  /**
   * Runs the requests of MCP clients, and provides the callback of the server; absent when it takes no such requests.
   */
  readonly requests?: ServedRequests
  /** The client of a dedicated process, by its id. */
  readonly client?: string
  readonly clientLists?: ClientLists | undefined
  /** Called at the end of the client's session. */
  readonly onLeave?: () => void
}

/** An MCP server with its subjects on the bus. */
export class HostedServer implements AsyncDisposable {
  readonly name: ServerName
  readonly #deps: HostedServerDeps
  readonly #serve: ServeCall
  readonly #upstream: Upstream
  readonly #options: HostedServerOptions
  readonly #watched: WatchedResources
  readonly #target: RequestTarget
  readonly #running = new InFlight()
  readonly #replay: ReplyReplayBuffer
  /** The last known era of the server. */
  #era: Era = 'legacy'
  #isStarted = false
  /** Whether a change is reported in this turn of the event loop. */
  #isChanged = false
  readonly #closing = new AbortController()
  /** Aborts before, when it is told to leave. */
  readonly #leaving = new AbortController()
  readonly #closed = new AbortController()
  readonly #started: Promise<void>
  /**
   * Listeners that stay until the end: control messages concern requests in flight, even when no new ones are taken.
   */
  readonly #listening = new DisposableStack()

  /** Starts the server. The state shows a failure. */
  constructor(deps: HostedServerDeps, options: HostedServerOptions) {
    const { name, config, answers, requests } = options
    this.#deps = deps
    this.#options = options
    this.name = name
    const upstream = deps.openUpstream(name, withoutDependencies(config), answers, this.#events())
    this.#upstream = upstream
    // The state and the log have a failure.
    this.#started = upstream.start().catch(ignore)
    this.#changed()
    this.#watched = this.#listening.use(new WatchedResources(upstream))
    this.#serve = serveThrough(deps.steps)
    this.#target = {
      upstream,
      serve: this.#serve,
      ready: () => (this.#isStarted ? undefined : this.#started),
      era: () => this.#era,
      track: (work) => void this.#counted(work).catch(ignore),
      watched: this.#watched,
      leaving: this.#leaving.signal,
    }
    this.#replay = new ReplyReplayBuffer(deps.bus)
    if (requests !== undefined) this.#listen(requests)
  }

  /** The current state. `onChange` is called a little later. */
  get snapshot(): ServerSnapshot {
    return this.#upstream.snapshot()
  }

  /** The last lines that its processes wrote outside of the protocol. */
  get output(): readonly string[] {
    return this.#upstream.lastOutput
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
      serveRequest: (request, send) => checked().serveRequest(request, send),
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
        (request, send) => use((server) => server.serveRequest(request, send)),
        (uris) => use((server) => server.watch(uris)),
      ),
    )
  }

  /** Runs a request of an MCP client. Failures also become replies. */
  async serveRequest(request: IncomingRequest, send: SendReply): Promise<McpReply> {
    const { resumable } = this.#deps
    const { head } = request
    const reply = await resumable.run(head, send, (sendPart) => this.#serveNow(request, sendPart))
    this.#replay.keep(head.id, reply, send)
    return reply
  }

  async #serveNow(request: IncomingRequest, send: SendPart): Promise<McpReply> {
    const { bus, events } = this.#deps
    const { requests } = this.#options
    if (requests === undefined) throw new Error('this server takes no requests of MCP clients')
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
      const reply = await requests.serve(this.#target, complete, send)
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
      upstream: this.#upstream,
      serve: this.#serve,
      started: this.#started,
      closed: this.#closing.signal,
      leaving: this.#leaving.signal,
      running: this.#running,
    }
    return startToolCall(deps, this.name, served)
  }

  /** Changes the instances of the running server; `false` when it has to be started again. */
  adapt(config: ServerConfig): boolean {
    const isAdapted = this.#upstream.adapt(withoutDependencies(config))
    // A change of weights alone changes no state.
    if (isAdapted) this.#changed()
    return isAdapted
  }

  /** Restarts the process; calls in flight fail. Throws `unavailable` when it does not become ready. */
  async restart(): Promise<void> {
    try {
      await this.#upstream.restart()
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
    this.#leaving.abort()
    this.#options.requests?.abandon({ upstream: this.#upstream })
  }

  /** Ends the server; calls in flight fail. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort()
    this.abandon()
    await this.#upstream.stop()
    this.#report()
    this.#closed.abort()
    await this.#options.clientLists?.[Symbol.asyncDispose]()
    await this.drained()
    this.#listening.dispose()
  }

  /** Counts work as in flight. */
  async #counted<T>(work: Promise<T>): Promise<T> {
    using _running = this.#running.begin()
    return await work
  }

  #listen(requests: ServedRequests): void {
    const { subjects } = this.#deps
    const { name: server, client, onLeave } = this.#options
    const upstream = this.#upstream
    this.#listening.use(
      subjects.control(server, (control) => {
        switch (control.action) {
          case 'cancel':
            return requests.cancel({ upstream }, control.id)
          case 'ping':
            requests.ping(control.id)
            if (!this.#replay.send(control.id)) return
            this.#deps.logger.info(
              { component: 'mcp', action: 'recovered', recoveredBy: 'bus', server, id: control.id },
              'a reply that may have been lost was sent again',
            )
            return
          case 'answer':
            return requests.answer(control.ask, control.client, control)
          case 'roots-changed':
            // A server that is not ready requests the roots once it is ready.
            if (control.client === client) void upstream.rootsChanged().catch(ignore)
            return
          case 'leave':
            if (control.client === client) onLeave?.()
            return
          default:
            control satisfies never
        }
      }),
    )
  }

  #events(): UpstreamEvents {
    const { bus } = this.#deps
    const { name: server, client, requests } = this.#options
    const method = 'notifications/elicitation/complete'
    return {
      changed: () => this.#changed(),
      resourceUpdated: (uri) => {
        if (requests !== undefined) bus.emit(resourceUpdated, { server }, { uri, client })
      },
      elicitationComplete: (elicitationId) => {
        if (client === undefined) return
        bus.emit(clientMessage, { client }, { server, method, params: { elicitationId } })
      },
    }
  }

  /** Reports the latest of the changes of one turn of the event loop. */
  #changed(): void {
    if (this.#isChanged) return
    this.#isChanged = true
    queueMicrotask(() => this.#report())
  }

  #report(): void {
    if (!this.#isChanged || this.#closed.signal.aborted) return
    this.#isChanged = false
    const { clientLists, onChange } = this.#options
    const { snapshot } = this
    this.#era = snapshot.era ?? this.#era
    this.#isStarted ||= snapshot.state === 'ready'
    clientLists?.take(snapshot)
    onChange?.(snapshot)
  }
}

/** The placement waits for the dependencies, which may run elsewhere. */
function withoutDependencies(config: ServerConfig): ServerConfig {
  const { dependencies: _, ...alone } = config
  return alone
}

const ignore = (): void => undefined
