import type { CallToolResult } from '@modelcontextprotocol/client'

import { checkConfig } from './config/check-config.ts'
import { loadMcpConfig } from './config/load-mcp-config.ts'
import type { McpConfig } from './config/mcp-config.ts'
import { ValidationError } from './errors/validation-error.ts'
import { LatestByKey } from './events/latest-by-key.ts'
import { type Logger, silentLogger } from './logger.ts'
import type { Environment } from './environment.ts'
import { Guardian } from './process/guardian.ts'
import type { ServerSnapshot } from './server/server-snapshot.ts'
import { Server } from './server/server.ts'
import { type ToolIdentity, ToolTable } from './tool-table.ts'

/**
 * What one server's failed start means: `all-or-nothing` stops all and throws, `best-effort` goes
 * on without it.
 */
export type StartPolicy = 'all-or-nothing' | 'best-effort'

export interface MCPHostOptions {
  /**
   * Where `${NAME}` in the configuration comes from, mostly `process.env`. Servers see only a safe
   * part of it (`PATH`, `HOME`, language, time zone) besides what is configured for them.
   */
  readonly env: Environment
  /** Default: silent. */
  readonly logger?: Logger
  /** Default `all-or-nothing`. */
  readonly startPolicy?: StartPolicy
  /** From a server's launch to its first list of tools, in milliseconds; default 30,000. */
  readonly startTimeoutMs?: number
  /** The limit of a tool call without one of its own, in milliseconds; default 60,000. */
  readonly defaultToolTimeoutMs?: number
  /** How long a server may take to stop before it is killed, in milliseconds; default 10,000. */
  readonly stopGraceMs?: number
}

export interface CallToolOptions {
  /** Its abort cancels the call at the server; the call then throws the signal's reason. */
  readonly signal?: AbortSignal
  /** In milliseconds; default: that of the server, else of the host. */
  readonly timeoutMs?: number
  /** Goes with the errors and log lines of this call. */
  readonly requestId?: string
}

export interface ServerChangesOptions {
  /** Ends the iteration. */
  readonly signal: AbortSignal
}

/**
 * Runs MCP servers and calls their tools.
 *
 * It has one life: `initialize`, any number of calls, `shutdown`. Servers and all that they start
 * are gone after `shutdown`, and also when the process of the host is killed.
 */
export class MCPHost implements AsyncDisposable {
  readonly #options: Required<MCPHostOptions>
  readonly #guardian = new Guardian()
  readonly #servers = new Map<string, Server>()
  readonly #tools = new ToolTable()
  readonly #readers = new Set<LatestByKey<ServerSnapshot>>()
  #initialized: Promise<void> | undefined
  #stopped: Promise<void> | undefined
  #isShutDown = false

  constructor(options: MCPHostOptions) {
    this.#options = {
      logger: silentLogger,
      startPolicy: 'all-or-nothing',
      startTimeoutMs: 30_000,
      defaultToolTimeoutMs: 60_000,
      stopGraceMs: 10_000,
      ...options,
    }
  }

  /**
   * Starts all servers at once, from the path of an `mcp.json` or a configuration already read.
   * Throws `ConfigurationError` before anything starts; throws `ServerStartupError`, with every
   * server stopped again, under the policy `all-or-nothing`.
   */
  async initialize(config: string | McpConfig): Promise<void> {
    if (this.#initialized !== undefined) throw new Error('the host is initialized already')
    this.#initialized = this.#initialize(config)
    await this.#initialized
  }

  /** Stops all servers with all that they started. Later calls wait for the first. Never throws. */
  shutdown(): Promise<void> {
    return (this.#stopped ??= this.#shutdown())
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.shutdown()
  }

  /** Every configured server, in the order of the configuration. */
  getTools(): readonly ServerSnapshot[] {
    return Array.from(this.#servers.values(), (server) => server.snapshot())
  }

  /**
   * Every server as it is now, then each again whenever its state or its tools change, until the
   * shutdown is done. A slow reader sees the latest of each server, not every step.
   */
  async *serverChanges({ signal }: ServerChangesOptions): AsyncGenerator<ServerSnapshot, void> {
    const reader = new LatestByKey<ServerSnapshot>()
    const close = (): void => reader.close()
    for (const server of this.#servers.values()) reader.put(server.name, server.snapshot())
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

  /**
   * Calls a tool, named `{server}.{tool}` or by the pair. The result is passed on as received: one
   * with `isError` is a result.
   *
   * Throws, with the server not called, `ValidationError` for an unknown tool or arguments that
   * its schema refuses. Throws `TimeoutError`, `ServerUnavailableError` (also when the server ends
   * during the call), `ProtocolError`, or the reason of `signal`.
   */
  async callTool(
    tool: string | ToolIdentity,
    args: Readonly<Record<string, unknown>> = {},
    { signal, timeoutMs, requestId }: CallToolOptions = {},
  ): Promise<CallToolResult> {
    const identity = typeof tool === 'string' ? this.#tools.find(tool) : tool
    const server = identity === undefined ? undefined : this.#servers.get(identity.server)
    if (identity === undefined || server === undefined) {
      const name = typeof tool === 'string' ? tool : `${tool.server}.${tool.tool}`
      const message = `there is no tool "${name}"${this.#missing()}`
      throw new ValidationError(message, [], { ...identity, requestId })
    }
    return server.callTool(identity.tool, args, { signal, timeoutMs, requestId })
  }

  async #initialize(config: string | McpConfig): Promise<void> {
    const { env, logger, startPolicy, ...limits } = this.#options
    const { servers } = typeof config === 'string' ? await loadMcpConfig(config, env) : config
    checkConfig({ servers })
    if (this.#stopped !== undefined) throw new Error('the host is shut down')
    const onChange = (server: Server): void => this.#changed(server)
    const deps = { guardian: this.#guardian, logger, env, onChange }
    for (const [name, server] of Object.entries(servers)) {
      const { stopGraceMs: graceMs, startTimeoutMs, defaultToolTimeoutMs } = limits
      const options = { name, config: server, startTimeoutMs, defaultToolTimeoutMs, graceMs }
      this.#servers.set(name, new Server(deps, options))
    }
    const starts = Array.from(this.#servers.values(), (server) => {
      this.#changed(server)
      return server.start()
    })
    if (startPolicy === 'best-effort') {
      // A failure is logged by its server and stays visible in its state.
      await Promise.allSettled(starts)
      return
    }
    try {
      await Promise.all(starts)
    } catch (error) {
      await this.shutdown()
      throw error
    }
  }

  async #shutdown(): Promise<void> {
    await Promise.all(Array.from(this.#servers.values(), (server) => server.stop()))
    await this.#guardian[Symbol.asyncDispose]()
    this.#isShutDown = true
    for (const reader of this.#readers) reader.close()
  }

  #changed(server: Server): void {
    this.#tools.update(server)
    for (const reader of this.#readers) reader.put(server.name, server.snapshot())
  }

  /** A server that never was ready has no names in the table: say so rather than "unknown" alone. */
  #missing(): string {
    const missing = [...this.#servers.values()].filter(({ state }) => state !== 'ready')
    if (missing.length === 0) return ''
    return ` (not ready: ${missing.map(({ name }) => name).join(', ')})`
  }
}
