import type {
  CallToolResult,
  CompleteResult,
  GetPromptResult,
  LoggingLevel,
  ReadResourceResult,
} from '@modelcontextprotocol/client'
import { LOG_LEVEL_META_KEY } from '@modelcontextprotocol/client'
import * as z from 'zod'

import type { CircuitBreakerConfig } from '../server-config.ts'
import type { MessageLimits } from '../intake/message-limits.ts'
import { ProtocolError } from '../errors/protocol-error.ts'
import { ToolExecutionError } from '../errors/tool-execution-error.ts'
import { ValidationError } from '../errors/validation-error.ts'
import { isSafeToRepeat } from '../inventory/tool.ts'
import { isObject } from '@mcp-host/json'
import { bindLogger, type Logger } from '@mcp-host/process'
import type { BrokenCircuits, MetricsRegistry } from '../metrics/host-metrics.ts'
import { maskJson } from '../errors/mask-secrets.ts'
import { CallQueue } from '../policies/call-queue.ts'
import { CircuitBreaker } from '../policies/circuit-breaker.ts'
import type { CallToolOptions, ForwardOptions, RequestOptions } from '../requests/options.ts'
import { headersFor } from '@mcp-host/mcp'
import { RequestPath, type RequestPathDeps } from '../requests/request-path.ts'
import { toRequestError } from '../requests/to-request-error.ts'
import { CallCheck } from './call-check.ts'
import { checkBlocks } from './check-blocks.ts'
import type { Connection } from './connection.ts'
import type { Instance } from './instance.ts'

export interface InstanceClientDeps {
  readonly server: Instance
  readonly logger: Logger
  readonly metrics: MetricsRegistry
  readonly limits: Pick<MessageLimits, 'contentBlocks'>
  /** Called for refused calls that may be an attack. */
  readonly onRefused: (tool: string, reason: string) => void
  readonly onDone?: RequestPathDeps['onDone']
}

export interface InstanceClientOptions {
  /** The limits of requests without their own limits, in milliseconds. */
  readonly timeoutMs: number
  readonly maxTimeoutMs: number
  readonly maxConcurrentCalls: number
  readonly circuitBreaker: CircuitBreakerConfig
}

/** Schemas of the fields that a result must have; further fields pass unchecked. */
const PromptResult = z.looseObject({ messages: z.array(z.looseObject({ role: z.string() })) })
const ResourceResult = z.looseObject({ contents: z.array(z.looseObject({ uri: z.string() })) })
const CompletionResult = z.looseObject({
  completion: z.looseObject({ values: z.array(z.string()) }),
})

const ANY_RESULT = z.looseObject({})

/** The client of one server. */
export class InstanceClient {
  readonly #deps: InstanceClientDeps
  readonly #path: RequestPath
  readonly #queue: CallQueue
  readonly #breaker: CircuitBreaker
  readonly #toolBreakers = new Map<string, CircuitBreaker>()
  readonly #options: InstanceClientOptions
  readonly #check: CallCheck

  constructor(deps: InstanceClientDeps, options: InstanceClientOptions) {
    const { server, logger, onDone } = deps
    this.#deps = deps
    this.#options = options
    const checkLogger = bindLogger(logger, { action: 'tools/call' })
    this.#check = new CallCheck({ ...deps, logger: checkLogger, server: server.name })
    this.#breaker = this.#newBreaker()
    // Creates the counters before the first call, so that a scraper sees them begin at 0.
    deps.metrics.addCircuits(server.name, this)
    this.#queue = new CallQueue({ limit: options.maxConcurrentCalls })
    this.#path = new RequestPath(
      {
        logger,
        queue: this.#queue,
        live: (request) => server.live(request),
        onTrouble: (live, error) => server.trouble(live as Connection, error),
        mayComeBack: () => server.state === 'ready' || server.isComing,
        comesBack: (limitMs, signal) => server.comesBack(limitMs, signal),
        lastOutput: () => server.lastOutput,
        onDone,
        onRetry: () => void (deps.metrics.counters(server.name).retries += 1),
      },
      { server: server.name, ...options },
    )
  }

  /** The number of requests in flight, including queued ones. */
  get inFlight(): number {
    return this.#path.inFlight
  }

  /** How many of its circuit breakers are not closed. */
  get circuits(): BrokenCircuits {
    const count = { open: 0, 'half-open': 0 }
    if (this.#deps.server.state === 'shutdown') return count
    for (const { state } of [this.#breaker, ...this.#toolBreakers.values()]) {
      if (state !== 'closed') count[state] += 1
    }
    return count
  }

  /** Whether a request would be sent at once. `tool`: the tool of a call. */
  isOpenTo(tool: string | undefined): boolean {
    if (this.#queue.isFull || this.#breaker.state === 'open') return false
    if (tool === undefined) return true
    const hasTool = this.#deps.server.lastLive?.inventory.tools.has(tool) === true
    return hasTool && this.#toolBreakers.get(tool)?.state !== 'open'
  }

  /** Resolves once no request is in flight. */
  idle(): Promise<void> {
    return this.#path.idle()
  }

  /** Calls a tool. Throws `ValidationError` before anything is sent, and errors of `RequestPath.run`. */
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
      const reason = text?.type === 'text' ? text.text : 'it gives no reason'
      const server = this.#deps.server.name
      const context = { server, tool: toolName, requestId: options.requestId }
      throw new ToolExecutionError(`${server}.${toolName} failed: ${reason}`, received, context)
    }
    return received
  }

  /** Sends a request with all its parameters, and returns the result as received. Throws as `callTool`. */
  request(
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
    if (!isObject(args)) throw new ValidationError('arguments: must be an object', [], context)
    return this.#callTool(name, args, params, options)
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
    // During a restart, the tools of the last connection are used. Whether the call may wait for the restart is decided
    // later.
    const live = server.lastLive ?? server.live({ tool: toolName, requestId })
    const checked = this.#check.call(live, toolName, args, context)
    const { tool, args: sent } = checked instanceof Promise ? await checked : checked
    const headers = headersFor(live.inventory.headersOf(tool), sent)
    const result = await this.#path.run(
      {
        method: 'tools/call',
        params: sent === args ? params : { ...params, arguments: sent },
        subject: toolName,
        tool: toolName,
        headers,
        isSafeToRepeat: isSafeToRepeat(tool),
        allowInputRequired: allowInputRequired === true,
        breaker: this.#breaker,
        toolBreaker: this.#toolBreaker(toolName),
        meter: metrics.meter(server.name, toolName),
        check: (received) => {
          if (isInputRequired(received)) return undefined
          return this.#check.result(live, tool, received, context)
        },
      },
      this.#withLogLevel(options),
    )
    // Content blocks are not validated: results are returned as received.
    let received = { ...(result as CallToolResult) }
    if (received.isError === true) received = maskJson(received, server.mask) as CallToolResult
    // Legacy servers may omit an empty `content`.
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
    const method = 'completion/complete'
    const result = await this.#request(method, params, 'completion', CompletionResult, options)
    return result as CompleteResult
  }

  /** Sets the log level. A legacy server is notified at once; a modern server gets the level with every call. */
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

  /** Notifies a legacy server that the roots have changed. */
  async rootsChanged(): Promise<void> {
    await this.#deps.server.live().connection.notifyRootsChanged()
  }

  /** Makes a request about notifications, and converts its errors. */
  async #notice(
    subject: string,
    { timeoutMs = this.#options.timeoutMs }: RequestOptions,
    ask: (live: Connection, limitMs: number) => Promise<void>,
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
      // Tool names have no slash, so the name of the method is unique.
      meter: metrics.meter(server.name, method),
      check: (received: unknown) => {
        const context = { server: server.name, requestId: options.requestId }
        checkBlocks(`${server.name}.${subject}`, received, this.#deps.limits, context)
        if (schema.safeParse(received).success) return
        const message = `${server.name}.${subject} answered with a malformed result`
        throw new ProtocolError(message, undefined, context)
      },
    }
    return this.#path.run(request, this.#withLogLevel(options))
  }

  #withLogLevel<Options extends RequestOptions>(options: Options): Options {
    const { notices, lastLive } = this.#deps.server
    const { loggingLevel } = notices.requested
    if (loggingLevel === undefined || lastLive?.connection.era !== 'modern') return options
    return { ...options, meta: { [LOG_LEVEL_META_KEY]: loggingLevel, ...options.meta } }
  }

  #toolBreaker(tool: string): CircuitBreaker {
    let breaker = this.#toolBreakers.get(tool)
    if (breaker === undefined) {
      breaker = this.#newBreaker()
      this.#toolBreakers.set(tool, breaker)
    }
    return breaker
  }

  #newBreaker(): CircuitBreaker {
    const { metrics, server } = this.#deps
    return new CircuitBreaker({
      ...this.#options.circuitBreaker,
      onChange: (state) => void (metrics.counters(server.name).circuits[state] += 1),
    })
  }
}

function isInputRequired(result: unknown): boolean {
  return isObject(result) && result['resultType'] === 'input_required'
}
