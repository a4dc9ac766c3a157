import { aborted, Cancellation, SlotMap, timeLimit } from '@mcp-host/async'
import type {
  CallToolResult,
  CompleteResult,
  GetPromptResult,
  LoggingLevel,
  ReadResourceResult,
} from '@modelcontextprotocol/client'
import type { Inventory } from './inventory/inventory.ts'
import { type InstanceSet, type InstancesDeps, openInstances } from './open-instances.ts'
import type { CallToolOptions, ForwardOptions, RequestOptions } from './requests/options.ts'
import type { ServerConfig } from './endpoints/index.ts'
import type { ServerSnapshot } from './instance/server-snapshot.ts'
import type { ServerState } from './instance/server-state.ts'

/** A request that `abort` can end. */
interface Abortable {
  readonly requestId: string
  readonly cancellation: Cancellation
}

interface Retired {
  readonly server: { readonly config: ServerConfig; stop(): Promise<void> }
  readonly client: { idle(): Promise<void> }
}

/**
 * One MCP server, however it is reached: by one connection at a time, or by several instances that share the requests.
 * It is used once: `start`, any number of requests, `stop`.
 */
export class Upstream implements AsyncDisposable {
  readonly name: string
  readonly #member: InstanceSet
  readonly #abortable = new SlotMap<Abortable>()
  readonly #retireLimitMs: number
  readonly #stopping = new AbortController()
  /** Stops of instances that are not used any more. */
  readonly #retiring = new Set<Promise<void>>()

  constructor(deps: InstancesDeps, name: string, config: ServerConfig) {
    this.name = name
    this.#member = openInstances(deps, name, config)
    this.#retireLimitMs = deps.options.maxToolTimeoutMs
  }

  get config(): ServerConfig {
    return this.#member.server.config
  }

  get state(): ServerState {
    return this.#member.server.state
  }

  /** The lists of the last connection, which may have ended. */
  get inventory(): Inventory | undefined {
    return this.#member.server.lastLive?.inventory
  }

  snapshot(): ServerSnapshot {
    return this.#member.server.snapshot()
  }

  /**
   * The last lines that its processes wrote outside of the protocol, also while it works or after it was stopped; of
   * several instances, one after the other. Secrets of its configuration and folders are left out.
   */
  get lastOutput(): readonly string[] {
    return this.#member.instances.flatMap(({ lastOutput }) => lastOutput)
  }

  /**
   * Starts the server once its dependencies have settled, with retries. Throws `ServerStartupError` when it does not
   * start; its restart policy applies then.
   */
  start(dependencies?: Promise<unknown>): Promise<void> {
    return this.#member.server.start(dependencies)
  }

  /** Stops and starts the server, even after its restart policy has given up. Throws `ServerStartupError`. */
  restart(): Promise<void> {
    return this.#member.server.restart()
  }

  /** Starts the instances that only wait for dependencies. Failures are in the state and the log. */
  wake(): void {
    for (const each of this.#member.instances) {
      if (each.isWaitingForDependencies) each.restart().catch(() => undefined)
    }
  }

  /** Stops the server with all its processes. Never throws. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await Promise.all([this.#member.server.stop(), ...this.#retiring])
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  /** Stops the server once its requests have ended, or have had the longest time for a request. */
  async retire(): Promise<void> {
    await this.#retire({ server: this, client: this.#member.client })
  }

  /** Changes the instances of the running server; `false` when it has to be replaced, since no unchanged one is ready. */
  adapt(config: ServerConfig): boolean {
    const adaptation = this.#member.adapt(config)
    if (adaptation === undefined) return false
    // Failures are in the state and the log.
    for (const { server } of adaptation.added) server.start().catch(() => undefined)
    for (const instance of adaptation.removed) {
      const retired = this.#retire(instance)
      this.#retiring.add(retired)
      void retired.finally(() => this.#retiring.delete(retired))
    }
    return true
  }

  /**
   * Calls a tool. The result is returned as received, also with `isError`.
   *
   * Throws `ValidationError`, without a call of the server, for an unknown tool or invalid arguments. Throws
   * `TimeoutError`, `ServerUnavailableError` (also when the server ends during the call), `ProtocolError` (also for a
   * result that breaks the tool's `outputSchema`), `ToolExecutionError` where requested, or the reason of `signal`.
   */
  callTool(
    tool: string,
    args: Readonly<Record<string, unknown>>,
    options: CallToolOptions = {},
  ): Promise<CallToolResult> {
    return this.#abortably(options, (request) =>
      this.#member.client.request(request, (one, own) => one.callTool(tool, args, own), tool),
    )
  }

  /**
   * Sends a request of another MCP client, with all its parameters, and returns the result as received. Arguments of
   * tools are checked. `options.meta` replaces the `_meta` of the parameters. Throws as `callTool` does; the `rpcError`
   * of a `ProtocolError` is the server's answer.
   */
  request(
    method: string,
    params: Readonly<Record<string, unknown>>,
    options: ForwardOptions = {},
  ): Promise<unknown> {
    const tool = method === 'tools/call' ? String(params['name']) : undefined
    return this.#abortably(options, (request) =>
      this.#member.client.request(request, (one, own) => one.request(method, params, own), tool),
    )
  }

  /** A prompt with its arguments. Throws as `callTool` does. */
  getPrompt(
    name: string,
    args: Readonly<Record<string, string>>,
    options: RequestOptions = {},
  ): Promise<GetPromptResult> {
    return this.#abortably(options, (request) =>
      this.#member.client.request(request, (one, own) => one.getPrompt(name, args, own)),
    )
  }

  /** The contents of a resource. Throws as `callTool` does. */
  readResource(uri: string, options: RequestOptions = {}): Promise<ReadResourceResult> {
    return this.#abortably(options, (request) =>
      this.#member.client.request(request, (one, own) => one.readResource(uri, own)),
    )
  }

  /** Suggests values for an argument of a prompt or a resource template. Throws as `callTool` does. */
  complete(
    params: Readonly<Record<string, unknown>>,
    options: RequestOptions = {},
  ): Promise<CompleteResult> {
    return this.#abortably(options, (request) =>
      this.#member.client.request(request, (one, own) => one.complete(params, own)),
    )
  }

  /** Subscribes to a resource, also after restarts. */
  subscribe(uri: string, options: Pick<RequestOptions, 'timeoutMs'> = {}): Promise<void> {
    return this.#member.client.notify((one) => one.subscribe(uri, options))
  }

  /** Ends a `subscribe`. */
  unsubscribe(uri: string, options: Pick<RequestOptions, 'timeoutMs'> = {}): Promise<void> {
    return this.#member.client.notify((one) => one.unsubscribe(uri, options))
  }

  /** Notifies a legacy server that the roots have changed. Throws `ServerUnavailableError`. */
  rootsChanged(): Promise<void> {
    return this.#member.client.notify((one) => one.rootsChanged())
  }

  setLoggingLevel(level: LoggingLevel): Promise<void> {
    return this.#member.client.notify((one) => one.setLoggingLevel(level, {}))
  }

  /**
   * Aborts the requests in flight with this id; `false` when there is none. They throw `reason`, by default an
   * `AbortError`.
   */
  abort(requestId: string, reason?: unknown): boolean {
    const matching = [...this.#abortable.values()].filter((each) => each.requestId === requestId)
    for (const { cancellation } of matching) cancellation.cancel(reason)
    return matching.length > 0
  }

  async #retire({ server, client }: Retired): Promise<void> {
    const limitMs = Math.max(this.#retireLimitMs, server.config.maxTimeoutMs ?? 0)
    const over = AbortSignal.any([timeLimit(limitMs), this.#stopping.signal])
    await Promise.race([client.idle(), aborted(over)])
    await server.stop()
  }

  /** Registers a request with an id, so that `abort` can end it. */
  async #abortably<Options extends RequestOptions, Result>(
    options: Options,
    send: (options: Options) => Promise<Result>,
  ): Promise<Result> {
    const { requestId, signal } = options
    if (requestId === undefined) return send(options)
    signal?.throwIfAborted()
    const cancellation = new Cancellation()
    const key = this.#abortable.add({ requestId, cancellation })
    const cancel = signal && ((): void => cancellation.cancel(signal.reason))
    if (cancel !== undefined) signal?.addEventListener('abort', cancel)
    try {
      return await send({ ...options, signal: cancellation })
    } finally {
      this.#abortable.delete(key)
      if (cancel !== undefined) signal?.removeEventListener('abort', cancel)
    }
  }
}
