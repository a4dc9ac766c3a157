import { type CallToolResult, Client } from '@modelcontextprotocol/client'
import * as z from 'zod'

import { ArgumentValidator } from '../arguments/argument-validator.ts'
import type { ServerConfig } from '../config/mcp-config.ts'
import type { McpHostError } from '../errors/mcp-host-error.ts'
import { ServerStartupError } from '../errors/server-startup-error.ts'
import { ServerUnavailableError } from '../errors/server-unavailable-error.ts'
import { type ArgumentIssue, ValidationError } from '../errors/validation-error.ts'
import { bindLogger, type Logger } from '../logger.ts'
import type { Environment } from '../environment.ts'
import { childEnvironment } from '../process/child-environment.ts'
import type { Guardian } from '../process/guardian.ts'
import { LaunchError } from '../process/launch.ts'
import { StdioTransport } from '../transport/stdio.ts'
import { CLIENT_INFO } from './client-info.ts'
import { coalesce } from './coalesce.ts'
import { discoverTools } from './discover-tools.ts'
import type { ServerSnapshot } from './server-snapshot.ts'
import { moveState, type ServerState } from './server-state.ts'
import { toCallError } from './to-call-error.ts'
import type { Tool } from './tool.ts'

export interface ServerDeps {
  readonly guardian: Guardian
  readonly logger: Logger
  readonly env: Environment
  /** Told after every change of state or tools. */
  readonly onChange: (server: Server) => void
}

export interface ServerOptions {
  readonly name: string
  readonly config: ServerConfig
  /** From the start of the process to the first list of tools, in milliseconds. */
  readonly startTimeoutMs: number
  /** The limit of a call that has none of its own and whose server has none, in milliseconds. */
  readonly defaultToolTimeoutMs: number
  /** See `StopOptions.graceMs`. */
  readonly graceMs: number
}

export interface ServerCallOptions {
  readonly signal: AbortSignal | undefined
  readonly timeoutMs: number | undefined
  readonly requestId: string | undefined
}

/** Timers hold no more than this; a longer limit would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1

/** As received: only what makes it a result is checked. */
const CallResult = z.looseObject({
  content: z.array(z.looseObject({ type: z.string() })).default([]),
})

/** One configured server: its process, its connection, its tools. It has one life. */
export class Server {
  readonly name: string
  readonly #onChange: (server: Server) => void
  readonly #logger: Logger
  readonly #options: ServerOptions
  readonly #transport: StdioTransport
  readonly #client = new Client(CLIENT_INFO)
  readonly #refreshTools = coalesce(() => this.#listTools())
  /** Aborted when it begins to stop. */
  readonly #stopping = new AbortController()
  #state: ServerState = 'starting'
  #error: McpHostError | undefined
  #tools: ReadonlyMap<string, Tool> = new Map()
  #validator = new ArgumentValidator()
  #started: Promise<void> | undefined
  #stopped: Promise<void> | undefined
  /** Bounds the start as a whole; afterwards every listing has that time to itself. */
  #startSignal: AbortSignal | undefined

  constructor(deps: ServerDeps, options: ServerOptions) {
    const { name, config, graceMs } = options
    this.name = name
    this.#options = options
    this.#onChange = deps.onChange
    this.#logger = bindLogger(deps.logger, { server: name })
    const { command, args, cwd } = config
    const program = { command, args, cwd, env: childEnvironment(deps.env, config.env) }
    const transportDeps = { guardian: deps.guardian, logger: this.#logger }
    this.#transport = new StdioTransport(transportDeps, { program, graceMs })
  }

  get state(): ServerState {
    return this.#state
  }

  /** The tools last listed, also of a server that is no longer there. */
  get toolNames(): Iterable<string> {
    return this.#tools.keys()
  }

  snapshot(): ServerSnapshot {
    const serverInfo = this.#client.getServerVersion()
    const isRunning = this.#transport.closeReason === undefined && this.#state !== 'shutdown'
    const pid = isRunning ? this.#transport.pid : undefined
    return {
      name: this.name,
      state: this.#state,
      ...(this.#error === undefined ? {} : { error: this.#error }),
      ...(serverInfo === undefined ? {} : { serverInfo }),
      ...(pid === undefined ? {} : { pid }),
      tools: this.#state === 'ready' ? [...this.#tools.values()] : [],
    }
  }

  /**
   * Starts the process, connects and lists the tools. Throws `ServerStartupError`, with the process
   * gone, when any of it fails, takes too long or is interrupted by `stop`.
   */
  start(): Promise<void> {
    return (this.#started ??= this.#start())
  }

  /**
   * Calls one of its tools. Throws `ValidationError` before the server hears of the call, then
   * `TimeoutError`, `ServerUnavailableError`, `ProtocolError`, or the reason of the signal's abort.
   */
  async callTool(
    toolName: string,
    args: Readonly<Record<string, unknown>>,
    { signal, timeoutMs, requestId }: ServerCallOptions,
  ): Promise<CallToolResult> {
    const context = { server: this.name, tool: toolName, requestId }
    if (this.#state !== 'ready') {
      const message = this.#error?.message ?? `the server "${this.name}" is ${this.#state}`
      throw new ServerUnavailableError(message, { ...context, cause: this.#error })
    }
    this.#validate(toolName, args, context)
    const { config, defaultToolTimeoutMs } = this.#options
    const limitMs = timeoutMs ?? config.timeoutMs ?? defaultToolTimeoutMs
    const startedAt = performance.now()
    try {
      const result = await this.#client.request(
        { method: 'tools/call', params: { name: toolName, arguments: args } },
        CallResult,
        { timeout: Math.min(limitMs, MAX_TIMER_MS), ...(signal === undefined ? {} : { signal }) },
      )
      // Its inner shape is the server's word: results go through as received.
      return result as CallToolResult
    } catch (cause) {
      const { closeReason } = this.#transport
      throw toCallError(cause, { ...context, cause, timeoutMs: limitMs, signal, closeReason })
    } finally {
      const durationMs = Math.round(performance.now() - startedAt)
      this.#logger.debug({ tool: toolName, requestId, durationMs }, 'tool call ended')
    }
  }

  /** Ends the process with all that it started. Never throws; the state is `shutdown` afterwards. */
  stop(): Promise<void> {
    return (this.#stopped ??= this.#stop())
  }

  async #start(): Promise<void> {
    const limit = AbortSignal.timeout(this.#options.startTimeoutMs)
    const signal = AbortSignal.any([limit, this.#stopping.signal])
    this.#startSignal = signal
    const listeners: Pick<Client, 'onclose' | 'onerror'> = {
      onclose: () => this.#closed(),
      onerror: (error) => this.#logger.warn({ err: error }, 'protocol fault'),
    }
    Object.assign(this.#client, listeners)
    this.#client.setNotificationHandler('notifications/tools/list_changed', () => {
      this.#refreshTools().catch((error: unknown) => {
        this.#logger.warn({ err: error }, 'the changed tools could not be listed')
      })
    })
    try {
      await this.#client.connect(this.#transport, { signal, timeout: MAX_TIMER_MS })
      await this.#refreshTools()
      // It may have ended, or been stopped, while nothing was waiting for an answer.
      if (this.#transport.closeReason !== undefined) throw new Error(this.#transport.closeReason)
      signal.throwIfAborted()
      this.#move('ready')
    } catch (cause) {
      const error = this.#startupError(cause, limit)
      if (this.#state === 'starting') this.#fail(error)
      await this.#transport.close()
      throw error
    } finally {
      this.#startSignal = undefined
    }
  }

  async #stop(): Promise<void> {
    this.#move('stopping')
    this.#stopping.abort()
    // Its failure went to whoever started it; here only the end of the attempt matters.
    await this.#started?.catch(() => undefined)
    await this.#transport.close()
    this.#move('shutdown')
  }

  async #listTools(): Promise<void> {
    const { startTimeoutMs } = this.#options
    const limit = (): AbortSignal => AbortSignal.timeout(startTimeoutMs)
    const signal = this.#startSignal ?? AbortSignal.any([limit(), this.#stopping.signal])
    const deps = { client: this.#client, logger: this.#logger }
    this.#tools = await discoverTools(deps, { signal, timeout: MAX_TIMER_MS })
    this.#validator = new ArgumentValidator()
    if (this.#state === 'ready') this.#onChange(this)
  }

  #validate(
    toolName: string,
    args: Readonly<Record<string, unknown>>,
    context: { server: string; tool: string; requestId: string | undefined },
  ): void {
    const name = `${this.name}.${toolName}`
    const tool = this.#tools.get(toolName)
    if (tool === undefined) throw new ValidationError(`there is no tool "${name}"`, [], context)
    const verdict = this.#validator.validate(tool, args)
    if (verdict.kind === 'valid') return
    if (verdict.kind === 'unusable-schema') {
      const message = `the tool "${name}" cannot be called, its schema is unusable: ${verdict.reason}`
      throw new ValidationError(message, [], context)
    }
    throw new ValidationError(`${name}: ${summarise(verdict.issues)}`, verdict.issues, context)
  }

  #closed(): void {
    if (this.#state !== 'ready') return
    const message = `the server "${this.name}" ${this.#transport.closeReason ?? 'is gone'}`
    this.#fail(new ServerUnavailableError(message, { server: this.name }))
  }

  #startupError(cause: unknown, limit: AbortSignal): ServerStartupError {
    return new ServerStartupError(`the server "${this.name}" ${this.#whyNotReady(cause, limit)}`, {
      server: this.name,
      cause,
    })
  }

  #whyNotReady(cause: unknown, limit: AbortSignal): string {
    const { closeReason } = this.#transport
    if (cause instanceof LaunchError) return `cannot start: ${cause.message}`
    if (limit.aborted) return `was not ready within ${this.#options.startTimeoutMs} ms`
    if (this.#stopping.signal.aborted) return 'was stopped before it was ready'
    if (closeReason !== undefined) return `${closeReason} before it was ready`
    return `cannot start: ${cause instanceof Error ? cause.message : String(cause)}`
  }

  #fail(error: McpHostError): void {
    this.#error = error
    this.#logger.error({ err: error }, 'server is unavailable')
    this.#move('unavailable')
  }

  #move(to: ServerState): void {
    this.#state = moveState(this.#state, to)
    this.#logger.debug({ state: to, pid: this.#transport.pid }, 'server state')
    this.#onChange(this)
  }
}

const MAX_SHOWN_ISSUES = 5

function summarise(issues: readonly ArgumentIssue[]): string {
  const shown = issues.slice(0, MAX_SHOWN_ISSUES).map(({ argument, expected }) => {
    return argument === '' ? `the arguments ${expected}` : `"${argument}" ${expected}`
  })
  const more = issues.length - shown.length
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join('; ')
}
