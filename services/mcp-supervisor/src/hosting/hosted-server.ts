import type { Bus, ServedRequest } from '@mcp-host/bus'
import type { RunToolRequest, ServerName } from '@mcp-host/contracts'
import {
  BusError,
  clientMessage,
  passClientRequest,
  passControl,
  passRequest,
  resourceUpdated,
  runTool,
  watchClientResources,
  watchResources,
} from '@mcp-host/contracts'
import type { Logger } from '@mcp-host/service'
import { UnderWay } from '@mcp-host/service'
import type { CancelSignal } from 'mcp-host/cancellation'
import type { McpConfig, MCPHost, ServerConfig, ServerSnapshot } from 'mcp-host'
import { McpHostError } from 'mcp-host'
import type { EndedCall, SupervisorEvents } from '../events.ts'
import { startToolCall } from '../tool-calls/run-tool.ts'
import type { RunningCalls } from '../tool-calls/running-calls.ts'
import type { SendPart } from '../mcp-requests/client-questions.ts'
import type { Era } from '../mcp-requests/eras.ts'
import type { McpReply } from '../mcp-requests/forward-request.ts'
import type { ResumableRequests } from '../mcp-requests/resumable-requests.ts'
import type { IncomingRequest, RequestForwarder, RequestTarget } from '../mcp-requests/request-forwarder.ts'
import { CANCELLED } from '../mcp-requests/request-forwarder.ts'
import type { SendReply } from '../mcp-requests/reply-replay-buffer.ts'
import { ReplyReplayBuffer } from '../mcp-requests/reply-replay-buffer.ts'
import { WatchedResources } from '../mcp-requests/watched-resources.ts'
import type { ClientLists } from '../catalog/client-lists.ts'

export interface HostedServerDeps {
  readonly bus: Bus
  readonly logger: Logger
  readonly events: SupervisorEvents
  readonly calls: RunningCalls
  readonly kept: Pick<ResumableRequests, 'run'>
}

export interface HostedServerOptions {
  readonly name: ServerName
  readonly config: ServerConfig
  /** Gets every state. */
  readonly onChange?: (snapshot: ServerSnapshot) => void
  /** The requests of MCP clients, where they may come; the host's callback is theirs. */
  readonly passed?: RequestForwarder
  /** Whom it serves alone, as the bus calls that client. */
  readonly client?: string
  /** Told of every state, and of the end. */
  readonly ownLists?: ClientLists | undefined
  /** That client's session is over. */
  readonly onLeave?: () => void
}

/** One MCP server in a host of its own, so that servers can come and go one by one. */
export class HostedServer implements AsyncDisposable {
  readonly name: ServerName
  readonly #deps: HostedServerDeps
  readonly #host: MCPHost
  readonly #options: HostedServerOptions
  readonly #watched: WatchedResources
  readonly #passedTo: RequestTarget
  readonly #running = new UnderWay()
  readonly #unheard: ReplyReplayBuffer
  /** Which it speaks, as far as known. */
  #era: Era = 'legacy'
  #isStarted = false
  readonly #closing = new AbortController()
  readonly #closed = new AbortController()
  readonly #started: Promise<void>
  readonly #followed: Promise<void>
  /** Until its end: also while it takes no more, those under way are asked for. */
  readonly #listening: DisposableStack

  /** Starts it; a failure shows in its state. */
  constructor(deps: HostedServerDeps, host: MCPHost, options: HostedServerOptions) {
    const { name, config, onChange = ignore } = options
    this.#deps = deps
    this.#host = host
    this.#options = options
    this.name = name
    this.#started = host.initialize(this.#alone(config)).catch((err: unknown) => {
      const fields = { component: 'supervisor', action: 'initialize', server: name, err }
      deps.logger.error(fields, 'could not start a server')
    })
    this.#followed = this.#follow(onChange)
    this.#watched = new WatchedResources(host, name)
    this.#passedTo = {
      host,
      ready: () => (this.#isStarted ? undefined : this.#started),
      era: () => this.#era,
      track: (work) => void this.#counted(work).catch(ignore),
      watched: this.#watched,
    }
    this.#unheard = new ReplyReplayBuffer(deps.bus)
    this.#listening = this.#listen()
  }

  /** As it is now; `onChange` may hear of it a little later. */
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

  /** Answers on the server's queue until disposed, while `isHeld` says so. */
  serve(isHeld: () => boolean): Disposable {
    const { bus } = this.#deps
    const params = { server: this.name }
    const check = (): void => {
      if (isHeld()) return
      throw new BusError('unavailable', `the MCP server "${this.name}" is moving; try again`)
    }
    const stack = new DisposableStack()
    stack.use(
      bus.serve(runTool, params, (served) => {
        check()
        return this.run(served)
      }),
    )
    stack.use(
      bus.servePassage(passRequest, params, (question, tell) => {
        check()
        return this.pass(question, tell)
      }),
    )
    stack.use(
      bus.serve(watchResources, params, async ({ request }) => {
        check()
        return this.watch(request.uris)
      }),
    )
    return stack
  }

  /** Answers its only client by name until the server ends; each request uses the process. */
  serveClient(client: string, use: <T>(run: (server: HostedServer) => T) => T): void {
    const { bus } = this.#deps
    const params = { server: this.name, client }
    this.#listening.use(
      bus.servePassage(passClientRequest, params, (question, tell) =>
        use((server) => server.pass(question, tell)),
      ),
    )
    this.#listening.use(
      bus.serve(watchClientResources, params, ({ request }) =>
        use((server) => server.watch(request.uris)),
      ),
    )
  }

  /** Runs a request of another MCP client; what goes wrong is an answer too. */
  async pass(question: IncomingRequest, tell: SendReply): Promise<McpReply> {
    const { kept } = this.#deps
    const { head } = question
    const answer = await kept.run(head, tell, (told) => this.#pass(question, told))
    this.#unheard.keep(head.id, answer, tell)
    return answer
  }

  async #pass(question: IncomingRequest, tell: SendPart): Promise<McpReply> {
    const { bus, events } = this.#deps
    const { passed } = this.#options
    if (passed === undefined) throw new Error('it takes no requests of MCP clients')
    const isCall = question.head.method === 'tools/call'
    const begin = performance.now()
    if (isCall) events.callStarted()
    using _under = this.#running.begin()
    let outcome: EndedCall['outcome'] = 'error'
    try {
      const { stored } = question.head
      const asked =
        stored === undefined ? question : { ...question, body: await bus.blobs.get(stored) }
      const answer = await passed.run(this.#passedTo, asked, tell)
      if (answer.head.type !== 'error') outcome = 'ok'
      else if (answer.head.code === CANCELLED) outcome = 'cancelled'
      return answer
    } finally {
      const durationMs = performance.now() - begin
      if (isCall) events.callEnded({ server: this.name, outcome, durationMs })
    }
  }

  /** Tells of changes of these resources for a while. */
  async watch(uris: readonly string[]): Promise<object> {
    await this.#started
    await this.#counted(this.#watched.watch(uris))
    return {}
  }

  /** As work under way. */
  async #counted<T>(work: Promise<T>): Promise<T> {
    using _under = this.#running.begin()
    return await work
  }

  /** Takes a call, which waits until the server has started. */
  run(served: ServedRequest<RunToolRequest>): { supervisor: string } {
    const { bus, logger, events, calls } = this.#deps
    const host: Pick<MCPHost, 'callTool'> = {
      callTool: async (...call) => {
        const [, , options] = call
        await unlessAborted(this.#started, options?.signal)
        return this.#host.callTool(...call)
      },
    }
    const { signal: closed } = this.#closing
    const deps = { bus, host, logger, events, closed, running: this.#running, calls }
    return startToolCall(deps, this.name, served)
  }

  /** Makes it what a new configuration says. */
  async reload(config: ServerConfig): Promise<void> {
    await this.#host.reload(this.#alone(config))
  }

  /** Its process anew; calls under way fail. Throws `unavailable` when it does not become ready. */
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

  /** Ends the requests that wait for their callers: who stops need not wait, too. */
  abandon(): void {
    this.#options.passed?.abandon({ host: this.#host })
  }

  /** Ends the server; calls under way fail. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort()
    this.abandon()
    await this.#host.shutdown()
    this.#closed.abort()
    await this.#followed
    await this.#options.ownLists?.[Symbol.asyncDispose]()
    await this.drained()
    this.#listening.dispose()
  }

  /** The other servers are not in this host: the placement waits for them. */
  #alone(config: ServerConfig): McpConfig {
    const { dependencies: _, ...alone } = config
    return { servers: { [this.name]: alone } }
  }

  #listen(): DisposableStack {
    const { bus } = this.#deps
    const { name: server, passed, client, onLeave } = this.#options
    const stack = new DisposableStack()
    stack.use(this.#watched)
    if (passed === undefined) return stack
    const host = this.#host
    stack.use(
      bus.listen(passControl, { server }, (control) => {
        switch (control.action) {
          case 'cancel':
            return passed.cancel({ host }, control.id)
          case 'ping':
            passed.ping(control.id)
            return this.#unheard.tell(control.id)
          case 'answer':
            return passed.answer(control.ask, control)
          case 'roots-changed':
            // One that is not there asks when it is.
            if (control.client === client) void host.rootsChanged(server).catch(ignore)
            return undefined
          case 'leave':
            if (control.client === client) onLeave?.()
            return undefined
          default:
            return control satisfies never
        }
      }),
    )
    const { signal } = this.#closed
    const own = client === undefined ? {} : { client }
    host.on(
      'resource-updated',
      ({ uri }) => bus.emit(resourceUpdated, { server }, { uri, ...own }),
      {
        signal,
      },
    )
    if (client === undefined) return stack
    host.on(
      'elicitation-complete',
      ({ elicitationId }) => {
        const method = 'notifications/elicitation/complete'
        bus.emit(clientMessage, { client }, { server, method, params: { elicitationId } })
      },
      { signal },
    )
    return stack
  }

  async #follow(onChange: (snapshot: ServerSnapshot) => void): Promise<void> {
    for await (const snapshot of this.#host.serverChanges({ signal: this.#closed.signal })) {
      this.#era = snapshot.era ?? this.#era
      this.#isStarted ||= snapshot.state === 'ready'
      this.#options.ownLists?.take(snapshot)
      onChange(snapshot)
    }
  }
}

const ignore = (): void => undefined

/** Throws the signal's reason where that comes first. */
async function unlessAborted(promise: Promise<void>, signal: CancelSignal | undefined) {
  const cut = Promise.withResolvers<never>()
  const onAbort = (): void => cut.reject(signal?.reason)
  signal?.addEventListener('abort', onAbort)
  if (signal?.aborted === true) onAbort()
  try {
    await Promise.race([promise, cut.promise])
  } finally {
    signal?.removeEventListener('abort', onAbort)
  }
}
