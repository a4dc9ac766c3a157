import type {
  CallToolResult,
  CompleteRequestParams,
  CompleteResult,
  GetPromptResult,
  LoggingLevel,
  ReadResourceResult,
} from '@modelcontextprotocol/client'

import { TtlCache } from './cache/ttl-cache.ts'
import { type ConfigGiven, ConfigSource, ConfigurationError } from '@mcp-host/mcp-json'
import type { ReloadReport } from '@mcp-host/mcp-json'
import type {
  CacheableOptions,
  CallToolOptions,
  ErrorContext,
  ForwardOptions,
  HostMetrics,
  HostTool,
  RequestOptions,
  ServerConfig,
  ServerSnapshot,
} from '@mcp-host/upstream'
import {
  callbackOf,
  handledKinds,
  SERVER_REQUEST_KINDS,
  type ServerRequestCallback,
  type ServerRequestHandlers,
  type ServerRequestKind,
  ServerUnavailableError,
  Upstream,
  ValidationError,
} from '@mcp-host/upstream'
import { EventChannel, type EventOfType } from './events/event-channel.ts'
import type { HostEvent } from './events/host-event.ts'
import { LatestByKey } from './events/latest-by-key.ts'
import { type MCPHostOptions, type SettledOptions, withDefaults } from './host-options.ts'
import { bindLogger, Guardian } from '@mcp-host/process'
import type { PromptIdentity, ResourceIdentity, ToolIdentity } from '@mcp-host/mcp'
import { Router } from './routing/router.ts'
import { ServerCache } from './cache/server-cache.ts'
import { type GroupMember, ServerGroup } from './server/server-group.ts'

export interface ServerChangesOptions {
  /** Ends the iteration. */
  readonly signal: AbortSignal
}

export interface EventsOptions<Type extends HostEvent['type']> extends ServerChangesOptions {
  /** Default: all. */
  readonly types?: readonly Type[]
}

/** The parameters of `MCPHost.complete`: an argument of a prompt or of a resource template. */
export type CompleteParams = Omit<CompleteRequestParams, '_meta'>

/**
 * Runs MCP servers, or connects to them, and gives access to their tools, prompts and resources. A host is used once:
 * `initialize`, any number of requests, `shutdown`. Servers and all their processes end with `shutdown`, and also when
 * the process of the host is killed.
 */
export class MCPHost implements AsyncDisposable {
  readonly #options: SettledOptions
  readonly #guardian: Guardian
  readonly #ownsGuardian: boolean
  readonly #cache: TtlCache<object> | undefined
  readonly #group: ServerGroup
  readonly #source: ConfigSource
  readonly #router = new Router(() => this.#group.members.map(({ upstream }) => upstream))
  readonly #events: EventChannel<HostEvent>
  readonly #readers = new Set<LatestByKey<ServerSnapshot>>()
  #callback: ServerRequestCallback = () => undefined
  #answered: ReadonlySet<ServerRequestKind> = new Set()
  #initialized: Promise<void> | undefined
  #stopped: Promise<void> | undefined
  #isShutDown = false

  constructor(options: MCPHostOptions = {}) {
    const { cache = {}, guardian, ...rest } = options
    this.#options = withDefaults(rest)
    this.#ownsGuardian = guardian === undefined
    this.#guardian = guardian ?? new Guardian()
    if (cache !== false) {
      const { ttlMs = 300_000, maxEntries = 1000 } = cache
      this.#cache = new TtlCache({ ttlMs, maxEntries })
    }
    const { env, logger, watch, askInput, strict, workspaceFolder } = this.#options
    this.#source = new ConfigSource(
      {
        env,
        logger: bindLogger(logger, { component: 'config', action: 'load' }),
        askInput,
        onWarning: (warning) => this.#events.emit({ type: 'config-warning', warning }),
        onChange: watch ? (): void => void this.#reloadChanged() : undefined,
      },
      { strict, ...(workspaceFolder === undefined ? {} : { workspaceFolder }) },
    )
    this.#events = new EventChannel({
      onListenerError: (error) =>
        logger.error({ component: 'host', action: 'event', err: error }, 'a listener failed'),
    })
    this.#group = new ServerGroup(
      {
        create: (name, config) => this.#create(name, config),
        onPlaced: ({ upstream }) => this.#changed(upstream),
      },
      { startLimitMs: this.#options.startAllTimeoutMs },
    )
  }

  /**
   * Registers handlers for requests of servers: sampling, elicitation, roots, log messages. Only kinds with a handler
   * are declared to servers. A handler that returns `undefined` declines. Throws when the host is initialized already,
   * since capabilities are declared at the start.
   */
  registerCallback(handlers: ServerRequestHandlers): void
  /** Registers one function for all kinds, or for the listed ones. */
  registerCallback(callback: ServerRequestCallback, kinds?: readonly ServerRequestKind[]): void
  registerCallback(
    handlers: ServerRequestHandlers | ServerRequestCallback,
    kinds: readonly ServerRequestKind[] = SERVER_REQUEST_KINDS,
  ): void {
    if (this.#initialized !== undefined) {
      throw new Error('register the callback before you initialize the host')
    }
    const isFunction = typeof handlers === 'function'
    this.#callback = isFunction ? handlers : callbackOf(handlers)
    this.#answered = new Set(isFunction ? kinds : handledKinds(handlers))
  }

  /**
   * Starts all servers, each after its dependencies. The configuration is the path of an `mcp.json`, an object of the
   * same form (relative paths are relative to the current folder), or the result of `loadMcpConfig`. Throws
   * `ConfigurationError` before anything starts, under `best-effort` not for the faults of single servers, which are
   * left out and reported as `config-warning`; throws `ServerStartupError`, with every server stopped again, under the
   * policy `all-or-nothing`.
   */
  async initialize(config: ConfigGiven): Promise<void> {
    if (this.#initialized !== undefined) throw new Error('the host is initialized already')
    this.#initialized = this.#initialize(config)
    try {
      await this.#initialized
    } catch (error) {
      // Nothing was started, so `initialize` may be called again.
      if (error instanceof ConfigurationError) this.#initialized = undefined
      throw error
    }
  }

  /**
   * Applies a new configuration: by default the file of `initialize`, read again. Unchanged servers are not touched,
   * calls in flight are finished. Throws `ConfigurationError` with nothing changed. A server that cannot start becomes
   * unavailable, which is no error of the reload.
   */
  async reload(config?: ConfigGiven): Promise<ReloadReport> {
    if (this.#initialized === undefined) throw new Error('initialize the host before a reload')
    const next = await this.#source.read(config)
    // Waits for a start in flight, whose caller gets its failure.
    await this.#initialized.catch(() => undefined)
    const report = await this.#group.reload(next)
    this.#source.follow(config)
    for (const name of report.removed) this.#options.metrics.forget(name)
    return report
  }

  /** Stops all servers and all processes that they started. Later calls wait for the first. Never throws. */
  shutdown(): Promise<void> {
    return (this.#stopped ??= this.#shutdown())
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.shutdown()
  }

  /** Every configured server with its lists, in the order of the configuration. */
  getServers(): readonly ServerSnapshot[] {
    return this.#group.members.map(({ upstream }) => upstream.snapshot())
  }

  /**
   * The tools of all ready servers, in the order of the configuration. `callTool` takes each, or its `name`, which is
   * `{server}.{tool}`.
   */
  getTools(): readonly HostTool[] {
    return this.getServers().flatMap(({ name: server, tools }) =>
      tools.map((tool) => ({ ...tool, name: `${server}.${tool.name}`, server, tool: tool.name })),
    )
  }

  /** Counts and latencies since the start, per server and tool. */
  getMetrics(): HostMetrics {
    return this.#options.metrics.snapshot()
  }

  /**
   * Yields a snapshot of every server, then a further one after each change of state or lists, until the shutdown is
   * complete. A slow reader gets only the latest snapshot of each server.
   */
  async *serverChanges({ signal }: ServerChangesOptions): AsyncGenerator<ServerSnapshot, void> {
    const reader = new LatestByKey<ServerSnapshot>()
    const close = (): void => reader.close()
    for (const snapshot of this.getServers()) reader.put(snapshot.name, snapshot)
    if (this.#isShutDown || signal.aborted) close()
    this.#readers.add(reader)
    signal.addEventListener('abort', close)
    try {
      for await (const snapshot of reader.read()) {
        if (signal.aborted) return
        yield snapshot
      }
    } finally {
      signal.removeEventListener('abort', close)
      this.#readers.delete(reader)
    }
  }

  /** All events until the shutdown is done. A reader with 1,000 unread events gets an error at the next one. */
  events<Type extends HostEvent['type'] = HostEvent['type']>(
    options: EventsOptions<Type>,
  ): AsyncGenerator<EventOfType<HostEvent, Type>, void, undefined> {
    return this.#events.read(options)
  }

  /** Calls `listener` for every event of a type, until it is disposed of or the signal aborts. */
  on<Type extends HostEvent['type']>(
    type: Type,
    listener: (event: EventOfType<HostEvent, Type>) => unknown,
    options: { readonly signal?: AbortSignal } = {},
  ): Disposable {
    return this.#events.on(type, listener, options)
  }

  /**
   * Calls a tool, named `{server}.{tool}` or by the pair. The result is returned as received, also with `isError`.
   *
   * Throws `ValidationError`, without a call of the server, for an unknown tool or invalid arguments. Throws
   * `TimeoutError`, `ServerUnavailableError` (also when the server ends during the call), `ProtocolError` (also for a
   * result that breaks the tool's `outputSchema`), `ToolExecutionError` where requested, or the reason of `signal`.
   */
  async callTool(
    tool: string | ToolIdentity,
    args: Readonly<Record<string, unknown>> = {},
    options: CallToolOptions = {},
  ): Promise<CallToolResult> {
    const identity = typeof tool === 'string' ? this.#router.findTool(tool, options) : tool
    const { server, tool: name } = identity
    const { upstream } = this.#member(server, { tool: name, requestId: options.requestId })
    return upstream.callTool(name, args, options)
  }

  /**
   * Forwards a request of another MCP client to a server, with all its parameters, and returns the result as received.
   * Arguments of tools are checked; the cache is not used. `options.meta` replaces the `_meta` of the parameters. Throws
   * as `callTool` does; the `rpcError` of a `ProtocolError` is the server's answer.
   */
  async forward(
    server: string,
    method: string,
    params: Readonly<Record<string, unknown>>,
    options: ForwardOptions = {},
  ): Promise<unknown> {
    return this.#member(server, options).upstream.request(method, params, options)
  }

  /**
   * A prompt, named `{server}.{prompt}` or by the pair, with its arguments. One from the cache has `"mcp-host/cache"` in
   * its `_meta`: `hit`, or `stale` while its server is away. Throws as `callTool` does.
   */
  async getPrompt(
    prompt: string | PromptIdentity,
    args: Readonly<Record<string, string>> = {},
    options: CacheableOptions = {},
  ): Promise<GetPromptResult> {
    const { server, name } = this.#router.findPrompt(prompt, options)
    const { upstream, cache } = this.#member(server, options)
    return cache.getPrompt(name, args, options, () => upstream.getPrompt(name, args, options))
  }

  /**
   * The contents of a resource, by its URI or the pair. A URI that several servers have is written
   * `mcp://{server}/{encoded uri}` or as the pair. Cached results are marked as for `getPrompt`. Throws as `callTool`
   * does.
   */
  async getResource(
    resource: string | ResourceIdentity,
    options: CacheableOptions = {},
  ): Promise<ReadResourceResult> {
    const { server, uri } = this.#router.findResource(resource, options)
    const { upstream, cache } = this.#member(server, options)
    return cache.readResource(uri, options, () => upstream.readResource(uri, options))
  }

  /** Suggests values for an argument of a prompt (named `{server}.{prompt}`) or a resource template. Throws as `callTool`. */
  async complete(
    { ref, ...params }: CompleteParams,
    options: RequestOptions = {},
  ): Promise<CompleteResult> {
    const { server, ...rest } =
      ref.type === 'ref/prompt'
        ? this.#router.findPrompt(ref.name, options)
        : this.#router.findResource(ref.uri, options)
    const { upstream } = this.#member(server, options)
    return upstream.complete({ ref: { ...ref, ...rest }, ...params }, options)
  }

  /** Subscribes to a resource, also after restarts. Changes are `resource-updated` events. */
  async subscribe(
    resource: string | ResourceIdentity,
    options: Pick<RequestOptions, 'timeoutMs'> = {},
  ): Promise<void> {
    const { server, uri } = this.#router.findResource(resource, {})
    await this.#member(server, {}).upstream.subscribe(uri, options)
  }

  /** Ends a `subscribe`. */
  async unsubscribe(
    resource: string | ResourceIdentity,
    options: Pick<RequestOptions, 'timeoutMs'> = {},
  ): Promise<void> {
    const { server, uri } = this.#router.findResource(resource, {})
    await this.#member(server, {}).upstream.unsubscribe(uri, options)
  }

  /** Notifies a legacy server that the roots have changed. Throws `ServerUnavailableError`. */
  async rootsChanged(server: string): Promise<void> {
    await this.#member(server, {}).upstream.rootsChanged()
  }

  /** Sets the log level of one server, or of every ready one. */
  async setLoggingLevel(level: LoggingLevel, server?: string): Promise<void> {
    const members =
      server === undefined
        ? this.#group.members.filter(({ upstream }) => upstream.state === 'ready')
        : [this.#member(server, {})]
    await Promise.all(members.map(({ upstream }) => upstream.setLoggingLevel(level)))
  }

  /**
   * Aborts the requests in flight with this id; `false` when there is none. They throw `reason`, by default an
   * `AbortError`.
   */
  abort(requestId: string, reason?: unknown): boolean {
    const aborted = this.#group.all.map(({ upstream }) => upstream.abort(requestId, reason))
    return aborted.includes(true)
  }

  /**
   * Stops one server and starts it again, even if its restart policy has given up. Throws `ServerStartupError` when it
   * does not start, `ValidationError` when there is no such server.
   */
  async restart(server: string): Promise<void> {
    await this.#member(server, {}).upstream.restart()
  }

  /**
   * The last lines that the processes of a server wrote outside of the protocol, also while it works or after it was
   * stopped; of several instances, one after the other. Secrets of its configuration and folders are left out.
   */
  lastOutput(server: string): readonly string[] {
    return this.#group.get(server)?.upstream.lastOutput ?? []
  }

  async #initialize(config: ConfigGiven): Promise<void> {
    // The file is watched before it is read, so that no change is missed.
    this.#source.follow(config)
    const reading = this.#source.read(config)
    const read = reading instanceof Promise ? await reading : reading
    if (this.#stopped !== undefined) throw new Error('the host is shut down')
    const faults = Object.values(read.faulty ?? {}).flat()
    if (faults.length > 0 && this.#options.startPolicy === 'all-or-nothing') {
      throw new ConfigurationError(faults)
    }
    try {
      await this.#group.start(read, this.#options.startPolicy)
    } catch (error) {
      await this.shutdown()
      throw error
    }
  }

  async #shutdown(): Promise<void> {
    this.#source[Symbol.dispose]()
    await this.#group.stop()
    if (this.#ownsGuardian) await this.#guardian[Symbol.asyncDispose]()
    this.#isShutDown = true
    for (const reader of this.#readers) reader.close()
    this.#events.close()
  }

  /** Reloads the watched file after a change. */
  async #reloadChanged(): Promise<void> {
    if (this.#initialized === undefined) return
    try {
      const report = await this.reload()
      this.#events.emit({ type: 'reload', report })
    } catch (error) {
      // Any other error means that the host is being shut down.
      if (!(error instanceof ConfigurationError)) return
      const fields = { component: 'host', action: 'reload', err: error }
      this.#options.logger.error(fields, 'the changed configuration is faulty')
      this.#events.emit({ type: 'reload-failed', error })
    }
  }

  #create(name: string, config: ServerConfig): GroupMember {
    const emit = (event: HostEvent): void => this.#events.emit(event)
    const cache = new ServerCache(
      { cache: this.#cache, isAway: () => upstream.state !== 'ready' },
      name,
    )
    const upstream = new Upstream(
      {
        options: this.#options,
        guardian: this.#guardian,
        callback: this.#callback,
        answered: this.#answered,
        missing: (needing) => this.#group.missing(needing),
        events: {
          changed: () => this.#changed(upstream),
          listOutdated: (list) => {
            if (list === 'prompts') cache.forget('prompt')
            if (list === 'resources') cache.forget('resource')
          },
          listChanged: (list) => emit({ type: 'list-changed', server: name, list }),
          resourceUpdated: (uri) => {
            cache.forget('resource', uri)
            emit({ type: 'resource-updated', server: name, uri })
          },
          elicitationComplete: (elicitationId) =>
            emit({ type: 'elicitation-complete', server: name, elicitationId }),
          logged: (message) => emit({ type: 'log', ...message }),
          refused: (tool, reason) => emit({ type: 'security', server: name, tool, reason }),
          // Results of removed instances are dropped.
          adapted: () => {
            cache.forget('prompt')
            cache.forget('resource')
          },
        },
      },
      name,
      config,
    )
    return { upstream, cache }
  }

  /** Reports a changed server, except a replaced one and a successor that is not in use yet. */
  #changed(upstream: Upstream): void {
    const { name } = upstream
    const current = this.#group.get(name)?.upstream
    if (current !== undefined && current !== upstream) return
    if (current === undefined) this.#router.forget(name)
    else this.#router.update(upstream)
    const snapshot = upstream.snapshot()
    for (const reader of this.#readers) reader.put(name, snapshot)
    this.#events.emit({ type: 'server', server: snapshot })
    if (snapshot.state === 'ready') this.#group.wakeDependents(name)
  }

  #member(name: string, context: Pick<ErrorContext, 'tool' | 'requestId'>): GroupMember {
    if (this.#stopped !== undefined) {
      throw new ServerUnavailableError('the host is shut down', { ...context, server: name })
    }
    const member = this.#group.get(name)
    if (member !== undefined) return member
    throw new ValidationError(`there is no server "${name}"${this.#router.notReady()}`, [], {
      server: name,
      requestId: context.requestId,
    })
  }
}
