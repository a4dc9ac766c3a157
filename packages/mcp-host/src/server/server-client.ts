import type {
  CallToolResult,
  CompleteResult,
  GetPromptResult,
  LoggingLevel,
  ReadResourceResult,
} from '@modelcontextprotocol/client'
import { LOG_LEVEL_META_KEY } from '@modelcontextprotocol/client'
import * as z from 'zod'

import type { ErrorContext } from '../errors/mcp-host-error.ts'
import { ProtocolError } from '../errors/protocol-error.ts'
import { ToolExecutionError } from '../errors/tool-execution-error.ts'
import { type ArgumentIssue, ValidationError } from '../errors/validation-error.ts'
import { isSafeToRepeat, type Tool } from '../inventory/tool.ts'
import type { Logger } from '../logger.ts'
import type { MetricsRegistry } from '../metrics/host-metrics.ts'
import { CallQueue } from '../policies/call-queue.ts'
import { CircuitBreaker } from '../policies/circuit-breaker.ts'
import type { CallToolOptions, ForwardOptions, RequestOptions } from '../requests/options.ts'
import { headersFor } from '../requests/parameter-headers.ts'
import { RequestPath, type RequestPathDeps } from '../requests/request-path.ts'
import { toRequestError } from '../requests/to-request-error.ts'
import type { LiveServer } from './live-server.ts'
import type { Server } from './server.ts'

export interface ServerClientDeps {
  readonly server: Server
  readonly logger: Logger
  readonly metrics: MetricsRegistry
  /** Told of calls that were refused because they may be an attack. */
  readonly onRefused: (tool: string, reason: string) => void
  readonly onDone?: RequestPathDeps['onDone']
}

export interface ServerClientOptions {
  /** The limits of requests that have none of their own, in milliseconds. */
  readonly timeoutMs: number
  readonly maxTimeoutMs: number
  readonly maxConcurrentCalls: number
}

/** As received: only what makes it a result is checked. */
const CallResult = z.looseObject({
  content: z.array(z.looseObject({ type: z.string() })).default([]),
})
const PromptResult = z.looseObject({ messages: z.array(z.looseObject({ role: z.string() })) })
const ResourceResult = z.looseObject({ contents: z.array(z.looseObject({ uri: z.string() })) })
const CompletionResult = z.looseObject({
  completion: z.looseObject({ values: z.array(z.string()) }),
})

const ANY_RESULT = z.looseObject({})

/** What can be asked of one server. */
export class ServerClient {
  readonly #deps: ServerClientDeps
  readonly #path: RequestPath
  readonly #queue: CallQueue
  readonly #breaker = new CircuitBreaker({})
  readonly #toolBreakers = new Map<string, CircuitBreaker>()
  readonly #options: ServerClientOptions

  constructor(deps: ServerClientDeps, options: ServerClientOptions) {
    const { server, logger, onDone } = deps
    this.#deps = deps
    this.#options = options
    this.#queue = new CallQueue({ limit: options.maxConcurrentCalls })
    this.#path = new RequestPath(
      {
        logger,
        queue: this.#queue,
        live: (request) => server.live(request),
        onTrouble: (live, error) => server.trouble(live as LiveServer, error),
        comesBack: (limitMs, signal) => server.comesBack(limitMs, signal),
        onDone,
      },
      { server: server.name, ...options },
    )
  }

  /** Requests under way, those that wait for their turn included. */
  get inFlight(): number {
    return this.#path.inFlight
  }

  /** Whether a request, of this tool if of one, would go out at once. */
  isOpenTo(tool: string | undefined): boolean {
    if (this.#queue.isFull || this.#breaker.state === 'open') return false
    if (tool === undefined) return true
    const hasTool = this.#deps.server.lastLive?.inventory.tools.has(tool) === true
    return hasTool && this.#toolBreakers.get(tool)?.state !== 'open'
  }

  /** Resolves once nothing is under way. */
  idle(): Promise<void> {
    return this.#path.idle()
  }

  /**
   * Calls a tool. Throws `ValidationError` before the server hears of the call, and what
   * `RequestPath.run` throws.
   */
  async callTool(
    toolName: string,
    args: Readonly<Record<string, unknown>>,
    options: CallToolOptions,
  ): Promise<CallToolResult> {
    const { throwToolErrors, input, ...rest } = options
    const params = { name: toolName, arguments: args, ...input }
    const received = await this.#callTool(toolName, args, params, rest)
    if (throwToolErrors === true && received.isError === true) {
      const text = received.content.find((part) => part.type === 'text')
      const words = text?.type === 'text' ? text.text : 'it gives no reason'
      const { server } = this.#deps
      const context = { server: server.name, tool: toolName, requestId: options.requestId }
      throw new ToolExecutionError(`${server.name}.${toolName} failed: ${words}`, received, context)
    }
    return received
  }

  /**
   * Passes a request on with all its parameters, and answers the result as received. Arguments of tools are
   * checked. Throws as `callTool` does.
   */
  forward(
    method: string,
    params: Readonly<Record<string, unknown>>,
    options: ForwardOptions,
  ): Promise<unknown> {
    if (method !== 'tools/call') {
      const { name, uri } = params
      const subject = typeof name === 'string' ? name : typeof uri === 'string' ? uri : method
      return this.#request(method, params, subject, ANY_RESULT, options)
    }
    const { name, arguments: args = {} } = params
    const context = { server: this.#deps.server.name, requestId: options.requestId }
    if (typeof name !== 'string') {
      throw new ValidationError('name: must be the name of a tool', [], context)
    }
    if (!isObject(args) || Array.isArray(args)) {
      throw new ValidationError('arguments: must be an object', [], context)
    }
    return this.#callTool(name, args as Record<string, unknown>, params, options)
  }

  async #callTool(
    toolName: string,
    args: Readonly<Record<string, unknown>>,
    params: Readonly<Record<string, unknown>>,
    options: ForwardOptions,
  ): Promise<CallToolResult> {
    const { server, metrics } = this.#deps
    const { requestId, allowInputRequired } = options
    const context = { server: server.name, tool: toolName, requestId }
    // One that is being restarted had the same tools: whether the call may wait is decided later.
    const live = server.lastLive ?? server.live({ tool: toolName, requestId })
    const tool = this.#validate(live, toolName, args, context)
    const headers = headersFor(live.inventory.headersOf(tool), args)
    const result = await this.#path.run(
      {
        method: 'tools/call',
        params,
        subject: toolName,
        tool: toolName,
        headers,
        isSafeToRepeat: isSafeToRepeat(tool),
        allowInputRequired: allowInputRequired === true,
        breaker: this.#breaker,
        toolBreaker: this.#toolBreaker(toolName),
        meter: metrics.meter(server.name, toolName),
        check: (received) => {
          if (!isInputRequired(received)) this.#checkResult(live, tool, received, context)
        },
      },
      this.#withLogLevel(options),
    )
    // Its inner shape is the server's word: results go through as received.
    const received = { ...(result as CallToolResult) }
    // Older servers leave it out when they have nothing to say.
    if (!isInputRequired(result)) received.content ??= []
    return received
  }

  async getPrompt(
    name: string,
    args: Readonly<Record<string, string>>,
    options: RequestOptions,
  ): Promise<GetPromptResult> {
    const params = { name, arguments: args }
    const result = await this.#request('prompts/get', params, name, PromptResult, options)
    return result as GetPromptResult
  }

  async readResource(uri: string, options: RequestOptions): Promise<ReadResourceResult> {
    const result = await this.#request('resources/read', { uri }, uri, ResourceResult, options)
    return result as ReadResourceResult
  }

  async complete(
    params: Readonly<Record<string, unknown>>,
    options: RequestOptions,
  ): Promise<CompleteResult> {
    const result = await this.#request(
      'completion/complete',
      params,
      'completion',
      CompletionResult,
      options,
    )
    return result as CompleteResult
  }

  /** An older server is told at once; a newer one with every call. */
  setLoggingLevel(level: LoggingLevel, options: RequestOptions): Promise<void> {
    const { notices } = this.#deps.server
    return this.#notice('logging level', options, (live, limitMs) =>
      notices.setLoggingLevel(live, level, limitMs),
    )
  }

  subscribe(uri: string, options: RequestOptions): Promise<void> {
    const { notices } = this.#deps.server
    return this.#notice(uri, options, (live, limitMs) => notices.subscribe(live, uri, limitMs))
  }

  unsubscribe(uri: string, options: RequestOptions): Promise<void> {
    const { notices } = this.#deps.server
    return this.#notice(uri, options, (live, limitMs) => notices.unsubscribe(live, uri, limitMs))
  }

  /** Tells an older server that what it is answered for roots has changed. */
  async rootsChanged(): Promise<void> {
    await this.#deps.server.live().connection.tellRootsChanged()
  }

  /** Throws errors of ours in the place of others. */
  async #notice(
    subject: string,
    { timeoutMs = this.#options.timeoutMs }: RequestOptions,
    ask: (live: LiveServer, limitMs: number) => Promise<void>,
  ): Promise<void> {
    const { server } = this.#deps
    try {
      await ask(server.live(), timeoutMs)
    } catch (cause) {
      const failed = { server: server.name, subject, tool: undefined, requestId: undefined }
      throw toRequestError(cause, failed)
    }
  }

  #request(
    method: string,
    params: Readonly<Record<string, unknown>>,
    subject: string,
    schema: z.ZodType,
    options: ForwardOptions,
  ): Promise<unknown> {
    const { server, metrics } = this.#deps
    const request = {
      method,
      params,
      subject,
      isSafeToRepeat: true,
      allowInputRequired: options.allowInputRequired === true,
      breaker: this.#breaker,
      // No tool has a name with a slash.
      meter: metrics.meter(server.name, method),
      check: (received: unknown) => {
        if (schema.safeParse(received).success) return
        const context = { server: server.name, requestId: options.requestId }
        const message = `${server.name}.${subject} answered with a malformed result`
        throw new ProtocolError(message, undefined, context)
      },
    }
    return this.#path.run(request, this.#withLogLevel(options))
  }

  #withLogLevel<Options extends RequestOptions>(options: Options): Options {
    const { notices, lastLive } = this.#deps.server
    const { loggingLevel } = notices
    if (loggingLevel === undefined || lastLive?.connection.era !== 'modern') return options
    return { ...options, meta: { [LOG_LEVEL_META_KEY]: loggingLevel, ...options.meta } }
  }

  #toolBreaker(tool: string): CircuitBreaker {
    let breaker = this.#toolBreakers.get(tool)
    if (breaker === undefined) {
      breaker = new CircuitBreaker({})
      this.#toolBreakers.set(tool, breaker)
    }
    return breaker
  }

  #validate(
    { inventory, validator }: LiveServer,
    toolName: string,
    args: Readonly<Record<string, unknown>>,
    context: ErrorContext,
  ): Tool {
    const name = `${this.#deps.server.name}.${toolName}`
    const tool = inventory.tools.get(toolName)
    if (tool === undefined) {
      if (inventory.isDenied(toolName)) this.#deps.onRefused(toolName, 'the tool is not allowed')
      throw new ValidationError(`there is no tool "${name}"`, [], context)
    }
    const verdict = validator.validate(tool, args)
    if (verdict.kind === 'valid') return tool
    const meter = this.#deps.metrics.meter(this.#deps.server.name, toolName)
    meter.started()
    meter.ended('refused', 0)
    if (verdict.kind === 'unusable-schema') {
      const message = `the tool "${name}" cannot be called, its schema is unusable: ${verdict.reason}`
      throw new ValidationError(message, [], context)
    }
    const words = summarise(verdict.issues)
    if (verdict.isSuspicious === true) this.#deps.onRefused(toolName, words)
    throw new ValidationError(`${name}: ${words}`, verdict.issues, context)
  }

  #checkResult(
    { validator }: LiveServer,
    tool: Tool,
    received: unknown,
    context: ErrorContext,
  ): void {
    const name = `${this.#deps.server.name}.${tool.name}`
    const parsed = CallResult.safeParse(received)
    if (!parsed.success) {
      throw new ProtocolError(`${name} answered with a malformed result`, undefined, context)
    }
    const { isError, structuredContent } = parsed.data
    if (isError === true || tool.outputSchema === undefined) return
    const verdict = validator.validateOutput(tool, structuredContent)
    if (verdict.kind === 'invalid') {
      const issues = summarise(verdict.issues)
      const message = `${name} answered with a result that breaks its own output schema: ${issues}`
      throw new ProtocolError(message, undefined, context)
    }
    if (verdict.kind === 'unusable-schema') {
      this.#deps.logger.warn({ tool: tool.name, reason: verdict.reason }, 'unusable output schema')
    }
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

function isInputRequired(result: unknown): boolean {
  return isObject(result) && 'resultType' in result && result.resultType === 'input_required'
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
